"""What all judges share: scales of verdicts, what fails, and verdicts as JUnit XML and as a document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from steelyard.base.junit import Case, Suite, junit_xml

CANNOT_TELL = "cannot tell"
BAD_CODE, CANNOT_TELL_CODE = 1, 4  # of the command line


@dataclass(frozen=True, slots=True)
class Scale:
    """The verdicts of a judge, the gravest first: that one alone is `bad`."""

    verdicts: tuple[str, ...]

    @property
    def bad(self) -> str:
        """The verdict that fails."""
        return self.verdicts[0]

    def gravest(self, verdicts: Iterable[str]) -> str:
        """Find the common verdict; without any it is the last of the scale."""
        given = set(verdicts)
        return next((verdict for verdict in self.verdicts if verdict in given), self.verdicts[-1])

    def fails(self, verdict: str, strict: bool) -> bool:
        """Does a verdict fail, a doubt only if `strict`?"""
        return verdict == self.bad or (strict and verdict == CANNOT_TELL)

    def exit_code(self, verdicts: Iterable[str], strict: bool) -> int:
        """Compute the exit code of a command that gave these verdicts."""
        given = set(verdicts)
        if self.bad in given:
            return BAD_CODE
        return CANNOT_TELL_CODE if strict and CANNOT_TELL in given else 0


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict and why it is, for those who ask what failed: `family` and `name` say of what it is."""

    family: str
    name: str
    verdict: str
    why: str


def verdicts_junit(title: str, scale: Scale, judged: Iterable[Judged], strict: bool) -> bytes:
    """Write verdicts as JUnit XML, a test case for each: bad ones fail; doubts are skipped, or fail if
    `strict`.
    """
    return junit_xml([Suite(title, tuple(_case(scale, one, strict) for one in judged))])


def _case(scale: Scale, judged: Judged, strict: bool) -> Case:
    message = f"{judged.verdict}: {judged.why}"
    if scale.fails(judged.verdict, strict):
        return Case(judged.family, judged.name, failure=message)
    return Case(judged.family, judged.name, skipped=message if judged.verdict == CANNOT_TELL else None)


def verdict_document(judgement: msgspec.Struct) -> dict[str, Any]:
    """Make the document that `--json` prints: the keys of a judgement, with a schema of their own."""
    document: dict[str, Any] = msgspec.to_builtins(judgement)
    return {"schema": 1, **document}
