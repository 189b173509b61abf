"""The columns of a row, for the terminal and the report.

A column is a row of `COLUMNS`: what it shows of a row, and in which tables of the terminal it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from steelyard.base.units import format_share
from steelyard.render.table import NOTHING, NUMBER, WORDS, Column, ColumnKind
from steelyard.results.facets import (
    Fairness,
    Inside,
    Modes,
    Progress,
    ReferenceOverhead,
    ResourceUse,
    Roof,
    Samples,
    ThreadTimes,
    Timer,
    Windows,
)
from steelyard.results.row import Row
from steelyard.rows.row_words import (
    bandwidth_words,
    details,
    rate_half_words,
    rate_words,
    time_half_words,
    value_words,
)
from steelyard.rows.words import (
    BEYOND,
    cycles_words,
    half_words,
    interval_words,
    mode_words,
    overhead_words,
    time_words,
)

# The subject of a table, see `Row.headline` -> its column.
HEADLINES = {
    "time": "time",
    "bandwidth": "bandwidth",
    "operations": "rate",
    "messages": "rate",
    "names": "rate",
}
TERMINAL = frozenset(HEADLINES)
TIMES = frozenset({"time"})
REPORT: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RowColumn:
    """A heading, the cell of a row, and the headlines of the terminal's tables that have the column.

    The report has all columns. A column that is empty in all rows is left out of both.
    """

    name: str
    cell: Callable[[Row], str]
    on: frozenset[str] = REPORT
    kind: ColumnKind = NUMBER

    def column(self, strong: bool = False) -> Column:
        """Make the column of a table."""
        return Column(self.name, self.kind, strong)


def _has_modes(row: Row) -> bool:
    return len(row.get(Modes).modes) > 1


def _overhead(row: Row) -> str:
    """`120 ns ± 5 %`; `≤ 126 ns` unless the interval lies above 0."""
    found = row.get(ReferenceOverhead)
    half = NOTHING
    if found.above is not None:
        half = half_words(found.corrected, found.corrected_low, found.corrected_high)
    return overhead_words(found)[0] + ("" if half == NOTHING else f" ± {half}")


def _p99(row: Row) -> str:
    """`131 us ± 5 %`; nothing without an interval that says something, for a tail says little without one."""
    found = row.get(Samples)
    half = half_words(found.p99, found.p99_low, found.p99_high)
    return NOTHING if half in (NOTHING, BEYOND) else f"{time_words(found.p99)} ± {half}"


def _communication(row: Row) -> str:
    phases = row.get(Inside).phases
    return f"{100 * phases.communication:.1f} %" if phases else NOTHING


def _early(row: Row) -> str:
    """`98 % (97 – 99)`: calls that complete before an absent target is in MPI again."""
    found = row.get(Progress)
    if found.early is None:
        return NOTHING
    if found.early_low is None or found.early_high is None:
        return f"{100 * found.early:.0f} %"
    return f"{100 * found.early:.0f} % ({100 * found.early_low:.0f} – {100 * found.early_high:.0f})"


def _alike(row: Row) -> str:
    """`1.83`: the end of the last thread of a rank over the end of its first one."""
    fairness = row.get(Fairness).fairness
    ratio = 1.0 / fairness if fairness else 0.0
    return f"{ratio:.{0 if ratio >= 100 else 2}f}" if ratio else NOTHING


def _thread_scatter(row: Row) -> str:
    """`6.3 %`: the spread of the times of all threads of a rank."""
    scatter = row.get(ThreadTimes).thread_scatter
    return NOTHING if scatter is None else format_share(scatter)


def _of_roof(row: Row) -> str:
    """`83 %`."""
    share = row.get(Roof).of_roof
    return NOTHING if share is None else format_share(share)


def _windows(row: Row) -> str:
    widths = row.get(Windows).window_ns
    return interval_words(*widths) if widths else NOTHING


def _rejected(row: Row) -> str:
    return format_share(row.rejected / (row.count + row.rejected)) if row.rejected else NOTHING


def _cpu(row: Row) -> str:
    """`97 %, 12 % in the kernel`: the CPU time of a rank over the time that passed."""
    used = row.get(ResourceUse)
    if used.cpu_share is None:
        return NOTHING
    inside = f", {100 * used.system_share:.0f} % in the kernel" if used.system_share else ""
    return f"{100 * used.cpu_share:.0f} %{inside}"


def _switches(row: Row) -> str:
    """`0.98`: context switches of a rank in an operation, to wait."""
    switches = row.get(ResourceUse).switches
    return NOTHING if not switches else f"{switches:.2g}"


COLUMNS = (
    RowColumn("time", value_words, TERMINAL),
    RowColumn("interval", lambda row: interval_words(row.time_low, row.time_high, row.time)),
    RowColumn("modes", lambda row: mode_words(row) if _has_modes(row) else NOTHING, kind=WORDS),
    RowColumn("min", lambda row: time_words(row.get(Samples).min)),
    RowColumn("p99", _p99, TIMES),
    RowColumn("bandwidth", bandwidth_words, TERMINAL),
    RowColumn("rate", rate_words, TERMINAL),
    RowColumn("of roof", _of_roof, TERMINAL),
    RowColumn("roof", lambda row: row.get(Roof).roof or NOTHING, kind=WORDS),
    RowColumn("overhead", _overhead, TIMES),
    RowColumn("of overhead", lambda row: overhead_words(row.get(ReferenceOverhead))[1]),
    RowColumn("cycles", lambda row: cycles_words(row.get(ReferenceOverhead).above, row.get(Timer).tsc_hz)),
    RowColumn(
        "core cycles", lambda row: cycles_words(row.get(ReferenceOverhead).above, row.get(Timer).core_hz)
    ),
    RowColumn("early", _early, TERMINAL),
    RowColumn("max/min", _alike, TERMINAL),
    RowColumn("scatter", _thread_scatter, TERMINAL),
    RowColumn("communication", _communication),
    RowColumn("at least", lambda row: time_words(row.get(Windows).low_ns)),
    RowColumn("skew", lambda row: time_words(row.get(Windows).skew_ns)),
    RowColumn("windows", _windows),
    RowColumn("rejected", _rejected),
    RowColumn("CPU", _cpu),
    RowColumn("switches", _switches),
    RowColumn("launches", lambda row: str(row.launch_count)),
    RowColumn("detail", details, kind=WORDS),
)


def headline_columns(headline: str) -> tuple[RowColumn, RowColumn]:
    """List the columns of a table's subject, and half its interval."""
    first = next(column for column in COLUMNS if column.name == HEADLINES[headline])
    return first, RowColumn("±", time_half_words if first.name == "time" else rate_half_words, TERMINAL)


def columns_of(headline: str, is_wide: bool, without: Iterable[str] = ()) -> tuple[RowColumn, ...]:
    """List the columns of a table, its headline first; `is_wide`: all columns, as in the report."""
    first = headline_columns(headline)
    left_out = {first[0].name, *without}
    others = (column for column in COLUMNS if is_wide or headline in column.on)
    return (*first, *(other for other in others if other.name not in left_out))
