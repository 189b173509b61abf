from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from made_results import recorded, rows
from made_stamps import COST_NS
from make_records import FakePoint, regimes, steady, write_folder
from record_lines import LINES
from steelyard.analyses.analysis import Made
from steelyard.export.export_input import Export, ExportedFolder
from steelyard.export.formats import FORMATS, results_document, write_results
from steelyard.records.schema import End
from steelyard.results.facets import ClockError, Messages, Modes, Ranks, Rate, RuleQuantile, Samples, Timer
from steelyard.results.load import load
from steelyard.results.rows import results, rows_of

CONTRACT_KEYS = [
    "point",
    "op",
    "method",
    "bytes",
    "ranks",
    "threads",
    "params",
    "placement",
    "mpi",
    "launch_count",
    "count",
    "rejected",
    "unit",
    "median",
    "ci_low",
    "ci_high",
    "ci_level",
    "ci_of",
    "min",
    "p5",
    "p90",
    "p95",
    "p99",
    "max",
    "mean",
    "bandwidth",
    "overhead",
    "clock_error_ns",
    "clock_bound_ns",
    "skew_ns",
    "slowest_rank",
    "yields_per_op",
    "modes",
    "flag",
    "verified",
    "status",
    "why",
]


def test_a_row_has_the_keys_of_the_contract(tmp_path: Path) -> None:
    (row,) = rows(tmp_path, FakePoint("mpi.bcast", steady(1000.0)))
    document = json.loads(msgspec.json.encode(results_document(ExportedFolder(tmp_path, Made((row,))))))
    assert set(CONTRACT_KEYS) <= set(document["points"][0])
    assert document["schema"] == 1
    assert document["out"] == str(tmp_path)


def test_the_value_of_an_observation_by_hand(tmp_path: Path) -> None:
    """(60000 - 0 - 27.4) / 128 / 2 and (60010 - 27.4) / 128 / 2: a ping-pong is one way."""
    (row,) = recorded(tmp_path, LINES)
    values = [(60000 - 27.4) / 256, (60010 - 27.4) / 256]
    assert row.median == pytest.approx(np.mean(values))
    assert (row.get(Samples).min, row.get(Samples).max) == pytest.approx(tuple(values))
    assert row.get(Timer).overhead == pytest.approx(27.4 / 256)
    assert row.get(Rate).bandwidth == pytest.approx(16 / (2 * np.mean(values)) * 1e9)
    assert row.get(Ranks).yields_per_op == pytest.approx((12 + 34) / (2 * 256))
    assert (row.placement, row.mpi, row.launch_count, row.count) == ("0|1", "openmpi-4.1.4", 1, 2)
    assert (row.get(Ranks).slowest_rank, row.ci_of, row.verified) == (None, "blocks", True)


def test_a_collective_takes_as_long_as_its_slowest_rank(tmp_path: Path) -> None:
    """Costs of the clock are subtracted rank by rank, before the largest is taken."""
    places = [
        LINES[1]["places"][0] | {"clock_cost_ns": 20.0},
        LINES[1]["places"][1] | {"clock_cost_ns": 30.0},
    ]
    obs = LINES[3] | {"start_ns": [[0, 0], [0, 0]], "stop_ns": [[1025, 2000], [1030, 3000]]}
    point = LINES[2] | {"report": "slowest", "reps": 1, "parts": 1, "moved_bytes": 0}
    (row,) = recorded(tmp_path, [LINES[0], LINES[1] | {"places": places}, point, obs, LINES[4]])
    assert (row.get(Samples).min, row.get(Samples).max) == (1005.0, 2970.0)
    assert row.get(Timer).overhead == 25.0
    assert row.get(Ranks).slowest_share == 0.5
    assert row.get(Rate).bandwidth is None


def test_many_launches_recover_the_truth(tmp_path: Path) -> None:
    (row,) = rows(tmp_path, FakePoint("mpi.bcast", steady(1000.0, between=0.02), ranks=3), launches=10)
    assert row.median == pytest.approx(1000, rel=0.03)
    assert row.ci_low is not None
    assert row.ci_high is not None
    assert row.ci_low <= 1000 <= row.ci_high
    assert row.ci_level == pytest.approx(0.9785, abs=1e-4)
    assert (row.ci_of, row.launch_count, row.count, row.get(Ranks).slowest_rank) == (
        "launches",
        10,
        20_000,
        2,
    )
    assert row.get(Timer).overhead == pytest.approx(COST_NS / 100)
    shape = [
        row.get(Samples).min,
        row.get(Samples).p5,
        row.median,
        row.get(Samples).p90,
        row.get(Samples).p95,
        row.get(Samples).p99,
        row.get(Samples).max,
    ]
    assert shape == sorted(shape, key=lambda value: value or 0)
    assert (row.flag, row.status, row.why) == ("SETTLED", "ok", None)
    assert [one.launch for one in row.launches] == list(range(1, 11))


