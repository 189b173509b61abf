"""What looks at the machine make of several modes: made-up records, and looks by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from make_records import FakePoint, Look, Series, either, regimes, steady, write_folder
from steelyard import observations
from steelyard.blame import blame, lost
from steelyard.checks import doubts
from steelyard.observations import load
from steelyard.results import rows_of
from steelyard.row import Row
from steelyard.stats import Mode, ranks_above

FAST, SLOW = 200.0, 450.0
Values = NDArray[np.float64]


def _is_slow(values: Values) -> bool:
    return float(np.median(values)) > 300.0


def follows(rng: np.random.Generator, values: Values) -> tuple[float | None, tuple[float, ...]]:
    """A canary that goes with the mode, 20 % wide."""
    return (235.0 if _is_slow(values) else 52.0) * float(rng.uniform(0.9, 1.1)), (0.01, 0.02)


def still(rng: np.random.Generator, values: Values) -> tuple[float | None, tuple[float, ...]]:
    """One that does not move."""
    return 52.0 * float(rng.uniform(0.95, 1.05)), (0.01, 0.02)


def wanders(rng: np.random.Generator, values: Values) -> tuple[float | None, tuple[float, ...]]:
    """One with modes of its own, which have nothing to do with those of the operation."""
    return float(rng.choice([52.0, 110.0])), (0.0, 0.0)


def loses(rng: np.random.Generator, values: Values) -> tuple[float | None, tuple[float, ...]]:
    """No canary, and one rank loses half of its time when the operation is slow."""
    return None, (0.01, 0.5 if _is_slow(values) else 0.02)


def _judge(folder: Path, values: Series, look: Look | None, launches: int = 10) -> tuple[Row, dict[str, str]]:
    point = FakePoint("mpi.bcast", values, look=look)
    measured = load(write_folder(folder / "out", [point], launches=launches))
    rows = rows_of(measured)
    return rows[0], {doubt.name: doubt.evidence for doubt in doubts(measured, rows)}


@pytest.mark.parametrize("values", [either(FAST, SLOW), regimes(FAST, SLOW, dwell=500, count=6000)])
@pytest.mark.parametrize(
    ("look", "layer", "check", "words"),
    [
        (follows, "below", "modes-below", "below MPI: a cache line took 5"),
        (still, "above", "modes-above", "in the MPI library or its processes: a cache line took 5"),
        (loses, "noise", "modes-outside", "lost 2 % of its time in the fast mode and 50 % in the slow one"),
        (None, None, None, ""),
    ],
)
def test_modes_are_blamed_on_a_layer(
    tmp_path: Path, values: Series, look: Look | None, layer: str | None, check: str | None, words: str
) -> None:
    row, found = _judge(tmp_path, values, look)
    assert len(row.modes) == 2
    assert row.blame == layer
    assert {name for name in found if name.startswith("modes-")} == ({check} if check else set())
    assert check is None or words in found[check]


def test_each_mode_has_its_canary(tmp_path: Path) -> None:
    row, found = _judge(tmp_path, either(FAST, SLOW), follows)
    assert [mode.canary_ns for mode in row.modes] == pytest.approx([52, 235], rel=0.05)
    assert [mode.noise for mode in row.modes] == pytest.approx([0.02, 0.02])  # of the rank that lost most
    assert row.canary_ns is not None
    assert 50 < row.canary_ns < 235
    assert f"{row.modes[1].canary_ns:.3g} ns in the slow one" in found["modes-below"]


@pytest.mark.parametrize("launches", [1, 2, 4])
def test_few_launches_of_one_mode_each_prove_nothing(tmp_path: Path, launches: int) -> None:
    """Two launches in the slow mode could have met a slow canary by chance, however many looks they took."""
    row, _ = _judge(tmp_path, either(FAST, SLOW), follows, launches)
    assert row.blame is None


def test_one_mode_is_not_blamed_on_anything(tmp_path: Path) -> None:
    row, found = _judge(tmp_path, steady(FAST), still)
    assert (row.blame, len(row.modes)) == (None, 1)
    assert row.modes[0].canary_ns == pytest.approx(52, rel=0.05)
    assert not {name for name in found if name.startswith("modes")}


def test_a_canary_with_modes_of_its_own_is_seldom_taken_for_a_cause() -> None:
    rng = np.random.default_rng(7)
    modes = (Mode(FAST, 0.5), Mode(SLOW, 0.5))
    verdicts = []
    for _ in range(300):
        launches = []
        for _ in range(10):
            value = float(rng.choice([FAST, SLOW]))
            canary, noise = wanders(rng, np.array([value]))
            launches.append([observations.Look(value, canary, max(noise))] * 5)
        verdicts.append(blame(modes, launches).layer)
    assert verdicts.count("below") <= 0.04 * len(verdicts)
    assert verdicts.count("noise") == 0


def test_looks_that_follow_each_other_count_once() -> None:
    modes = (Mode(FAST, 0.5), Mode(SLOW, 0.5))
    fast, slow = observations.Look(FAST, 50.0, 0.0), observations.Look(SLOW, 200.0, 0.0)
    assert blame(modes, [[fast] * 50, [slow] * 50]).layer is None
    assert blame(modes, [[fast, slow] * 3]).layer == "below"
    assert blame(modes, [[fast, slow]] * 3).layer == "below"
    assert blame(modes, [[slow] * 9, [fast] * 9] * 3).layer == "below"


def test_a_look_without_a_canary_is_not_one_of_no_time() -> None:
    modes = (Mode(FAST, 0.5), Mode(SLOW, 0.5))
    fast, slow = observations.Look(FAST, 50.0, 0.0), observations.Look(SLOW, 200.0, 0.0)
    gap = observations.Look(SLOW, None, 0.0)
    found = blame(modes, [[fast, slow, gap], [fast, gap]] * 3)
    assert found.layer == "below"
    assert [one.canary for one in found.seen] == [50.0, 200.0]


@pytest.mark.parametrize(
    ("shares", "expected"),
    [([], None), ([0.25], 0.25), ([0.0, 0.5], 1 / 3), ([0.0] * 79 + [80 / 81], 0.5), ([1.0], 1.0)],
)
def test_time_lost_is_weighed_by_how_long_it_was(shares: list[float], expected: float | None) -> None:
    assert lost(shares) == (expected if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(
    ("larger", "smaller", "expected"),
    [
        ([4, 5, 6], [1, 2, 3], True),
        ([3.5, 5, 6], [1, 2, 4], False),  # eight of nine pairs: 10 % by chance
        ([4, 5], [1, 2, 3], False),
        ([1, 2, 3], [4, 5, 6], False),
        ([1.0] * 20, [1.0] * 20, False),
        ([], [1.0], False),
    ],
)
def test_rank_sums(larger: list[float], smaller: list[float], expected: bool) -> None:
    assert ranks_above(larger, smaller) == expected


def test_rank_sums_of_like_samples_differ_in_one_case_in_twenty() -> None:
    rng = np.random.default_rng(11)
    pairs = rng.standard_normal((2000, 2, 8))
    found = np.mean([ranks_above(one.tolist(), other.tolist()) for one, other in pairs])
    assert 0.03 <= float(found) <= 0.07
