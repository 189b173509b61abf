"""Processes as machines have them, planted and read as `show` reads them: what is printed holds.

The tables of the pages have more rounds: `benchmarks/referee.py`.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from further import further
from loaded import load_benchmark
from planted import BEGAN_NS, HOUR_NS, measured, planted
from steelyard.analyses.overview import header_lines
from steelyard.judges.compare.scale import FASTER, SLOWER
from steelyard.results.combined import combine
from steelyard.results.facets import LaunchGrouping, Samples
from steelyard.results.row import INDEPENDENT, Row
from steelyard.results.rows import rows_of
from steelyard.results.sittings import sittings_of
from steelyard.rows.figure_groups import Shown
from steelyard.rows.row_words import remarks
from steelyard.stats import Interval
from steelyard.stats.autocorrelation import Likeness

for needed in ("coverage_table", "coverage_derived"):
    load_benchmark(needed)
referee = load_benchmark("referee")
ROUNDS = 40  # a share of 0.96 is then 0.85 or more but once in a thousand times
LEAST = 0.85


@pytest.mark.parametrize("launches", [5, further(10)])
@pytest.mark.parametrize(
    "name",
    [
        "independent, 3 %",
        "samples: Pareto 1.2",
        "samples: ticks of 100 ns",
        "samples: spells in one launch of ten",
        "samples: +20 % from a random instant on",
        "launches: t with 2 degrees",
        "launches: modes 70/30 x 1.3",
        "launches: modes 70/30 x 2",
        "two sittings, 3 %",
        "five sittings, 10 %",
        "launches: AR(1), 0.4",
    ],
)
def test_time_and_p99_hold_in_what_is_planted(name: str, launches: int) -> None:
    for found in referee.rows_held(referee.WORLDS[name], launches, ROUNDS):
        assert found.given == 1
        assert found.held >= LEAST


@pytest.mark.further
@pytest.mark.parametrize("name", ["launches: modes 70/30 x 1.3", "five hosts by turns, 3 %"])
def test_many_launches_hold_no_less_often(name: str) -> None:
    for found in referee.rows_held(referee.WORLDS[name], 30, 40):
        assert found.held >= 0.84


def row_of(logs: list[float], **where: object) -> Row:
    rng = np.random.default_rng(1)
    samples = [1000 * math.exp(one) * rng.lognormal(0, 0.05, 1200) for one in logs]
    return rows_of(measured([planted(samples, **where)]))[0]  # type: ignore[arg-type]


def test_p99_is_the_median_of_the_launches_own() -> None:
    """One launch of ten that takes three times as long is not 1 % of what a launch does."""
    row = row_of([0.0] * 9 + [math.log(3)])
    own = row.get(Samples)
    assert own.p99 == pytest.approx(1000 * math.exp(0.05 * 2.3263), rel=0.02)
    assert (own.p99_low or 0) < (own.p99 or 0) < (own.p99_high or 0) < 1200
    order = [own.min, own.p5, row.median, own.p90, own.p95, own.p99, own.max]
    assert order == sorted(order, key=lambda value: value or 0)


def test_the_time_is_the_median_whatever_modes_are_found() -> None:
    """Fourteen launches at 1 us, six at 2 us: the median is told, and the modes beside it."""
    row = row_of(([0.0] * 7 + [math.log(2)] * 3) * 2)
    assert (row.time, row.time_low, row.time_high) == (row.median, row.ci_low, row.ci_high)
    assert "in 70 % of launches" in "; ".join(one.text for one in remarks(row))


def test_a_long_gap_ends_a_sitting() -> None:
    """Launches a second apart, then nine hours later; launches that were spread evenly are one sitting."""
    second = 1_000_000_000
    night = [BEGAN_NS + k * second for k in range(4)]
    assert sittings_of([*night, *(one + 9 * HOUR_NS for one in night)]) == (0,) * 4 + (1,) * 4
    assert sittings_of([night[0], night[1], night[2] + HOUR_NS]) == (0, 0, 1)
    assert sittings_of([BEGAN_NS + k * HOUR_NS for k in range(10)]) == (0,) * 10
    assert sittings_of([0, 0, 0]) == (0, 0, 0)
    late = sittings_of([night[0], night[1] + HOUR_NS, night[1], night[2]])  # in the order of launches
    assert late == (0, 1, 0, 0)


def test_two_sittings_know_little_of_the_next() -> None:
    """Twenty launches that agree inside each sitting, and differ by 6 % between them."""
    rng = np.random.default_rng(2)
    logs = [0.06 * (k // 10) + 0.005 * rng.standard_normal() for k in range(20)]
    began = [BEGAN_NS + (k // 10) * 9 * HOUR_NS + k * 1_000_000_000 for k in range(20)]
    row = row_of(logs, began_ns=began)
    half = math.log((row.time_high or 0) / (row.time_low or 1)) / 2
    assert half == pytest.approx(15.5 * 0.03, rel=0.1)  # Student's t with one degree of freedom, 95.9 %
    assert row.get(LaunchGrouping).sittings == 2
    assert "2 sittings only" in [one.text for one in remarks(row)]
    assert "sittings" not in str(remarks(row_of(logs)))


def test_hosts_that_take_turns_are_groups() -> None:
    rng = np.random.default_rng(3)
    logs = [0.1 * (k % 3) + 0.005 * rng.standard_normal() for k in range(12)]
    row = row_of(logs, hosts=[f"n{k % 3}" for k in range(12)])
    assert row.get(LaunchGrouping).host_sets == 3
    assert "3 hosts by turns only" in [one.text for one in remarks(row)]
    assert (row.time_high or 0) / (row.time_low or 1) > 1.4
    assert row_of(logs, hosts=[f"n{k}" for k in range(12)]).get(LaunchGrouping).host_sets is None


def test_what_the_referee_reads_is_what_the_row_says() -> None:
    row = row_of([0.0, 0.1, 0.2])
    found = referee.row_interval(row, 0.5)
    assert (found.value, found.low, found.high) == (row.time, row.time_low, row.time_high)
    assert referee.row_interval(row, 0.99).low == row.get(Samples).p99_low


@pytest.mark.parametrize("seed", [0, further(1), further(2)])
def test_quantiles_of_arms_and_nights_are_judged_as_planted(seed: int) -> None:
    """A tail that is half as long again is found by twelve pairs and twelve nights; equals do not alarm."""
    world = referee.TAILS["samples: 3 % take 1.5 times as long"]
    equal, longer = (referee.compared(world, 12, effect, seed, 0.99) for effect in (0.0, 0.5))
    assert longer.points[0].verdict == SLOWER
    assert not {SLOWER, FASTER} & {one.verdict for one in (*equal.points, *longer.points[1:])}
    calm, longer = (referee.checked(world, 12, effect, seed) for effect in (0.0, 0.5))
    assert longer.points[0].verdict == SLOWER
    assert not {SLOWER, FASTER} & {one.verdict for one in (*calm.points, *longer.points[1:])}


@pytest.mark.parametrize(
    ("launches", "cases", "assumed"),
    [(10, 1, None), (1, 1, None), (3, 1, INDEPENDENT), (3, 20, None), (2, 20, INDEPENDENT)],
)
def test_an_interval_says_what_it_assumes_of_few_launches(
    launches: int, cases: int, assumed: str | None
) -> None:
    """Three launches of one test case do not show whether they are alike; those of twenty do."""
    logs = np.random.default_rng(4).normal(0, 0.03, (cases, launches, 1))
    samples = 1000.0 * np.exp(logs + np.array([-0.01, 0.0, 0.01]))
    points = [planted(list(one), point=k, size=8 << k) for k, one in enumerate(samples)]
    rows = rows_of(measured(points))
    assert {row.ci_if for row in rows} == {assumed}
    (line,) = header_lines((), [Shown(*both, "x") for both in zip(rows, points, strict=True)])
    assert ("(± if they are independent)" in line) == (assumed is not None)


def test_intervals_of_launches_that_stay_in_modes_reach_to_the_other_and_say_so() -> None:
    """Forty test cases of six launches; a third become slow at some launch, a third fast, a third stay."""
    rng = np.random.default_rng(6)
    order, begins, way = np.arange(6), rng.integers(1, 6, 40)[:, None], np.arange(40)[:, None] % 3
    is_slow = ((way == 0) & (order >= begins)) | ((way == 1) & (order < begins))
    medians = 1000.0 * np.exp(0.01 * rng.standard_normal((40, 6))) * (1 + is_slow)
    samples = [[one * np.array([0.99, 1.0, 1.01]) for one in own] for own in medians]
    rows = rows_of(measured([planted(one, point=k, size=8 << k) for k, one in enumerate(samples)]))
    near = [max(own) / min(own) < 1.3 for own in medians]
    assert {row.apart is not None for row, is_near in zip(rows, near, strict=True) if is_near} == {True}
    assert {row.apart for row, is_near in zip(rows, near, strict=True) if not is_near} == {None}
    for row in rows:
        said = "± reaches to a mode 2" in " ".join(one.text for one in remarks(row))
        assert said == (row.apart is not None)
        assert (row.time_low or 0.0) <= 1000.0 * 1.03
        assert (row.time_high or 0.0) >= 2000.0 / 1.03


def test_bounds_make_no_interval_of_shares_where_launches_stay_in_modes() -> None:
    cells = planted([[1000.0, 1001.0, 1002.0]] * 6).cells
    alike = Likeness(rho=0.8, series=40.0, apart=0.7)
    shares, combined = [0.2, 0.3, 0.5, 0.5, 0.7, 0.8], combine(cells, 0.95, alike=alike)
    assert combined.span(shares, logs=False, least=0.0, most=1.0) == Interval(0.5)
    assert combine(cells, 0.95).span(shares, least=0.1, most=1.0) == Interval(0.5, 0.1, 1.0)
    near = combined.span([0.50, 0.51, 0.49, 0.50, 0.505, 0.495], least=0.0, most=0.9)
    assert near.low == pytest.approx(0.5 / math.exp(0.7))
    assert near.high == 0.9


def test_launches_of_a_folder_are_alike_if_its_test_cases_together_show_it() -> None:
    """Ten test cases that drift, and one of the same launches by which nothing could be seen."""
    inside = np.array([0.99, 1.0, 1.01])
    calm = [[1000.0 * (1 + 0.01 * one) * inside for one in (0, 9, 1, 8, 2, 7, 3, 6, 4, 5)]]
    drifts = [[1000.0 * (1 + 0.01 * one) * inside for one in range(10)] for _ in range(10)]
    alone, beside = (
        rows_of(measured([planted(one, point=k, size=8 << k) for k, one in enumerate(cases)]))[0]
        for cases in (calm, calm + drifts)
    )
    assert alone.widened == 1
    assert beside.widened is not None
    assert beside.widened > 2
    assert (beside.time, beside.alike_p) == (alone.time, alone.alike_p)
