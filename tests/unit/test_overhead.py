"""Overheads: the estimator against truths that are known, and how it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace as renew

from flat_rows import flat_row
from further import further
from steelyard.render.table import NOTHING
from steelyard.results.facets import ReferenceOverhead
from steelyard.results.overhead import overhead, with_overheads
from steelyard.results.row import Row, RowLaunch
from steelyard.rows.columns import COLUMNS
from steelyard.rows.words import overhead_words
from steelyard.stats import block_interval
from steelyard.stats.interval import Estimate

Floats = np.ndarray[Any, np.dtype[np.float64]]
Draw = Callable[[np.random.Generator, int], Floats]


def _row(point: int, launches: dict[int, Estimate], reference: int | None = None, op: str = "x.y") -> Row:
    """A row with a median and an interval for each launch."""
    said = tuple(
        RowLaunch(
            launch=number,
            status="ok",
            why=None,
            flag="SETTLED",
            count=1,
            rejected=0,
            reps=1,
            median=one.value,
            ci_low=one.low,
            ci_high=one.high,
            lag1=None,
            drift=False,
        )
        for number, one in launches.items()
    )
    return flat_row(
        point=point,
        op=op,
        method="batch",
        bytes=0,
        ranks=1,
        threads=1,
        params={},
        placement=None,
        mpi=None,
        launch_count=len(said),
        count=1,
        rejected=0,
        median=float(np.median([one.value for one in launches.values()])),
        reference_point=reference,
        launches=said,
    )


def _plain(values: dict[int, float]) -> dict[int, Estimate]:
    return {launch: Estimate(value, value - 1, value + 1, 0.95, 9, "t") for launch, value in values.items()}


# ---- the estimator -----------------------------------------------------------------------------------------


def test_what_a_launch_does_to_both_goes_out() -> None:
    """Launches differ by a factor of ten, the overhead is 50 in each."""
    reference = {launch: 100.0 * launch for launch in range(1, 11)}
    construct = {launch: value + 50 + 0.1 * (launch % 3) for launch, value in reference.items()}
    found = overhead(_row(0, _plain(construct), 1), _row(1, _plain(reference)))
    assert found is not None
    assert found.value == pytest.approx(50.1, abs=0.1)
    assert 49.9 < found.low <= found.value <= found.high < 50.3


def test_only_launches_that_measured_both_count() -> None:
    found = overhead(_row(0, _plain({1: 150.0, 2: 999.0}), 1), _row(1, _plain({1: 100.0, 3: 1.0})))
    assert found is not None
    assert (found.value, found.n, found.kind) == (50.0, 1, "two intervals")
    assert (found.low, found.high) == pytest.approx((50 - 2**0.5, 50 + 2**0.5))
    assert overhead(_row(0, _plain({1: 150.0}), 1), _row(1, _plain({2: 100.0}))) is None


def test_rows_get_what_they_take_beyond_their_references() -> None:
    rows = with_overheads([_row(0, _plain({1: 150.0, 2: 152.0}), 1), _row(1, _plain({1: 100.0, 2: 101.0}))])
    assert (
        rows[0].get(ReferenceOverhead).reference,
        rows[0].get(ReferenceOverhead).corrected,
        rows[0].get(ReferenceOverhead).corrected_of,
    ) == ("x.y", 50.5, "launches")
    assert rows[0].median == 151.0  # the raw value stays
    assert rows[1].get(ReferenceOverhead).corrected is None
    alone = with_overheads([_row(0, _plain({1: 150.0}), 7)])
    assert alone[0].get(ReferenceOverhead).corrected is None


def test_the_overhead_is_never_more_than_the_raw_value() -> None:
    """One launch of three in a mode of its own: the mean of the differences would be 4.3 us, of 367 ns."""
    construct, reference = {1: 360.0, 2: 367.0, 3: 13_000.0}, {1: 250.0, 2: 251.0, 3: 249.0}
    (row, _) = with_overheads([_row(0, _plain(construct), 1), _row(1, _plain(reference))])
    beyond = row.get(ReferenceOverhead)
    assert row.median == 367.0
    assert beyond.corrected == 116.0
    assert beyond.corrected_low is not None
    assert beyond.corrected_high is not None
    assert beyond.corrected_low < 0 < beyond.corrected < beyond.corrected_high
    assert beyond.above is None


@pytest.mark.parametrize("launches", [2, 3, 4, 5, 6, 10, 20])
def test_one_estimator_for_any_number_of_launches(launches: int) -> None:
    """The median of the differences, which the greatest of them does not move, with an interval around it."""
    rng = np.random.default_rng(launches)
    reference = dict(enumerate(100 + rng.random(launches)))
    construct = {launch: value + 50 + rng.random() for launch, value in reference.items()}
    differences = [construct[launch] - reference[launch] for launch in reference]
    found = overhead(_row(0, _plain(construct), 1), _row(1, _plain(reference)))
    assert found is not None
    assert found.value == pytest.approx(float(np.median(differences)))
    assert found.low <= found.value <= found.high
    assert found.kind == ("t" if launches < 6 else "ranks")


def _normal(rng: np.random.Generator, count: int) -> Floats:
    return rng.standard_normal(count)


def _skewed(rng: np.random.Generator, count: int) -> Floats:
    """A long tail to one side, as times have."""
    return np.exp(rng.standard_normal(count))


def _wild(rng: np.random.Generator, count: int) -> Floats:
    return rng.standard_t(2, count)


def _bimodal(rng: np.random.Generator, count: int) -> Floats:
    """Three launches of ten are in a mode that costs 20 more."""
    return 20.0 * (rng.random(count) < 0.3) + rng.standard_normal(count)


@pytest.mark.parametrize("launches", [2, further(3), 5, further(10), further(20)])
@pytest.mark.parametrize("draw", [_normal, _skewed, _wild, _bimodal])
@pytest.mark.parametrize("true", [0.0, 30.0])
def test_the_interval_covers_the_truth(launches: int, draw: Draw, true: float) -> None:
    """A reference against itself covers zero in 95 % or more, and a known overhead is covered as often.

    Launches have effects of their own, far larger than the noise, that both share. Few differences with wild
    tails are covered more often, never less; so are ten, whose order statistics are for 97.9 %.
    """
    rng = np.random.default_rng(launches)
    runs, covered = 600, 0
    for _ in range(runs):
        shared = 1000 + 200 * draw(rng, launches)
        found = _overhead(shared + true + draw(rng, launches), shared + draw(rng, launches))
        covered += found.low <= true <= found.high
    assert covered / runs >= 0.93


@pytest.mark.parametrize(("launches", "least"), [(2, 0.87), (3, 0.87), (5, 0.87), (10, 0.95), (20, 0.93)])
def test_differences_that_are_not_symmetric(launches: int, least: float) -> None:
    """The construct alone has a long tail. From six launches on nothing is assumed; Student's t does."""
    rng = np.random.default_rng(launches)
    runs, covered = 600, 0
    for _ in range(runs):
        found = _overhead(100 + np.exp(rng.standard_normal(launches)), np.full(launches, 60.0))
        covered += found.low <= 41.0 <= found.high
    assert covered / runs >= least


