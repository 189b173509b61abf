"""JUnit XML, which CI systems show."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_NOT_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # compiled at first use: 4 to 8 ms
# xml.sax would do it, and import urllib, http and email with it.
_IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_IN_ATTRIBUTE = _IN_TEXT | str.maketrans({'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


@dataclass(frozen=True, slots=True)
class Case:
    """A test case: it fails, is skipped or had an error, by a sentence, or it passed; `told` is output."""

    classname: str
    name: str
    failure: str | None = None
    skipped: str | None = None
    error: str | None = None
    told: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    """Test cases under a name."""

    name: str
    cases: tuple[Case, ...]


def junit_xml(suites: Sequence[Suite]) -> bytes:
    """Write one `testsuite`, or several in `testsuites`; a question mark replaces what XML cannot hold."""
    inner = "".join(map(_suite, suites))
    text = inner if len(suites) == 1 else f"<testsuites>\n{inner}</testsuites>\n"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode()


def _suite(suite: Suite) -> str:
    failures = sum(case.failure is not None for case in suite.cases)
    skipped = sum(case.skipped is not None for case in suite.cases)
    errors = sum(case.error is not None for case in suite.cases)
    counts = f'tests="{len(suite.cases)}" failures="{failures}" errors="{errors}" skipped="{skipped}"'
    inner = "".join(map(_case, suite.cases))
    return f"<testsuite name={_attribute(suite.name)} {counts}>\n{inner}</testsuite>\n"


def _case(case: Case) -> str:
    inside = ""
    for word, message in (("failure", case.failure), ("error", case.error), ("skipped", case.skipped)):
        if message is not None:
            inside = f"<{word} message={_attribute(message)}/>"
            break
    if case.told:
        inside += f"<system-out>{_escaped(case.told, _IN_TEXT)}</system-out>"
    name = f"classname={_attribute(case.classname)} name={_attribute(case.name)}"
    return f"  <testcase {name}>{inside}</testcase>\n"


def _attribute(text: str) -> str:
    return f'"{_escaped(text, _IN_ATTRIBUTE)}"'


def _escaped(text: str, table: Mapping[int, str]) -> str:
    return re.sub(_NOT_XML, "?", text).translate(table)
