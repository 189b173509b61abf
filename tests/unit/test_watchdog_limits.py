"""How long a launch may be silent: as the plan says, and longer for ops that last and for checks of GiB."""

from __future__ import annotations

import pytest

from described import described
from few_ops import RULES
from steelyard.campaign.cause_of_death import LaunchPhase
from steelyard.campaign.watchdog_limits import longest_repetition, patience_seconds, silent_words
from steelyard.engines.description import ops_of
from steelyard.records.campaign_file import PlannedPoint

_OPS = ops_of(
    described(
        [
            {"name": "mpi.sum", "class": "collective", "sized": True, "methods": ["batch"]},
            {"name": "npb.cg", "class": "collective", "sized": True, "lasts": True, "methods": ["batch"]},
        ],
        [{"name": "batch"}],
        RULES,
    ),
    None,
).all
_GIB = 1 << 30


def longest(*cases: tuple[str, int]) -> float:
    points = [PlannedPoint(point=i, op=op, bytes=size, ranks=2) for i, (op, size) in enumerate(cases)]
    return longest_repetition(points, _OPS, 2)


def test_the_longest_repetition_is_that_of_the_largest_case_but_for_kernels() -> None:
    assert longest(("mpi.sum", 8), ("mpi.sum", 3 * _GIB)) == longest(("mpi.sum", 3 * _GIB)) > 2
    assert longest(("mpi.sum", 8), ("npb.cg", 3 * _GIB)) == longest(("mpi.sum", 8)) < 1e-5
    assert longest() == 0


@pytest.mark.parametrize(
    ("phase", "lasting", "repetition", "least", "most"),
    [
        (LaunchPhase.MEASURING, False, 1e-6, 60, 60.1),
        (LaunchPhase.MEASURING, False, 3.2, 240, 300),  # 3 GiB on two ranks were silent for a minute
        (LaunchPhase.MEASURING, True, 0.0, 3600, 3600),
        (LaunchPhase.STARTING, True, 3.2, 60, 60),
        (LaunchPhase.CLOSING, True, 3.2, 20, 20),
    ],
)
def test_patience(phase: LaunchPhase, lasting: bool, repetition: float, least: float, most: float) -> None:
    assert least <= patience_seconds("1m", phase, lasting=lasting, hung=False, longest=repetition) <= most


def test_the_time_is_told_in_the_words_of_the_plan_unless_it_was_longer() -> None:
    assert [silent_words("1m", seconds) for seconds in (60.0, 60.1, 252.0)] == ["1m", "1m", "252s"]
