"""The tables of rows, for the terminal and the report.

What distinguishes rows comes first, then the columns of `row_columns`, then remarks. Two rivals, such as MPIs
or folders, stand side by side with a ratio. More rivals are adjacent lines, with the ratio to the first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from steelyard.base.units import format_bytes
from steelyard.render.table import (
    BAD,
    NOTHING,
    PLAIN,
    WARN,
    Column,
    Line,
    Table,
    number,
    remark,
    without_empty,
    words,
)
from steelyard.results.facets import ReferenceOverhead
from steelyard.results.row import Row
from steelyard.rows.columns import RowColumn, columns_of, headline_columns
from steelyard.rows.figure_groups import SKIPPED, Shown
from steelyard.rows.labels import Labels, VaryingFact, row_labels
from steelyard.rows.method_words import shared_nature
from steelyard.rows.ratios import Ratio, RatiosBy, no_ratios
from steelyard.rows.rivals import FOLDER, MPI, RivalNames, ratio_cells, ratios_to_first, rivals_of
from steelyard.rows.row_words import failed_words, remarks
from steelyard.rows.shared_remarks import Remarks, notes_of, told_once
from steelyard.stats.autocorrelation import LEAST_IN_TIME
from steelyard.stats.interim_looks import RATIO_LEVEL

NOT_BY_TURNS = "The folders were measured at different times: what an hour adds is assumed, not measured."
IF_INDEPENDENT = f"±: if launches are independent, which fewer than {LEAST_IN_TIME} do not show."
CellKey = tuple[str, ...]
_LEAST_CASES = 2  # of a table


@dataclass(frozen=True)
class RowTable:
    """Rows of one table in their order; `summary` describes the op, `known` are facts already
    written above, `ratios_by` gives the ratios of rivals. `elsewhere` are kinds and owners of remarks
    that are told below all tables. Only this `share` of the test cases that did not fail is laid out, two
    at least; remarks and notes are those of all.
    """

    title: str
    items: Sequence[Shown]
    summary: str = ""
    known: Collection[str] = ()
    ratios_by: RatiosBy = no_ratios
    elsewhere: Collection[tuple[str, str]] = ()
    share: float = 1.0

    @cached_property
    def rows(self) -> list[Row]:
        """The rows that were measured, or that failed."""
        return [item.row for item in self.items if item.row.status != SKIPPED]

    @cached_property
    def labels(self) -> Labels:
        """What distinguishes the rows, and what they share."""
        return row_labels(self.rows, [item.folder for item in self.items if item.row.status != SKIPPED])

    @cached_property
    def rivals(self) -> RivalNames | None:
        """The rivals; none if no two rows are of one test case."""
        found = rivals_of(self.labels)
        if found is None or len({self.key(i, found.keys) for i in range(len(self.rows))}) == len(self.rows):
            return None
        return found

    @property
    def headline(self) -> str:
        """The subject of the table."""
        return self.rows[0].headline

    @property
    def is_sized(self) -> bool:
        """Has any row a size?"""
        return any(row.sized for row in self.rows)

    @property
    def has_overheads(self) -> bool:
        """Does any row have an overhead beyond its reference? It gets a column of its own."""
        return any(row.get(ReferenceOverhead).corrected is not None for row in self.rows)

    @cached_property
    def remarks(self) -> Remarks:
        """The remarks on each row, and what most rows of a rival share."""
        folders = [item.folder for item in self.items if item.row.status != SKIPPED]
        most: dict[str, int] = {}
        for row, folder in zip(self.rows, folders, strict=True):
            most[folder] = max(row.launch_count, most.get(folder, 0))
        found = [remarks(row, most[folder]) for row, folder in zip(self.rows, folders, strict=True)]
        owners = self.rivals.of if self.rivals else [""] * len(self.rows)
        starts = (cell.start for item in self.items for cell in item.point.cells if cell.start)
        return told_once(self.rows, found, owners, any(start.yield_ != "real" for start in starts))

    def axes(self, without: Collection[str] = ()) -> list[VaryingFact]:
        """What rows differ in besides their sizes."""
        return [axis for axis in self.labels.varying if axis.key not in without]

    def key(self, i: int, without: Collection[str] = ()) -> CellKey:
        """The first cells of row `i`: what distinguishes it, and its size."""
        size = (format_bytes(self.rows[i].bytes) if self.rows[i].sized else NOTHING,) if self.is_sized else ()
        return (*(axis.facts[i].value or NOTHING for axis in self.axes(without)), *size)


def row_table(table: RowTable, is_wide: bool = False) -> Table:
    """Lay out a table of rows; `is_wide`: with all columns, a line for each row, as in the report."""
    if table.rivals is not None and len(table.rivals.names) == 2 and not (is_wide or table.has_overheads):
        return _side_by_side(table, table.rivals)
    return _listed(table, table.rivals, is_wide)


def _listed(table: RowTable, rivals: RivalNames | None, is_wide: bool) -> Table:
    """Make a line for each row; rivals are adjacent."""
    left_out = ("p99",) if (rivals or table.has_overheads) and not is_wide else ()  # there is no room for all
    columns = columns_of(table.headline, is_wide, left_out)
    keys = rivals.keys if rivals else frozenset()
    lines = []
    for key, members in _laid_out(table, keys):
        ratios = _ratios(table, rivals, members)
        for i in sorted(members, key=lambda i: rivals.names.index(rivals.of[i])) if rivals else members:
            first = (*key, rivals.of[i]) if rivals else key
            extra = ratio_cells(ratios.get(rivals.of[i])) if rivals else ()
            lines.append(_line(table.rows[i], first, columns, extra, table.remarks.texts[i]))
    lines = lines if is_wide else _said_once(lines)
    made = Table(
        table.title,
        _explained(table),
        (
            *_first_columns(table, keys),
            *([words(_rival_heading(table, rivals))] if rivals else []),
            *(one.column(strong=number_ == 0) for number_, one in enumerate(columns)),
            *([number("ratio"), number("interval of ratio" if is_wide else "interval")] if rivals else []),
            remark(),
        ),
        tuple(lines),
        (*([f"ratio: {_ratio_words(table, rivals)}"] if rivals else []), *_notes(table, rivals)),
        grouped=len(table.axes(keys)) + table.is_sized - (0 if rivals else 1),
    )
    return without_empty(made)


def _side_by_side(table: RowTable, rivals: RivalNames) -> Table:
    """Make a line for each test case: both rivals, the ratio of the second to the first, and its interval."""
    headline = headline_columns(table.headline)
    lines = []
    for key, members in _laid_out(table, rivals.keys):
        rows = {rivals.of[i]: table.rows[i] for i in members}
        cells = [
            column.cell(rows[name]) if name in rows else NOTHING
            for name in rivals.names
            for column in headline
        ]
        ratio = _ratios(table, rivals, members).get(rivals.names[1])
        said = {rivals.of[i]: table.remarks.texts[i] for i in members}
        is_bad = any(row.status == "failed" for row in rows.values())
        tone = BAD if is_bad else WARN if any(said.values()) else PLAIN
        lines.append(Line((*key, *cells, *ratio_cells(ratio), _of_both(said)), tone))
    made = Table(
        table.title,
        _explained(table),
        (
            *_first_columns(table, rivals.keys),
            *(column for name in rivals.names for column in (number(name, strong=True), number("±"))),
            number("ratio"),
            number("interval"),
            remark(),
        ),
        tuple(lines),
        (f"ratio: {_ratio_words(table, rivals)}", *_notes(table, rivals)),
        grouped=len(table.axes(rivals.keys)) + table.is_sized - 1,
    )
    return without_empty(made)


def _by_key(table: RowTable, keys: Collection[str]) -> dict[CellKey, list[int]]:
    """Group the rows by test case, in the order of the first row of each curve, the smallest size first."""
    order: dict[CellKey, int] = {}
    for i in range(len(table.rows)):
        order.setdefault(tuple(axis.facts[i].value for axis in table.axes(keys)), i)
    found: dict[CellKey, list[int]] = {}

    def place(i: int) -> tuple[int, int]:
        return order[tuple(axis.facts[i].value for axis in table.axes(keys))], table.rows[i].bytes

    for i in sorted(range(len(table.rows)), key=place):
        found.setdefault(table.key(i, keys), []).append(i)
    return found


def count_cases(table: RowTable) -> int:
    """Count the test cases of a table, each once for all its rivals."""
    return len(_by_key(table, table.rivals.keys if table.rivals else frozenset()))


def count_laid_out(table: RowTable) -> int:
    """Count those that its share lets it lay out."""
    return len(_laid_out(table, table.rivals.keys if table.rivals else frozenset()))


def _laid_out(table: RowTable, keys: Collection[str]) -> list[tuple[CellKey, list[int]]]:
    """Choose test cases by the share of the table: of each op one, others evenly, of the most threads where
    there are enough of those, and each that failed.
    """
    cases = list(_by_key(table, keys).items())
    count = max(_LEAST_CASES, round(table.share * len(cases)))
    if count >= len(cases):
        return cases
    rows = [[table.rows[i] for i in members] for _, members in cases]
    most = max(row.threads for each in rows for row in each)
    of_most = [k for k, each in enumerate(rows) if each[0].threads == most]
    pool = of_most if len(of_most) >= count else range(len(cases))
    chosen = {pool[round(k * (len(pool) - 1) / (count - 1))] for k in range(count)}
    ops = {rows[k][0].op: k for k in reversed([*of_most, *range(len(cases))])}
    chosen |= set(ops.values()) if len(ops) > 1 else set()
    chosen |= {k for k, each in enumerate(rows) if any(row.status == "failed" for row in each)}
    return [cases[k] for k in sorted(chosen)]


def _ratios(table: RowTable, rivals: RivalNames | None, members: Sequence[int]) -> dict[str, Ratio]:
    if rivals is None:
        return {}
    rows = {rivals.of[i]: table.rows[i] for i in members}
    return ratios_to_first(rows, rivals, table.ratios_by(rivals.keys), is_rate=table.headline != "time")


def _line(row: Row, first: CellKey, columns: Sequence[RowColumn], extra: tuple[str, ...], said: str) -> Line:
    """Write what distinguishes a row, and its numbers, or the failure instead of them."""
    if row.median is None:
        return Line((*first, failed_words(row)), BAD)
    tone = BAD if row.status == "failed" else WARN if said else PLAIN
    return Line((*first, *(column.cell(row) for column in columns), *extra, said), tone)


def _said_once(lines: Sequence[Line]) -> list[Line]:
    """Write the reason of a failure once, where the next rows have the same."""
    before = ["", *(line.cells[-1] for line in lines)]
    return [
        replace(line, cells=(*line.cells[:-1], f"{line.cells[-1].partition(':')[0]}: as above"))
        if said and line.tone == BAD and line.cells[-1] == said
        else line
        for said, line in zip(before, lines, strict=False)
    ]


def _first_columns(table: RowTable, without: Collection[str]) -> Iterator[Column]:
    yield from (axis.column for axis in table.axes(without))
    if table.is_sized:
        yield number("bytes")


def _rival_heading(table: RowTable, rivals: RivalNames) -> str:
    if FOLDER in rivals.keys:
        return "MPI" if MPI in rivals.keys else "folder"
    return next(axis.column.name for axis in table.labels.varying if axis.key in rivals.keys)


def _ratio_words(table: RowTable, rivals: RivalNames) -> str:
    """Name both, and the variable of values: `mpich-5.0.2 / openmpi-4.1.4`, `each / lib.so (LD_PRELOAD)`; and
    what the intervals are, if there are any.
    """
    names = f"{rivals.names[1] if len(rivals.names) == 2 else 'each'} / {rivals.names[0]}"
    heading = _rival_heading(table, rivals)
    named = names if heading in ("MPI", "folder") else f"{names} ({heading})"
    known = table.ratios_by(rivals.keys)
    with_interval = any(id(row) in known for row in table.rows)
    return f"{named}, of launches; simultaneous {100 * RATIO_LEVEL:g} % intervals" if with_interval else named


def _of_both(said: dict[str, str]) -> str:
    """Join the remarks on both rivals; one that is the same for both is written once."""
    told = {name: text for name, text in said.items() if text}
    if len(told) > 1 and len(set(told.values())) == 1:
        return f"both: {next(iter(told.values()))}"
    return "; ".join(f"{name}: {text}" for name, text in told.items())


def _explained(table: RowTable) -> str:
    """Explain the rows, the numbers, and what all rows share that was not written above."""
    facts = [said for key, said in table.labels.common.items() if key not in table.known]
    if len({row.op for row in table.rows}) > 1:
        facts = [said for said in facts if said]
    known = (
        "" if table.headline == "operations" else shared_nature(table.rows)
    )  # the time of a kernel dwarfs any barrier
    parts = (table.summary, ", ".join(facts), known)
    return "; ".join(part for part in parts if part)


def _notes(table: RowTable, rivals: RivalNames | None) -> tuple[str, ...]:
    """Write notes: the numbers of several methods, shared remarks, and the limits of ratios of folders."""
    natures = {row.method: row.nature for row in table.rows}
    told = tuple(f"{method}: {text}" for method, text in natures.items() if text)
    shared = [one for one in table.remarks.shared if (one.kind, one.owner) not in table.elsewhere]
    notes = (*(told if len(natures) > 1 else ()), *notes_of(shared))
    return (*notes, NOT_BY_TURNS) if rivals and not rivals.took_turns else notes


def assumed_notes(rows: Sequence[Row]) -> tuple[str, ...]:
    """Say what the intervals of rows assume that nothing shows."""
    return (IF_INDEPENDENT,) if any(row.ci_if for row in rows) else ()
