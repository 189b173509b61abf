"""Criteria: questions about a machine before it is accepted, and their answers.

A criterion is a row of a table: a function that looks at what was measured, and its texts. It says that the
machine is well, that it is not, or that it cannot tell; each with its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from msgspec import Struct

from steelyard.base.diagnostic import Diagnostic
from steelyard.base.plural import capital, counted
from steelyard.judges.accept.measurement import Weighed
from steelyard.judges.verdict import CANNOT_TELL, Scale
from steelyard.stats.peer_outliers import LEAST_LAUNCHES

WELL, NOT_WELL = "well", "not well"
ACCEPTED = Scale((NOT_WELL, CANNOT_TELL, WELL))  # all is well only if each topic is


@dataclass(frozen=True)
class Candidate:
    """The input of criteria: the machine to judge, and the reference if there is one."""

    weighed: Weighed
    reference: Weighed | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer of a criterion, in sentences without their first capital; `remedy` replaces its own.

    `launches` is in how many launches a fault was measured; None for a fact that one launch shows, such as a
    wrong answer. `brief` says it in a few words; without it, the first clause of the evidence does.
    """

    verdict: str
    evidence: str
    remedy: str = ""
    launches: int | None = None
    brief: str = ""


class Topic(Struct, frozen=True, kw_only=True):
    """One criterion's answer; `remedy` is empty if the machine is well; `brief` is the evidence in a few
    words.
    """

    topic: str
    question: str
    verdict: str
    evidence: str
    remedy: str
    brief: str = ""


class Acceptance(Struct, frozen=True, kw_only=True):
    """All answers, their common verdict, and `why` it is; of which `machine`; how much was `measured`.

    `go_on` is the command that measures what is left of the plan; empty if nothing is.
    """

    verdict: str
    why: str = ""
    machine: str = ""
    measured: str = ""
    go_on: str = ""
    topics: tuple[Topic, ...]


@dataclass(frozen=True, slots=True)
class Criterion:
    """A row of the table; `find` returns None if the question does not apply."""

    topic: str
    question: str
    remedy: str
    find: Callable[[Candidate], Finding | None]


def criterion(
    topic: str, question: str, *, remedy: str
) -> Callable[[Callable[[Candidate], Finding | None]], Criterion]:
    """Make the function below it a row."""
    return lambda find: Criterion(topic, question, remedy, find)


def criteria_of(*modules: ModuleType) -> tuple[Criterion, ...]:
    """List all rows of some modules, in the order of the source."""
    return tuple(
        value for module in modules for value in vars(module).values() if isinstance(value, Criterion)
    )


def judge(criteria: Iterable[Criterion], candidate: Candidate) -> tuple[Topic, ...]:
    """Ask the criteria, in their order. Fewer than `LEAST_LAUNCHES` launches show no fault."""
    return tuple(
        _topic(row, _held_back(answer, candidate.weighed))
        for row in criteria
        if (answer := row.find(candidate)) is not None
    )


def _topic(row: Criterion, finding: Finding) -> Topic:
    return Topic(
        topic=row.topic,
        question=row.question,
        verdict=finding.verdict,
        evidence=capital(finding.evidence),
        remedy="" if finding.verdict == WELL else capital(finding.remedy or row.remedy),
        brief=finding.brief or re.split(r"[;:.](?= |$)", finding.evidence)[0],
    )


def _held_back(finding: Finding, weighed: Weighed) -> Finding:
    """Take a fault back that too few launches show: what one launch was dealt, the next is not."""
    if finding.verdict != NOT_WELL or finding.launches is None or finding.launches >= LEAST_LAUNCHES:
        return finding
    seen = (
        f"That was seen in {counted(finding.launches, 'launch')}; fewer than {LEAST_LAUNCHES} show no fault."
    )
    return replace(
        finding, verdict=CANNOT_TELL, evidence=f"{finding.evidence} {seen}", remedy=weighed.more_launches()
    )


def gravest_of(findings: Sequence[Finding]) -> Finding:
    """Choose among the answers to one question, of which there is one at least: those of the gravest verdict,
    a sentence each. Launches are the fewest in which a fault was seen.
    """
    verdict = ACCEPTED.gravest(finding.verdict for finding in findings)
    alike = [finding for finding in findings if finding.verdict == verdict]
    if len(alike) == 1:
        return alike[0]
    launches = [one.launches for one in alike if one.launches is not None]
    return Finding(
        verdict,
        " ".join(one.evidence[:1].upper() + one.evidence[1:] for one in alike),
        " ".join(one.remedy for one in alike if one.remedy),
        min(launches, default=None),
    )


def from_checks(diagnostics: Iterable[Diagnostic], well: str, launches: int | None = None) -> Finding:
    """Convert diagnostics to a finding: each is a fault, and has its remedy."""
    chosen = list(diagnostics)
    if not chosen:
        return Finding(WELL, well)
    evidence = " ".join(f"{one.what}: {one.evidence}" for one in chosen)
    remedies = dict.fromkeys(one.remedy for one in chosen)
    ended = (one if one.endswith((".", ";")) else f"{one};" for one in remedies)  # a command ends so
    remedy = " ".join(ended).removesuffix(";")
    brief = "; ".join(one.what[0].lower() + one.what[1:] for one in chosen)
    return Finding(NOT_WELL, evidence, remedy, launches, brief)
