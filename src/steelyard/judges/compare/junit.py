"""A comparison as JUnit XML for CI systems: a test case of ours is a test case there."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.base.junit import Case, Suite
from steelyard.base.junit import junit_xml as suites_xml
from steelyard.base.plural import counted
from steelyard.judges.compare.answer import CANNOT_TELL, SLOWER
from steelyard.judges.compare.verdicts import CaseVerdict
from steelyard.rows.words import ratio_span


def junit_xml(title: str, points: Sequence[CaseVerdict], strict: bool) -> bytes:
    """Write the verdicts as JUnit: slower fails, cannot tell is skipped, or fails if `strict`."""
    return suites_xml([Suite(title, tuple(_case(one, strict) for one in points))])


def _case(one: CaseVerdict, strict: bool) -> Case:
    case = f"{one.op} {one.size}".rstrip()
    name = f"{case} on {counted(one.ranks, 'rank')}: {one.b} against {one.a}"
    unknown = one.verdict == CANNOT_TELL
    fails = one.verdict == SLOWER or (strict and unknown)
    message = _message(one)
    return Case(one.op, name, message if fails else None, message if unknown and not fails else None)


def _message(one: CaseVerdict) -> str:
    if one.ratio is None or one.low is None or one.high is None:
        return f"{one.verdict}: {one.why}"
    ratio, low, high = ratio_span(one.ratio, one.low, one.high)
    return f"{one.verdict}: ratio {ratio}, from {low} to {high}"
