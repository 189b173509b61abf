"""Is this machine well: criteria for accepting one, each a function with its row, by topic."""

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
from steelyard.accept.weighed import Weighed

__all__ = ["CANNOT_TELL", "CRITERIA", "NOT_WELL", "PLAN", "WELL", "Acceptance", "Topic", "Weighed", "accept"]

PLAN = "acceptance"  # the shipped plan that measures what the criteria ask for
CRITERIA = criteria_of(settings, answers, places, noise, floors, protocol, reference)


def accept(weighed: Weighed, reference: Weighed | None = None) -> Acceptance:
    """What the criteria say of a results folder, held against a reference if there is one."""
    return judge(CRITERIA, Candidate(weighed, reference))
