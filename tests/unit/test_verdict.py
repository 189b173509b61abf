"""What judges share: which verdict is the gravest, what fails, and what a CI system is told of it."""

from __future__ import annotations

import re

import pytest

from steelyard.judges.accept.criterion import ACCEPTED
from steelyard.judges.compare.scale import COMPARED
from steelyard.judges.guidelines.verdicts import GUIDELINES_HELD
from steelyard.judges.verdict import CANNOT_TELL, Judged, Scale, verdicts_junit

SCALES = pytest.mark.parametrize("scale", [COMPARED, GUIDELINES_HELD, ACCEPTED])


@SCALES
def test_the_gravest_verdict_is_the_common_one(scale: Scale) -> None:
    for place, verdict in enumerate(scale.verdicts):
        assert scale.gravest(reversed(scale.verdicts[place:])) == verdict
    assert scale.gravest(()) == scale.verdicts[-1]


@SCALES
@pytest.mark.parametrize(
    ("doubtful", "bad", "strict", "code"),
    [
        (False, False, True, 0),
        (True, False, False, 0),
        (True, False, True, 4),
        (True, True, True, 1),
        (False, True, False, 1),
    ],
)
def test_codes_and_junit_say_the_same(
    scale: Scale, doubtful: bool, bad: bool, strict: bool, code: int
) -> None:
    verdicts = [scale.verdicts[-1], *([CANNOT_TELL] if doubtful else []), *([scale.bad] if bad else [])]
    assert scale.exit_code(verdicts, strict) == code
    judged = [Judged("family", f"case {verdict}", verdict, "because") for verdict in verdicts]
    xml = verdicts_junit("title", scale, judged, strict).decode()
    failed = [scale.bad] * bad + [CANNOT_TELL] * (doubtful and strict)
    assert sorted(re.findall('<failure message="(.*): because"/>', xml)) == sorted(failed)
    assert xml.count("<skipped") == (doubtful and not strict)
    assert xml.count("<testcase") == len(verdicts)
