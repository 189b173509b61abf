"""A comparison as JUnit XML, which CI systems show: a test case of ours is a test case there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from steelyard.base.units import format_bytes
from steelyard.compare.answer import CANNOT_TELL, SLOWER
from steelyard.compare.verdicts import CaseVerdict

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(title: str, points: Sequence[CaseVerdict], strict: bool) -> bytes:
    """The verdicts as JUnit: slower fails, cannot tell is skipped, or fails where `strict`."""
    failed = [one for one in points if _fails(one, strict)]
    skipped = [one for one in points if one.verdict == CANNOT_TELL and not strict]
    cases = "".join(_case(one, strict) for one in points)
    counts = f'tests="{len(points)}" failures="{len(failed)}" skipped="{len(skipped)}"'
    name = _attribute(title)
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name={name} {counts}>\n{cases}</testsuite>\n'
    return text.encode()


def _fails(one: CaseVerdict, strict: bool) -> bool:
    return one.verdict == SLOWER or (strict and one.verdict == CANNOT_TELL)


def _case(one: CaseVerdict, strict: bool) -> str:
    size = f" {format_bytes(one.bytes)}" if one.bytes else ""
    name = _attribute(f"{one.op}{size} on {one.ranks} ranks: {one.b} against {one.a}")
    message = _attribute(_message(one))
    if _fails(one, strict):
        inside = f"<failure message={message}/>"
    elif one.verdict == CANNOT_TELL:
        inside = f"<skipped message={message}/>"
    else:
        inside = ""
    return f"  <testcase classname={_attribute(one.op)} name={name}>{inside}</testcase>\n"


def _message(one: CaseVerdict) -> str:
    if one.ratio is None or one.low is None or one.high is None:
        return f"{one.verdict}: {one.why}"
    return f"{one.verdict}: ratio {one.ratio:.3f}, from {one.low:.3f} to {one.high:.3f}"


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("?", text))
