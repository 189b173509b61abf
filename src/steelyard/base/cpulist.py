"""Sets of CPUs as the kernel writes them: `0-3,8`."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

MOST_CPUS = 2**16  # no machine has more: a longer list is a typing error, and would fill the memory


def parse_cpus(text: str) -> tuple[int, ...]:
    """Read Linux's list of numbers, `0-3,8`, as a tuple; () for an empty text. Raises ValueError
    for no list.
    """
    numbers: list[int] = []
    for part in filter(None, map(str.strip, text.split(","))):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", part, re.ASCII)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if not first <= last < MOST_CPUS:
            raise ValueError(f"'{part}' is not a list of CPUs")
        numbers.extend(range(first, last + 1))
    return tuple(numbers)


def told_cpus(text: str) -> tuple[int, ...]:
    """Read the list in a file of the system; empty if it is garbled or empty."""
    try:
        return parse_cpus(text)
    except ValueError:
        return ()


@functools.lru_cache
def cpu_set(text: str) -> frozenset[int]:
    """Return the same as a set, cached: records hold the same few texts again and again."""
    return frozenset(told_cpus(text))


def cpu_words(numbers: Iterable[int]) -> str:
    """Write `0-3,8`: numbers with runs joined."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
