"""Events of measuring, for whoever shows what goes on: a command line, a notebook, a log."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from steelyard.campaign.events import (
    BudgetSpent,
    CampaignBegins,
    CaseLasts,
    Event,
    JobStarted,
    LaunchEnded,
    PointEnded,
)
from steelyard.campaign.spread import Waits

__all__ = [
    "BudgetSpent",
    "CampaignBegins",
    "CaseLasts",
    "JobStarted",
    "LaunchEnded",
    "OnEvent",
    "PointEnded",
    "RoundBegins",
    "RoundEnded",
    "Said",
    "SessionEvent",
    "Waits",
    "ignored",
    "teller",
]


class Said(Struct, frozen=True):
    """An event: a sentence for people, such as which engine is built, or what is left out."""

    text: str


class RoundBegins(Struct, frozen=True):
    """An event: launches of a plan begin, up to so many; `seconds` is the time budget for them, if any."""

    launches: int
    seconds: float | None


class RoundEnded(Struct, frozen=True):
    """An event: no further launch of the round begins, however it ended."""


SessionEvent = Event | Said | RoundBegins | RoundEnded
OnEvent = Callable[[SessionEvent], None]


def ignored(_: SessionEvent) -> None:
    """Hear an event, and do nothing."""


def teller(on_event: OnEvent) -> Callable[[str], None]:
    """Make a function that sends a sentence as an event."""
    return lambda text: on_event(Said(text))