def test_what_the_plan_asks_for_is_told_from_what_is_so_anyway(tmp_path: Path) -> None:
    point = FakePoint(
        "mpi.bandwidth", steady(1000.0), params={"window": 4.0}, usual={"buffers": 1.0}, role="bandwidth"
    )
    (row,) = rows(tmp_path, point, plan={"measure": [{"ops": ["*"], "method": "batch", "rule": None}]})
    assert row.params == {"window": 4.0, "buffers": 1.0}
    assert (row.asked, row.headline) == (("window", "method"), "bandwidth")


def test_records_without_a_plan_tell_nothing_of_what_was_asked(tmp_path: Path) -> None:
    (row,) = recorded(tmp_path, LINES)
    assert (row.params, row.asked, row.headline) == ({"window": 64}, (), "time")


def test_what_counts_its_operations_is_about_them(tmp_path: Path) -> None:
    """Also in records that were written before they told what a table is about."""
    (row,) = recorded(tmp_path, [*LINES[:2], LINES[2] | {"op": "npb.cg", "work": 1e6}, *LINES[3:]])
    assert row.headline == "operations"


def test_a_plan_that_is_none_asks_for_nothing(tmp_path: Path) -> None:
    (row,) = rows(tmp_path, FakePoint("mpi.bcast", steady(1000.0)), plan={"measure": "everything"})
    assert row.asked == ()


def test_one_launch_has_an_interval_of_blocks(tmp_path: Path) -> None:
    (row,) = rows(tmp_path, FakePoint("mpi.bcast", steady(1000.0)), launches=1)
    assert (row.ci_of, row.ci_level) == ("blocks", 0.95)
    assert row.ci_low == row.launches[0].ci_low


