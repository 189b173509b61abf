"""Where ranks were when their launch hung, as a table: ranks at one place in one line."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from steelyard.base.cpulist import cpu_words
from steelyard.base.plural import counted
from steelyard.base.units import format_bytes
from steelyard.records.parts import StuckRank
from steelyard.render.table import Line, Table, number, remark, words
from steelyard.results.row import Row
from steelyard.rows.host_words import hosts_words
from steelyard.rows.labels import row_labels

_EXPLAINED = "what each rank did when the watchdog ended its launch; functions: the innermost first"
_MOST_CALLS = 6
_MOST_PLACES = 4  # of a launch: the odd ones come first
_OFFSET = re.compile(r"\+0x[0-9a-f]+$")


def hang_tables(rows: Sequence[Row]) -> tuple[Table, ...]:
    """A line for each place in the program where ranks of a launch hung; none where nothing hung."""
    lines = [
        Line((_name(row, rows), str(launch.launch), *cells))
        for row in rows
        for launch in row.launches
        for cells in _places(launch.where)
    ]
    if not lines:
        return ()
    left = (words("test case"), number("launch"), words("ranks"), words("host"))
    columns = (*left, words("phase"), number("sample"), remark())
    return (Table("where ranks hung", _EXPLAINED, columns, tuple(lines), grouped=2),)


def _name(row: Row, rows: Sequence[Row]) -> str:
    """`mpi.bcast 8 B, openmpi-4.1.4`: with what tells it from others of its op."""
    namesakes = [one for one in rows if one.op == row.op]
    label = row_labels(namesakes).label(namesakes.index(row))
    size = f" {format_bytes(row.bytes)}" if row.sized else ""
    return ", ".join(part for part in (row.op + size, label) if part)


def _places(where: Sequence[StuckRank]) -> Iterator[tuple[str, ...]]:
    """Ranks, host, phase, sample and functions of each place; that of the fewest ranks first."""
    places: dict[tuple[str, int, tuple[str, ...]], list[StuckRank]] = {}
    for one in where:
        calls = tuple(call for call, _ in itertools.groupby(_OFFSET.sub("", call) for call in one.calls))
        places.setdefault((one.phase, one.sample, calls[:_MOST_CALLS]), []).append(one)
    found = sorted(places.items(), key=lambda place: (len(place[1]), place[1][0].rank))
    for (phase, sample, calls), ranks in found[:_MOST_PLACES]:
        hosts = hosts_words(rank.host for rank in ranks)
        yield cpu_words(rank.rank for rank in ranks), hosts, phase, str(sample), _calls_words(calls)
    if left := [rank.rank for _, ranks in found[_MOST_PLACES:] for rank in ranks]:
        yield cpu_words(left), "", f"{counted(len(left), 'rank')} at {len(found) - _MOST_PLACES} other places"


def _calls_words(calls: Sequence[str]) -> str:
    return f"in {' < '.join(calls)}" if calls else "functions not told"
