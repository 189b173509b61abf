"""How a rank waits and what that costs, in a sentence for each library and setting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.answer_words import each_alone, is_certain, is_certain_ratio, of_mpi, span_words
from steelyard.analyses.waiting.model import (
    BLOCKS,
    BOTH,
    OVERLOAD,
    QUEUES,
    SPINS,
    YIELDS,
    Waiting,
)
from steelyard.analyses.waiting.neighbours import WAIT_OP, WaitingNeighbour
from steelyard.base.units import format_time, format_values
from steelyard.results.facets import OfferedLoad
from steelyard.results.row import Row
from steelyard.rows.labels import Facts, labels_of, param_facts, where_facts

_WAYS = {SPINS: "spins", YIELDS: "spins and offers its core", BLOCKS: "sleeps", BOTH: "spins, then sleeps"}
_WHOLE = 0.9  # of a core: who spins and has less shares it
_PER_RATE = ("rate", "count")  # parameters of one wait


def is_wait(row: Row) -> bool:
    """Is it a row whose receiver waits?"""
    return row.get(OfferedLoad).offered_rate is not None


def waiting_answers(waits: Sequence[Waiting]) -> Iterator[str]:
    """`A rank of Open MPI 4.1.4 that waits 10 us to 1 s for a message spins: 98 to 100 % of a core.`"""
    labels = labels_of([_facts(wait) for wait in waits])
    groups: dict[tuple[str, str | None, str], list[Waiting]] = {}
    for i, wait in enumerate(waits):
        if wait.way not in (OVERLOAD, QUEUES):
            groups.setdefault((wait.op, wait.mpi, labels.label(i)), []).append(wait)
    for (op, mpi, label), cases in groups.items():
        who = f"A rank{of_mpi(mpi) or f' of {op}'}{f' ({label})' if label else ''}"
        ways: dict[str, list[Waiting]] = {}
        for wait in sorted(cases, key=lambda wait: wait.wait):
            if wait.way in _WAYS and wait.burnt is not None:
                ways.setdefault(wait.way, []).append(wait)
        sentences = [_way_words(way, alike) for way, alike in ways.items()]
        yield (
            f"{who} that waits {'; '.join(sentences)}." if sentences else f"{who}: cannot tell how it waits."
        )


def _facts(wait: Waiting) -> Facts:
    params = {name: value for name, value in wait.params.items() if name not in _PER_RATE}
    return {**where_facts(wait.placement, wait.env), **param_facts(params, is_usual=True)}


def _way_words(way: str, waits: Sequence[Waiting]) -> str:
    """`10 us to 1 s for a message spins: 98 to 100 % of a core, and learns of it after 1 us to 43 us`."""
    burnt = [wait.burnt for wait in waits if wait.burnt is not None]
    shares = dict.fromkeys(f"{100 * share:.3g}" for share in (min(burnt), max(burnt)))
    woken = [wait.woken.value for wait in waits if is_certain(wait.woken)]
    learns = f", and learns of it after {_range(woken)}" if woken else ""
    lengths = _range([wait.wait for wait in waits])
    rest = " (others had the rest)" if way != BLOCKS and way != BOTH and max(burnt) < _WHOLE else ""
    return f"{lengths} for a message {_WAYS[way]}: {' to '.join(shares)} % of a core{rest}{learns}"


def _range(times: Sequence[float]) -> str:
    return " to ".join(dict.fromkeys(format_time(end) for end in (min(times), max(times))))


def is_beside_waiting(row: Row) -> bool:
    """Is it STREAM beside a rank that waits or sleeps?"""
    return row.op == WAIT_OP


def neighbour_answers(cases: Sequence[WaitingNeighbour]) -> Iterator[str]:
    """`STREAM beside a waiting rank takes 1.98 (1.95 to 2.01) times as long as beside a sleeping one.`"""
    by_mpi: dict[str | None, list[WaitingNeighbour]] = {}
    for case in cases:
        by_mpi.setdefault(case.mpi, []).append(case)
    for mpi, cases in by_mpi.items():
        what = f"STREAM beside a waiting rank{of_mpi(mpi)}"
        sentences = [
            f"{span_words(case.ratio)} times as long{_where(case, cases)}"
            for case in cases
            if is_certain_ratio(case.ratio)
        ]
        left = len(cases) - len(sentences)
        more = f"; cannot tell in {left} of {len(cases)}" if left else ""
        if sentences:
            alone = each_alone(len(sentences))
            yield f"{what} takes {', '.join(sentences)} as beside a sleeping one{more}{alone}."
        else:
            yield f"{what}: launches are too few, or differ too much, to tell what it loses."


def _where(case: WaitingNeighbour, among: Sequence[WaitingNeighbour]) -> str:
    """` (same-cpu 0,0, OMPI_MCA_mpi_yield_when_idle=1)`, where cases differ in that."""
    placed = case.placement or "" if len({one.placement for one in among}) > 1 else ""
    settings = format_values(case.env) if len({format_values(one.env) for one in among}) > 1 else ""
    words = ", ".join(filter(None, (placed, settings)))
    return f" ({words})" if words else ""