def drifting(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
    return np.asarray(np.linspace(1000, 1200, 2000) + rng.normal(0, 10, 2000))


def drifting_less(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
    """Launches drift by 1 %, and differ by 20 %."""
    return np.asarray(
        np.linspace(1000, 1010, 2000) * np.exp(0.2 * rng.standard_normal()) + rng.normal(0, 1, 2000)
    )


def drifting_seldom(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
    return drifting(rng, launch) if launch == 1 else steady(1100.0)(rng, launch)


def tailed(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
    return np.asarray(np.where(rng.random(2000) < 0.08, 5000.0, 1000.0) + rng.normal(0, 10, 2000))


@pytest.mark.parametrize(
    ("point", "flags"),
    [
        (FakePoint("mpi.bcast", steady(1000.0)), ("SETTLED",)),
        (FakePoint("mpi.bcast", steady(1000.0), flag="TIME"), ("TIME",)),
        (FakePoint("mpi.bcast", steady(1000.0), flag="UNSETTLED"), ("UNSETTLED",)),
        (FakePoint("mpi.bcast", regimes(200.0, 450.0)), ("NOISY",)),
        (FakePoint("mpi.bcast", tailed), ("NOISY",)),
        (FakePoint("mpi.bcast", drifting), ("DRIFT",)),
        (FakePoint("mpi.bcast", drifting, flag="TIME"), ("TIME", "DRIFT")),
        (FakePoint("mpi.bcast", drifting_less), ("SETTLED",)),
        (FakePoint("mpi.bcast", drifting_seldom), ("SETTLED",)),
    ],
)
def test_flags(tmp_path: Path, point: FakePoint, flags: tuple[str, ...]) -> None:
    (row,) = rows(tmp_path, point)
    assert row.flags == flags
    assert row.flag == flags[0]


def test_the_quantile_of_the_rule_has_an_interval(tmp_path: Path) -> None:
    """p90 of lognormal times: over launches of the launches' own, in one launch of its blocks."""
    point = FakePoint(
        "mpi.bcast", steady(1000, between=0.01), rule="quantile", rule_params={"tolerance": 0.02, "q": 0.9}
    )
    truth = 1000 * np.exp(0.05 * 1.2816)
    for launches in (6, 1):
        (row,) = rows(tmp_path / str(launches), point, launches=launches)
        assert (row.rule, row.get(RuleQuantile).quantile) == ("quantile", 0.9)
        asked = row.get(RuleQuantile)
        assert asked.quantile_low is not None
        assert asked.quantile_value is not None
        assert asked.quantile_high is not None
        assert asked.quantile_low < asked.quantile_value < asked.quantile_high
        assert row.get(RuleQuantile).quantile_value == pytest.approx(truth, rel=0.03)
        own = [one.quantile_value for one in row.launches]
        assert all(one is not None for one in own)
        assert row.get(RuleQuantile).quantile_value == pytest.approx(np.median(np.array(own, dtype=float)))
    assert (row.launches[0].quantile_low, row.launches[0].quantile_high) == (
        row.get(RuleQuantile).quantile_low,
        row.get(RuleQuantile).quantile_high,
    )


def test_a_quantile_that_too_few_values_lie_beyond_has_no_interval(tmp_path: Path) -> None:
    point = FakePoint("mpi.bcast", steady(1000), rule="quantile", rule_params={"q": 0.99})
    (row,) = rows(tmp_path, point, launches=1)
    assert (
        row.get(RuleQuantile).quantile,
        row.get(RuleQuantile).quantile_low,
        row.get(RuleQuantile).quantile_high,
    ) == (0.99, None, None)
    assert row.get(RuleQuantile).quantile_value == pytest.approx(1000 * np.exp(0.05 * 2.33), rel=0.1)
    (plain,) = rows(tmp_path / "plain", FakePoint("mpi.bcast", steady(1000)), launches=1)
    assert (
        plain.get(RuleQuantile).quantile,
        plain.get(RuleQuantile).quantile_value,
        plain.launches[0].quantile_value,
    ) == (None, None, None)


def test_modes_have_values_and_shares(tmp_path: Path) -> None:
    (row,) = rows(tmp_path, FakePoint("mpi.bcast", regimes(200.0, 450.0)))
    assert [mode.value for mode in row.get(Modes).modes] == pytest.approx([200, 450], rel=0.03)
    assert sum(mode.share for mode in row.get(Modes).modes) == pytest.approx(1)


def test_verified_and_rejected_are_told(tmp_path: Path) -> None:
    (row,) = rows(tmp_path, FakePoint("mpi.bcast", steady(1000.0, count=200), rejected=3))
    assert (row.verified, row.rejected) == (True, 15)
    wrong = End(point=0, status="failed", why="wrong: byte 3 is 4, not 5", verified=False)
    (row,) = rows(tmp_path / "b", FakePoint("mpi.bcast", steady(1000.0), ends={1: wrong}), launches=1)
    assert (row.status, row.verified, row.median) == ("failed", None, None)


def test_placement_is_the_verified_binding(tmp_path: Path) -> None:
    (row,) = rows(
        tmp_path,
        FakePoint("mpi.bcast", steady(1000.0, count=50), ranks=3),
        cpus=lambda rank: f"{rank}-{rank + 1}",
    )
    assert row.placement == "0-1|1-2|2-3"


def test_written_results_are_whole_and_alike(tmp_path: Path) -> None:
    points = [
        FakePoint("mpi.bcast", regimes(200.0, 450.0)),
        FakePoint("mpi.scan", steady(9.0), ends={1: End(point=0, status="failed", why="hang")}),
    ]
    found = rows(tmp_path, *points, launches=2)
    write_results(ExportedFolder(tmp_path, Made(found)))
    write_results(ExportedFolder(tmp_path, Made(found)))
    assert {path.name for path in tmp_path.iterdir()} == {"out", "results.json", "results.csv"}
    document = json.loads((tmp_path / "results.json").read_text())
    table = list(csv.DictReader(io.StringIO((tmp_path / "results.csv").read_text())))
    assert (
        [row["op"] for row in document["points"]] == [row["op"] for row in table] == ["mpi.bcast", "mpi.scan"]
    )
    assert float(table[0]["median"]) == document["points"][0]["median"] == found[0].median
    assert table[1]["why"] == "hang (launch 1 of 2)"
    assert table[0]["launch_medians"].count(" ") == 1
    assert (
        FORMATS["csv"](Export((ExportedFolder(tmp_path, Made(found)),)))
        == (tmp_path / "results.csv").read_bytes()
    )


def test_rows_hold_at_the_level_asked_for(tmp_path: Path) -> None:
    measured = load(write_folder(tmp_path / "out", [FakePoint("mpi.bcast", steady(1000.0))], launches=3))
    widths = [
        (row.ci_high or 0) - (row.ci_low or 0) for level in (0.9, 0.99) for row in rows_of(measured, level)
    ]
    assert widths[0] < widths[1]


def test_p99_has_an_interval_over_launches(tmp_path: Path) -> None:
    """For lognormal times of 10 %: exp(0.2326); none where a launch has fewer than a thousand samples."""
    truth = 1000.0 * math.exp(0.1 * 2.3263)
    point = FakePoint("mpi.bcast", lambda rng, _: 1000.0 * rng.lognormal(0, 0.1, 4000))
    samples = rows(tmp_path / "long", point, launches=6)[0].get(Samples)
    assert samples.p99_low is not None
    assert samples.p99_high is not None
    assert samples.p99_low < truth < samples.p99_high
    assert samples.p99_low <= (samples.p99 or 0) <= samples.p99_high
    short = FakePoint("mpi.bcast", lambda rng, _: 1000.0 * rng.lognormal(0, 0.1, 400))
    assert rows(tmp_path / "short", short, launches=6)[0].get(Samples).p99_low is None


def test_a_long_launch_weighs_as_much_as_a_short_one(tmp_path: Path) -> None:
    """The first of three launches has thirty times the samples: messages take longer, and rank 0 is last."""

    def there_and_back(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
        pair, count = ([900.0, 1200.0], 3000) if launch == 1 else ([300.0, 600.0], 100)
        return np.tile(pair, count) * np.exp(0.01 * rng.standard_normal(2 * count))

    def last(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
        return 1e3 * np.exp(0.01 * rng.standard_normal(3000 if launch == 1 else 100))

    messages = FakePoint(
        "mpi.pingpong", there_and_back, reps=1, report="message", method="each", clock_error=9.0
    )
    (row,) = rows(tmp_path / "ways", messages, launches=3)
    assert row.get(Messages).ways == pytest.approx((300, 600), rel=0.03)
    paces = iter([(1.0, 0.5), (0.5, 1.0), (0.5, 1.0)])
    (row,) = rows(tmp_path / "last", FakePoint("mpi.bcast", last, paces=lambda _: next(paces)), launches=3)
    assert row.get(Ranks).slowest_rank == 1
    assert row.get(Ranks).slowest_share == pytest.approx(2 / 3)


def test_the_error_of_a_clock_adds_to_the_larger_side_of_the_interval(tmp_path: Path) -> None:
    """Of launches that are ever further above, half the interval is less than the side above."""

    def skewed(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
        return 1e3 * (1.0 + 0.002 * launch**2) * np.exp(0.001 * rng.standard_normal(500))

    (row,) = rows(tmp_path, FakePoint("mpi.bcast", skewed, method="epoch", clock_error=20.0), launches=6)
    assert row.time is not None
    assert row.time_low is not None
    assert row.time_high is not None
    above, below = row.time_high - row.time, row.time - row.time_low
    assert above > 1.2 * below
    assert row.get(ClockError).clock_error_ns == 40.0  # of two ranks
    assert row.get(ClockError).error_ns == pytest.approx(above + 40.0)


def test_0_bytes_are_a_size_where_others_of_the_op_have_one(tmp_path: Path) -> None:
    """Folders from before campaign.json had ops say it by their other sizes alone."""
    points = [FakePoint("mpi.pingpong", steady(100.0), bytes=size) for size in (0, 8)]
    found = rows(tmp_path, *points, FakePoint("mpi.barrier", steady(100.0), bytes=0))
    assert [row.sized for row in found] == [True, True, False]


@pytest.mark.parametrize(
    ("op", "kept"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
        ("@SUM(1)", "'@SUM(1)"),
        ("-5+cmd", "'-5+cmd"),
        ("mpi.bcast", "mpi.bcast"),
    ],
)
def test_no_cell_of_the_csv_is_a_formula(tmp_path: Path, op: str, kept: str) -> None:
    folder = write_folder(tmp_path / "out", [FakePoint(op, steady(1000.0, count=50))], launches=1)
    text = FORMATS["csv"](Export((ExportedFolder(folder, Made(results(folder))),))).decode()
    (row,) = csv.DictReader(io.StringIO(text))
    assert row["op"] == kept
    assert float(row["median"]) > 0
