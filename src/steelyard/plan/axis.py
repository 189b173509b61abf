"""Axes as plans write them: a number, a text such as "1,2,4", or a list of either."""

from __future__ import annotations

from collections.abc import Callable

PlanAxis = int | str | tuple[int | str, ...]


def numbers_in(axis: PlanAxis, read: Callable[[str], tuple[int, ...]]) -> tuple[int, ...]:
    """An axis as numbers, each once; `read` takes a text. Raises what that raises."""
    parts = axis if isinstance(axis, tuple) else (axis,)
    return tuple(dict.fromkeys(value for part in parts for value in read(str(part))))


def words_in(axis: PlanAxis) -> tuple[str, ...]:
    """An axis as words, each once: `"epoch,bounds"` or a list."""
    parts = axis if isinstance(axis, tuple) else (axis,)
    return tuple(dict.fromkeys(word.strip() for part in parts for word in str(part).split(",")))
