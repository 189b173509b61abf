"""One problem, one answer: launches of a kernel whose answer differs from the others' are wrong.

Test cases of a kernel that differ only in how messages go (`HOW`) have the same data. On the same ranks and
threads of the same hosts under one MPI they add the same numbers in the same order. Their answers then have
the same bits, unless a transfer was wrong. With other threads, ranks, hosts or MPIs, answers may differ by
the rounding error that the engine states for another order of sums.

The bits of most launches count as right; in a tie, those that come first in the plan. A value is compared
with the median. Two values that are too far apart are both wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from statistics import median

from msgspec.structs import replace

from steelyard.base.plural import counted
from steelyard.records.fields import Params
from steelyard.records.kernel_answer import KernelAnswer
from steelyard.results.load import PointLaunch, PointLaunches

# Parameters of how messages go; they do not change the problem.
HOW = ("backend", "movers", "windows", "comms", "phases")
_Answered = Sequence[tuple[PointLaunch, KernelAnswer]]


def problem_of(params: Params) -> Params:
    """Keep those of an op's parameters that define its problem."""
    return {name: value for name, value in params.items() if name not in HOW}


def with_same_answers(points: Sequence[PointLaunches]) -> tuple[PointLaunches, ...]:
    """Fail launches that answered otherwise than others of their problem, with the reason; return
    all points.
    """
    answered = [
        (cell, cell.answer)
        for point in points
        for cell in point.cells
        if cell.status == "ok" and cell.answer is not None
    ]
    wrong = {**_far_off(answered), **_other_bits(answered)}
    return tuple(
        replace(point, cells=tuple(_judged(cell, wrong) for cell in point.cells)) for point in points
    )


def _judged(cell: PointLaunch, wrong: Mapping[int, str]) -> PointLaunch:
    why = wrong.get(id(cell))
    return cell if why is None else replace(cell, status="failed", why=why, verified=False)


def _other_bits(answered: _Answered) -> Mapping[int, str]:
    """Find launches whose bits differ from those of most others with the same order of sums, by `id`."""
    wrong = {}
    for group in _groups((_order(cell), (cell, answer)) for cell, answer in answered if answer.exact):
        bits, count = Counter(answer.bits for _, answer in group).most_common(1)[0]
        first = next(cell for cell, answer in group if answer.bits == bits)
        for cell, answer in group:
            if answer.bits != bits:
                wrong[id(cell)] = (
                    f"wrong: the answer differs in its bits from that of {_others(count, first)}, although "
                    "sums are made in the same order: a transfer changed the data"
                )
    return wrong


def _far_off(answered: _Answered) -> Mapping[int, str]:
    """Find launches with a value that is further from the median of its problem than rounding explains."""
    wrong = {}
    for group in _groups((_problem(cell), (cell, answer)) for cell, answer in answered):
        for name in group[0][1].values:
            told = [(cell, answer, answer.values.get(name)) for cell, answer in group]
            values = [value for _, _, value in told if value is not None]
            middle = median(values) if values else 0.0
            for cell, answer, value in told:
                if answer.alike is not None and _is_off(value, middle, answer.alike):
                    wrong[id(cell)] = (
                        f"wrong: {name} is {'no number' if value is None else f'{value:.14g}'}, "
                        f"{middle:.14g} over {counted(len(group), 'run')} of the same problem; rounding "
                        f"gives {answer.alike:g} of it"
                    )
    return wrong


def _is_off(value: float | None, middle: float, alike: float) -> bool:
    return value is None or abs(value - middle) > alike * abs(middle)


def _others(count: int, first: PointLaunch) -> str:
    """`3 others (first backend=nonblocking movers=1 in launch 1)`."""
    params = first.point.params if first.point else {}
    how = " ".join(f"{name}={params[name]}" for name in HOW[:2] if name in params)
    return f"{counted(count, 'other')} (first {how} in launch {first.launch})"


def _groups(keyed: Iterator[tuple[Hashable, tuple[PointLaunch, KernelAnswer]]]) -> Iterator[_Answered]:
    groups: dict[Hashable, list[tuple[PointLaunch, KernelAnswer]]] = {}
    for key, one in keyed:
        groups.setdefault(key, []).append(one)
    yield from groups.values()


def _problem(cell: PointLaunch) -> Hashable:
    """Key of the problem; if it grows with the ranks, its work says how large it is."""
    point = cell.point
    if point is None:
        return id(cell)
    return point.op, point.work, tuple(sorted(problem_of(point.params).items(), key=str))


def _order(cell: PointLaunch) -> Hashable:
    """Key of the problem and the order of sums: the part of each rank, and the processor."""
    point, start = cell.point, cell.start
    if point is None:
        return id(cell)
    hosts = tuple((place.rank, place.host) for place in start.places) if start else ()
    mpi = cell.job.mpi.name if cell.job.mpi else None
    return _problem(cell), mpi, point.ranks, point.threads, hosts
