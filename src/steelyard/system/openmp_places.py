"""Places in OMP_PLACES: the CPUs of each of them.

The grammar is that of the OpenMP 5.2 specification, 21.1.6, with braces: `{0,1},{2,3}`, `{0:4:2}`,
`{0:2}:3:2`, and `!` for CPUs to remove from those before it, as in gcc's libgomp.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

MOST = 2**16  # CPUs in an interval: no machine has more, so a typing error is not expanded
LIST_COMMA = re.compile(r",(?![^{]*\})")  # between places, not within one

_INTERVAL = r"(?::(\d+)(?::(-?\d+))?)?"  # how many, and how far from one to the next
_CPU = re.compile(rf"(!?)(\d+){_INTERVAL}", re.ASCII)
_PLACE = re.compile(rf"(!?)\{{([^{{}}]+)\}}{_INTERVAL}", re.ASCII)

CpuSet = frozenset[int]


def parse_places(text: str) -> tuple[CpuSet, ...]:
    """List the CPUs of each place in `{0},{1}`, in order. Raises ValueError for an invalid list."""
    return tuple(_parse(LIST_COMMA.split(text), _PLACE, _parse_place))


def _parse_place(text: str) -> CpuSet:
    """Expand the text within the braces: `0,1`, `0:4:2`, `0:4,!2`."""
    return CpuSet().union(*_parse(text.split(","), _CPU, lambda number: CpuSet({int(number)})))


def _parse(parts: Sequence[str], pattern: re.Pattern[str], read: Callable[[str], CpuSet]) -> list[CpuSet]:
    found: list[CpuSet] = []
    for part in parts:
        match = pattern.fullmatch(part)
        if match is None:
            raise ValueError(part)
        excluded, what, length, stride = match.groups()
        cpus = read(what)
        if not excluded:
            found += _interval(cpus, int(length or 1), int(stride or 1))
        elif length is None and cpus in found:
            found = [one for one in found if one != cpus]
        else:
            raise ValueError(part)
    if not found:
        raise ValueError("all is taken away")
    return found


def _interval(cpus: CpuSet, length: int, stride: int) -> list[CpuSet]:
    """Expand these CPUs, and those at multiples of the stride, `length` in all."""
    far = (length - 1) * stride
    least, most = min(cpus) + min(far, 0), max(cpus) + max(far, 0)
    if not (0 <= least <= most < MOST and 0 < length * len(cpus) <= MOST):
        raise ValueError(f"{length} times {stride} from {min(cpus)}")
    return [CpuSet(cpu + stride * number for cpu in cpus) for number in range(length)]
