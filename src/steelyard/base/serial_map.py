"""Apply a function to many things: one after the other, unless a caller has a faster way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

Thing = TypeVar("Thing")
Found = TypeVar("Found")


class Mapper(Protocol):
    """Applies a function to things, in their order; in one process it takes about so many `seconds`."""

    def __call__(
        self, function: Callable[[Thing], Found], things: Sequence[Thing], seconds: float
    ) -> list[Found]:
        """Return the result for each."""


def serially(function: Callable[[Thing], Found], things: Sequence[Thing], seconds: float) -> list[Found]:  # noqa: ARG001
    """Return the result for each, computed by this process."""
    return [function(thing) for thing in things]
