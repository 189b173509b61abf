"""Criteria for accepting a machine, each a function and its row, by topic."""

from collections.abc import Sequence

from steelyard.judges.accept import (
    answers,
    congestion,
    files,
    first_use,
    floors,
    library_memory,
    noise,
    places,
    protocol,
    reference,
    settings,
    waiting,
)
from steelyard.judges.accept.criterion import (
    ACCEPTED,
    NOT_WELL,
    WELL,
    Acceptance,
    Candidate,
    Topic,
    criteria_of,
    judge,
)
from steelyard.judges.accept.limits import Limit, limit_criteria, read_limits
from steelyard.judges.accept.measurement import PLAN, Weighed
from steelyard.judges.accept.summary import machine_words, measured_words, why_words

__all__ = [
    "CRITERIA",
    "NOT_WELL",
    "PLAN",
    "WELL",
    "Acceptance",
    "Limit",
    "Topic",
    "Weighed",
    "accept",
    "read_limits",
]

CRITERIA = criteria_of(
    *(settings, answers, places, noise, floors, protocol, first_use, library_memory, waiting, congestion),
    *(files, reference),
)


def accept(weighed: Weighed, reference: Weighed | None = None, limits: Sequence[Limit] = ()) -> Acceptance:
    """Judge a results folder by all criteria, with a reference if there is one, and by a site's limits."""
    topics = judge((*CRITERIA, *limit_criteria(limits)), Candidate(weighed, reference))
    verdict = ACCEPTED.gravest(topic.verdict for topic in topics)
    return Acceptance(
        verdict=verdict,
        why=why_words(verdict, topics, weighed),
        machine=machine_words(weighed),
        measured=measured_words(weighed),
        go_on=weighed.go_on() if weighed.unfinished else "",
        topics=topics,
    )
