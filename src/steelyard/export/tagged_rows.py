"""Rows as series of a monitoring system: tags that stay the same from night to night, and numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from steelyard.base.printable import visible
from steelyard.export.export_input import Export, ExportedFolder
from steelyard.results.facets import Rate, Samples
from steelyard.results.row import Row
from steelyard.rows.labels import rows_facts

_OWN_TAGS = ("op", "mpi", "bytes", "ranks", "threads", "method")  # of a tag of their own; all else is `case`


@dataclass(frozen=True, slots=True)
class TaggedRow:
    """A row with a number: its tags, without empty ones."""

    tags: Mapping[str, str]
    row: Row


@dataclass(frozen=True, slots=True)
class Gauge:
    """A number of a row: its name without a unit, the unit, and what it says."""

    name: str
    unit: str
    help: str

    @property
    def with_unit(self) -> str:
        """`time_seconds`."""
        return f"{self.name}_{self.unit}" if self.unit else self.name


GAUGES = {
    "time": Gauge("time", "seconds", "Time of one operation, the median over launches."),
    "time_low": Gauge("time_low", "seconds", "Lower end of the confidence interval of the time."),
    "time_high": Gauge("time_high", "seconds", "Upper end of the confidence interval of the time."),
    "p99": Gauge("time_p99", "seconds", "99th percentile of an operation's time."),
    "bandwidth": Gauge("bandwidth", "bytes_per_second", "Bytes moved in a second."),
    "launches": Gauge("launches", "", "Launches that the time rests on."),
    "converged": Gauge("converged", "", "1 where the flag of the row is SETTLED, else 0."),
    "verified": Gauge("verified", "", "1 where all answers were right, 0 where one was wrong."),
    "ended": Gauge("ended", "", "1 where the test case was measured, 0 where it failed."),
    "measured": Gauge("measured", "timestamp_seconds", "Begin of the first launch, seconds since 1970."),
}


def tagged_rows(what: Export) -> tuple[TaggedRow, ...]:
    """List the rows that were measured or failed; two rows never have the same tags."""
    several = len(what.folders) > 1
    return tuple(one for folder in what.folders for one in _of_folder(folder, several))


def _of_folder(folder: ExportedFolder, several: bool) -> Iterator[TaggedRow]:
    rows = [row for row in folder.rows if row.status != "skipped"]
    seen: Counter[tuple[tuple[str, str], ...]] = Counter()
    for row, facts in zip(rows, rows_facts(rows), strict=True):
        others = (fact for key, fact in facts.items() if key not in _OWN_TAGS)
        tags = {
            "op": row.op,
            "mpi": row.mpi or "",
            "bytes": str(row.bytes) if row.sized else "",
            "ranks": str(row.ranks),
            "threads": str(row.threads),
            "method": row.method,
            "case": ", ".join(fact.said for fact in others if fact.said and not fact.is_usual),
            "folder": str(folder.folder) if several else "",
        }
        tags = {name: visible(value) for name, value in tags.items() if value}
        seen[key := tuple(tags.items())] += 1
        again = {"repeated": str(seen[key])} if seen[key] > 1 else {}
        yield TaggedRow({**tags, **again}, row)


def numbers_of(row: Row) -> dict[str, float]:
    """List the numbers of a row by the keys of `GAUGES`, without missing and infinite ones."""
    in_s = {
        "time": row.time,
        "time_low": row.time_low,
        "time_high": row.time_high,
        "p99": row.get(Samples).p99,
        "measured": began_ns(row),
    }
    found = {
        **{name: None if ns is None else ns / 1e9 for name, ns in in_s.items()},
        "bandwidth": row.get(Rate).bandwidth,
        "launches": float(row.launch_count),
        "converged": None if row.flag is None else float(row.flag == "SETTLED"),
        "verified": None if row.verified is None else float(row.verified),
        "ended": float(row.status == "ok"),
    }
    told = ((name, found[name]) for name in GAUGES)
    return {name: float(value) for name, value in told if value is not None and math.isfinite(value)}


def began_ns(row: Row) -> int | None:
    """Find the begin of the first launch, ns since 1970; None where records do not have it."""
    return min((launch.began_unix_ns for launch in row.launches if launch.began_unix_ns), default=None)
