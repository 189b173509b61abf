"""Criteria for accepting a machine, each a function and its row, by topic."""

from steelyard.accept import answers, floors, noise, places, protocol, reference, settings
from steelyard.accept.criterion import (
    CANNOT_TELL,
    NOT_WELL,
    WELL,
    Acceptance,
    Candidate,
    Topic,
    criteria_of,
    judge,
)
from steelyard.accept.weighed import PLAN, Weighed

__all__ = ["CANNOT_TELL", "CRITERIA", "NOT_WELL", "PLAN", "WELL", "Acceptance", "Topic", "Weighed", "accept"]

CRITERIA = criteria_of(settings, answers, places, noise, floors, protocol, reference)


def accept(weighed: Weighed, reference: Weighed | None = None) -> Acceptance:
    """Judge a results folder by all criteria, with a reference if there is one."""
    return judge(CRITERIA, Candidate(weighed, reference))
