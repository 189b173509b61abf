"""Sets of CPUs as the kernel writes them: `0-3,8`."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

_MOST_CPUS = 2**16  # no machine has more: a list that goes on is a slip of the pen, and would fill the memory


def parse_cpus(text: str) -> tuple[int, ...]:
    """Linux's list of numbers, `0-3,8`, as a tuple; () for an empty text. Raises ValueError for no list."""
    numbers: list[int] = []
    for part in filter(None, map(str.strip, text.split(","))):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part, re.ASCII)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if not first <= last < _MOST_CPUS:
            raise ValueError(f"'{part}' is not a list of CPUs")
        numbers.extend(range(first, last + 1))
    return tuple(numbers)


def told_cpus(text: str) -> tuple[int, ...]:
    """The list that a file of the system holds; empty, as where nothing is told, when it is garbled."""
    try:
        return parse_cpus(text)
    except ValueError:
        return ()


@functools.lru_cache
def cpu_set(text: str) -> frozenset[int]:
    """The same as a set: records hold the same few texts again and again."""
    return frozenset(told_cpus(text))


def cpu_words(numbers: Iterable[int]) -> str:
    """`0-3,8`: numbers with runs put together."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