def _overhead(construct: Floats, reference: Floats) -> Estimate:
    one, two = (_row(0, _plain(dict(enumerate(values.tolist()))), 1) for values in (construct, reference))
    found = overhead(one, two)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("value", "low", "high", "words", "above"),
    [
        (4.32, 4.1, 4.51, ("4.32 ns", "4.10 – 4.51 ns"), 4.32),
        (116.0, -13e3, 21.6e3, ("≤ 21.6 us", "-"), None),
        (-0.334, -0.339, -0.329, ("none", "-"), None),
        (0.0, 0.0, 0.0, ("none", "-"), None),
        (4.32, -1.0, None, ("unknown", "-"), None),
        (4.32, None, None, ("4.32 ns", "-"), 4.32),  # one launch without an interval
        (None, None, None, ("-", "-"), None),
    ],
)
def test_what_is_not_above_the_reference_has_no_number(
    value: float | None, low: float | None, high: float | None, words: tuple[str, str], above: float | None
) -> None:
    beyond = ReferenceOverhead(reference="x", corrected=value, corrected_low=low, corrected_high=high)
    assert overhead_words(beyond) == words
    assert beyond.above == above


def test_one_launch_against_itself_covers_zero() -> None:
    """From the intervals of two series of a launch."""
    rng = np.random.default_rng(5)
    runs, covered = 800, 0
    for _ in range(runs):
        one, two = (block_interval(100 + np.exp(rng.standard_normal(256))).estimate for _ in range(2))
        found = overhead(_row(0, {1: one}, 1), _row(1, {1: two}))
        assert found is not None
        covered += found.low <= 0 <= found.high
    assert 0.92 <= covered / runs <= 0.98


def test_a_column_of_overheads_only_where_there_are_some() -> None:
    column = next(one for one in COLUMNS if one.name == "overhead")
    plain, call = _row(0, _plain({1: 150.0})), _row(1, _plain({1: 150.0}))
    assert column.cell(plain) == NOTHING
    above = ReferenceOverhead(reference="r", corrected=120.0, corrected_low=114.0, corrected_high=126.0)
    assert column.cell(renew(call, facets=(*call.facets, above))) == "120 ns ± 5.0 %"
    not_above = ReferenceOverhead(reference="r", corrected=120.0, corrected_low=-9.0, corrected_high=126.0)
    assert column.cell(renew(call, facets=(*call.facets, not_above))) == "≤ 126 ns"
