"""Axes in plans: a number, a text such as "1,2,4", or a list of either."""

from __future__ import annotations

from collections.abc import Callable

PlanAxis = int | str | tuple[int | str, ...]


def numbers_in(axis: PlanAxis, read: Callable[[str], tuple[int, ...]]) -> tuple[int, ...]:
    """Read an axis as numbers, each once; `read` converts a text, and may raise."""
    parts = axis if isinstance(axis, tuple) else (axis,)
    return tuple(dict.fromkeys(value for part in parts for value in read(str(part))))


def words_in(axis: PlanAxis) -> tuple[str, ...]:
    """Read an axis as words, each once: `"epoch,bounds"` or a list."""
    parts = axis if isinstance(axis, tuple) else (axis,)
    return tuple(dict.fromkeys(word.strip() for part in parts for word in str(part).split(",")))
