"""An acceptance as JUnit XML for CI systems: a topic is a test case there."""

from __future__ import annotations

from steelyard.base.junit import Case, Suite
from steelyard.base.junit import junit_xml as suites_xml
from steelyard.judges.accept.criterion import CANNOT_TELL, NOT_WELL, Acceptance, Topic


def junit_xml(title: str, found: Acceptance, strict: bool) -> bytes:
    """Write the topics as JUnit: not well fails, cannot tell is skipped, or fails if `strict`."""
    return suites_xml([Suite(title, tuple(_case(one, strict) for one in found.topics))])


def _case(one: Topic, strict: bool) -> Case:
    unknown = one.verdict == CANNOT_TELL
    fails = one.verdict == NOT_WELL or (strict and unknown)
    message = f"{one.verdict}: {one.evidence} {one.remedy}".rstrip()
    return Case("accept", one.topic, message if fails else None, message if unknown and not fails else None)
