"""How a function is applied to many things: one after the other, unless a caller knows a quicker way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

Thing = TypeVar("Thing")
Found = TypeVar("Found")


class Mapper(Protocol):
    """Applies a function to things, in their order; all that takes one process about so many `seconds`."""

    def __call__(
        self, function: Callable[[Thing], Found], things: Sequence[Thing], seconds: float
    ) -> list[Found]:
        """What the function makes of each."""


def serially(function: Callable[[Thing], Found], things: Sequence[Thing], seconds: float) -> list[Found]:  # noqa: ARG001
    """What the function makes of each, by this process."""
    return [function(one) for one in things]
