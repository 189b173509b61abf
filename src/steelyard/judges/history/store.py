"""A store of nights, which is a folder of results folders: find, read, and pool them."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.files import real_path
from steelyard.base.printable import visible
from steelyard.judges.compare.verdicts import launches_without_time
from steelyard.judges.history.settings import KnownSettings, settings_of
from steelyard.records.job_file import JobFile
from steelyard.results.key import RowKey as Key
from steelyard.results.key import key_of, later_params
from steelyard.results.load import Measured, load
from steelyard.results.quantiles import rows_at
from steelyard.results.row import Row


@dataclass(frozen=True, slots=True)
class Night:
    """A results folder: `began` in ns since 1970, `rows` with values.

    `ways` are what nights must share to be pooled, by name: the host, the clock and the like. `zeros` names
    test cases and launches below the resolution of the timer. Rows have no facets.
    """

    folder: Path
    began: int
    rows: tuple[Row, ...]
    settings: KnownSettings
    ways: Mapping[str, str]
    zeros: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of its folder, visible."""
        return visible(self.folder.name)

    @property
    def date(self) -> str:
        """`2026-11-20 22:04`, in universal time."""
        return f"{datetime.datetime.fromtimestamp(self.began / 1e9, datetime.UTC):%Y-%m-%d %H:%M}"


@dataclass(frozen=True, slots=True)
class Pool:
    """Nights that can be compared with tonight, the oldest first; the last one is tonight.

    `cases` are tonight's test cases: of each, the row of each night, None where a night lacks it. `left_out`
    are folders and reasons; `missing` counts test cases of earlier nights that tonight lacks. `zeros` are
    launches without a time, each with its night.
    """

    nights: tuple[Night, ...]
    cases: tuple[tuple[Row | None, ...], ...]
    left_out: tuple[tuple[str, str], ...]
    missing: int
    zeros: tuple[str, ...] = ()


def folders_in(stores: Sequence[Path]) -> tuple[Path, ...]:
    """Find the results folders that are named, or are in a named folder. Raises InputError for none."""
    found: dict[Path, Path] = {}
    for store in stores:
        if not store.is_dir():
            raise InputError(f"there is no folder '{store}'; give results folders, or a folder of them")
        inside = (
            [store] if is_results(store) else sorted(path for path in store.iterdir() if is_results(path))
        )
        if not inside:
            raise InputError(f"'{store}' holds no results; give results folders, or a folder of them")
        found |= {real_path(path): path for path in inside}
    return tuple(found.values())


def is_results(folder: Path) -> bool:
    """Does it look like a results folder?"""
    return (folder / "records").is_dir() or (folder / "campaign.json").is_file()


def read_night(folder: Path, quantile: float | None = None) -> Night:
    """Read a night from its records; `quantile` of launches stands for their medians.

    Raises InputError for one that is damaged, or has no values.
    """
    measured = load(folder)
    every = rows_at(measured, quantile)
    rows = tuple(replace(row, facets=()) for row in every if row.median is not None and row.median > 0)
    if not rows:
        why = next((f" ({row.why})" for row in every if row.why), "") if quantile is not None else ""
        raise InputError(f"{folder} holds no number{why}; give a folder in which something was measured")
    began = min((file.launch.start_unix_ns for file in measured.files if file.launch), default=0)
    if began <= 0:
        raise InputError(f"{folder} does not say when it was measured; measure again")
    zeros = tuple(words for row in every if (words := launches_without_time((row,))))
    return Night(
        folder, began, rows, settings_of(measured.campaign.machine, measured.files), _ways(measured), zeros
    )


def _ways(measured: Measured) -> Mapping[str, str]:
    machine, files = measured.campaign.machine, measured.files

    def each(values: Iterable[object]) -> str:
        return ", ".join(sorted({str(value) for value in values if value})) or "unknown"

    def starts(key: str) -> list[object]:
        return [getattr(file.launch, key) for file in files if file.launch]

    return {
        "host": str(machine.get("host") or "unknown"),
        "processor": str(machine.get("cpu_model") or "unknown"),
        "clock": each(file.launch.clock.name for file in files if file.launch),
        "yield": each(starts("yield_")),
        "preset": each(_preset(file) for file in files),
        "arms": ", ".join(measured.campaign.plan.get("arms") or ()) or "none",
    }


def _preset(file: JobFile) -> str:
    return file.job.preset or "none"


def pool(
    tonight: Night,
    others: Sequence[Night],
    unread: Sequence[tuple[str, str]] = (),
    *,
    any_host: bool = False,
    since: int = 0,
) -> Pool:
    """Pool the nights before tonight that were measured in the same way, with the reasons for others.

    `any_host`: hosts may have other names, as containers have. `since`: nights from then on, in ns.
    """
    left_out, kept = list(unread), []
    single = all(len(_mpis(night)) <= 1 for night in (tonight, *others))
    later = later_params((tonight.rows, *(night.rows for night in others)))
    mine = _by_case(tonight, single, later)
    known: set[Key] = set()
    for night in sorted(others, key=lambda other: other.began):
        why = _refusal(tonight, night, any_host, since)
        cases = _by_case(night, single, later)
        if why is None and not mine.keys() & cases.keys():
            why = "it has no test case of tonight's: other ops, sizes, ranks, methods, parameters or --env"
        if why is not None:
            left_out.append((str(night.folder), why))
            continue
        kept.append((night, cases))
        known |= cases.keys()
    kept.append((tonight, mine))
    columns = tuple(tuple(_same_unit(cases.get(key), row) for _, cases in kept) for key, row in mine.items())
    zeros = tuple(f"{words} of {night.name}" for night, _ in reversed(kept) for words in night.zeros)
    return Pool(tuple(night for night, _ in kept), columns, tuple(left_out), len(known - mine.keys()), zeros)


def _refusal(tonight: Night, night: Night, any_host: bool, since: int) -> str | None:
    if night.began >= tonight.began:
        return "it was measured after tonight's"
    if night.began < since:
        return "it is from before --since"
    for way, value in tonight.ways.items():
        if night.ways[way] != value and not (any_host and way == "host"):
            hint = "; --any-host pools it" if way == "host" else ""
            return f"its {way} is {night.ways[way]}, tonight's {value}{hint}"
    return None


def _mpis(night: Night) -> set[str]:
    return {row.mpi for row in night.rows if row.mpi}


def _by_case(night: Night, single: bool, later: Mapping[str, frozenset[str]]) -> dict[Key, Row]:
    """Group the rows by test case; other versions of an MPI count as the same MPI."""
    names = _mpis(night)
    families = {name: name.partition("@")[0].rpartition("-")[0] for name in names}
    if len(set(families.values())) < len(names):
        families = {name: name for name in names}
    return {
        (*key_of(row, ("mpi",), later), None if single or row.mpi is None else families[row.mpi]): row
        for row in night.rows
    }


def _same_unit(row: Row | None, tonight: Row) -> Row | None:
    return row if row is not None and row.unit == tonight.unit else None
