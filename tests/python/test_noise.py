"""Noise: series whose noise is known, what the engine's ops count, and what results make of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from campaigns import plan_of, run_plan, setup_of
from steelyard.engine import Engine, mpi_engine, solo_engine
from steelyard.errors import InputError
from steelyard.groups import Item, group_items
from steelyard.launch import plan_launch
from steelyard.machine import read_machine
from steelyard.mpi import Mpi
from steelyard.noise import (
    LENGTH_NAMES,
    Peak,
    fundamentals,
    lengths_of,
    lost_by_time,
    lost_by_work,
)
from steelyard.observations import load
from steelyard.plots import noise_figures
from steelyard.plots.noise import thin
from steelyard.process import run
from steelyard.reading import read_records
from steelyard.records import End, Obs
from steelyard.report import write_report
from steelyard.results import rows_of
from steelyard.results_files import results_csv
from steelyard.stats import spectrum, spectrum_peaks
from steelyard.wording import core_cells

QUANTUM = 250e-6  # s


def times(count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Starts of quanta back to back, some ns late each, with a pause of some ms after each hundred."""
    late = rng.uniform(0, 2e-6, count).cumsum()
    pauses = np.where(np.arange(count) % 100 == 0, rng.uniform(0.1e-3, 3e-3, count), 0.0).cumsum()
    return np.asarray(np.arange(count) * QUANTUM + late + pauses)


# ---- pure functions ----------------------------------------------------------------------------------------


def test_lost_work_is_what_is_beyond_the_shortest() -> None:
    took = np.array([[1000.0, 1500.0, 1000.0], [2000.0, 2000.0, 2600.0]])
    assert lost_by_work(took).tolist() == [[0.0, 500.0, 0.0], [0.0, 0.0, 600.0]]


def test_lost_time_is_what_the_units_did_not_need() -> None:
    """The best quantum did 100 units in 1000 ns; one that did 60 in 1200 ns needed 600."""
    lost = lost_by_time(np.array([[1000.0, 1200.0]]), np.array([[100.0, 60.0]]))
    assert lost == pytest.approx(np.array([[0.0, 600.0]]))


def test_the_share_of_a_known_noise_is_found() -> None:
    """A tenth of the quanta lose 30 % each: 3 % of the work, which is 0.03 / 1.03 of the time."""
    took = np.where(np.arange(1000) % 10 == 0, 1.3e6, 1e6)[None, :]
    lost = lost_by_work(took)
    assert lost.sum() / took.sum() == pytest.approx(0.03 / 1.03)
    lengths = lengths_of(lost[0], took[0])
    assert lengths == dict.fromkeys(LENGTH_NAMES, 0) | {"below_1ms": 100}


@pytest.mark.parametrize(
    ("lost", "name"),
    [
        (900.0, "below_1us"),
        (1000.0, "below_10us"),
        (5e4, "below_100us"),
        (9e6, "below_10ms"),
        (2e7, "longer"),
    ],
)
def test_pieces_are_counted_by_their_length(lost: float, name: str) -> None:
    found = lengths_of(np.array([lost]), np.array([max(lost, 1e5)]))
    assert found[name] == (1 if lost > 500.0 else 0)
    assert sum(found.values()) == found[name]


def test_what_clock_and_caches_make_of_a_quantum_is_no_disturbance() -> None:
    assert sum(lengths_of(np.array([400.0]), np.array([1e5])).values()) == 0


def test_a_tick_is_found_beside_rare_long_detours() -> None:
    """A tick of 250 Hz takes 2 us of a quantum in sixteen; now and then others take nearly all of one."""
    rng = np.random.default_rng(3)
    at = times(8000, rng)
    share = np.clip(rng.normal(0.004, 0.001, at.size), 0, None)
    hit = (at * 250.0) % 1.0 < QUANTUM * 250.0
    share[hit] += 0.008
    share[rng.integers(0, at.size, 60)] += rng.uniform(0.1, 0.9, 60)
    peaks = tuple(Peak(hz, amplitude / 2) for hz, amplitude in spectrum_peaks(at, share))
    (base, multiples), *others = fundamentals(peaks)
    assert base.hz == pytest.approx(250.0, rel=1e-3)
    assert multiples >= 3
    assert others == []
    assert 0 < base.share < 0.008 / 16 * 1.2  # a bound from below, of what the tick really takes


def test_two_periods_are_told_apart() -> None:
    rng = np.random.default_rng(4)
    at = times(8000, rng)
    share = 0.02 + 0.002 * np.sin(2 * np.pi * 100 * at) + 0.002 * np.sin(2 * np.pi * 137 * at)
    found = spectrum_peaks(at, share + rng.normal(0, 0.001, at.size))
    assert sorted(hz for hz, _ in found) == pytest.approx([100.0, 137.0], rel=1e-3)
    assert [amplitude for _, amplitude in found] == pytest.approx([0.002, 0.002], rel=0.15)


def test_white_noise_has_no_period() -> None:
    """Each of these has one by chance once in a thousand times; two of a hundred happen in 0.5 %."""
    rng = np.random.default_rng(5)
    at = QUANTUM * np.arange(2000.0)
    assert sum(bool(spectrum_peaks(at, rng.exponential(0.01, at.size))) for _ in range(100)) <= 1


@pytest.mark.parametrize("count", [0, 1, 63])
def test_too_few_samples_have_no_spectrum(count: int) -> None:
    hz, amplitude = spectrum(np.linspace(0, 1, count), np.ones(count))
    assert (hz.size, amplitude.size) == (0, 0)
    assert spectrum_peaks(np.linspace(0, 1, count), np.ones(count)) == ()


def test_a_series_without_any_noise_has_no_period() -> None:
    assert spectrum_peaks(np.linspace(0, 1, 1000), np.zeros(1000)) == ()


def test_multiples_are_told_from_other_frequencies() -> None:
    peaks = [Peak(hz, 0.1) for hz in (500.1, 250.0, 100.0, 750.2)]
    assert [(peak.hz, multiples) for peak, multiples in fundamentals(peaks)] == [(100.0, 1), (250.0, 1)]


def test_a_thin_series_keeps_the_worst() -> None:
    x = np.arange(1000.0)
    y = np.where(x == 777, 5.0, 0.0)
    few_x, few_y = thin(x, y, 10)
    assert few_x.size == 10
    assert few_y.max() == 5.0
    assert few_x[few_y.argmax()] == 777


# ---- the engine's ops --------------------------------------------------------------------------------------


def _solo() -> Engine:
    try:
        return solo_engine()
    except InputError as error:
        pytest.skip(str(error))


def _measure(engine: Engine, out: Path, ranks: int, *words: str) -> tuple[list[Obs], End]:
    launch = plan_launch(engine, ranks, 1, read_machine(), oversubscribe=True)
    command = [*launch.argv_prefix, engine.path, "run", *launch.engine_args, "--out", str(out), *words]
    done = run(command, env=os.environ | launch.environment, timeout=600)
    assert done.code == 0, done.err
    records = read_records(out).records
    (end,) = (record for record in records if isinstance(record, End))
    return [record for record in records if isinstance(record, Obs)], end


def test_each_quantum_of_time_counts_its_units(tmp_path: Path) -> None:
    chunks, end = _measure(_solo(), tmp_path / "out", 1, "op=noise.ftq", "rule=fixed", "count=200")
    assert (end.status, end.verified, end.count) == ("ok", True, 200)
    units = [count for chunk in chunks for count in chunk.counts["units"][0]]
    took = [b - a for chunk in chunks for a, b in zip(chunk.start_ns[0], chunk.stop_ns[0], strict=True)]
    assert len(units) == 200
    assert min(units) >= 1
    assert min(took) >= 250_000  # never shorter than the quantum, whatever else runs


def test_detours_are_what_is_lost_and_no_more(tmp_path: Path) -> None:
    words = ("op=noise.selfish", "rule=fixed", "count=100", "spin_us=500")
    chunks, end = _measure(_solo(), tmp_path / "out", 1, *words)
    assert (end.status, end.verified) == ("ok", True)
    for chunk in chunks:
        assert set(chunk.counts) == {*LENGTH_NAMES, "lost_ns", "longest_ns"}
        for i in range(chunk.count):
            one = {name: rows[0][i] for name, rows in chunk.counts.items()}
            detours = sum(one[name] for name in LENGTH_NAMES)
            took = chunk.stop_ns[0][i] - chunk.start_ns[0][i]
            assert took >= 500_000
            assert one["longest_ns"] <= one["lost_ns"] <= took
            assert (detours == 0) == (one["lost_ns"] == 0)


@pytest.mark.parametrize("op", ["noise.fwq", "noise.ftq", "noise.selfish"])
def test_the_check_can_fail(tmp_path: Path, op: str) -> None:
    _, end = _measure(_solo(), tmp_path / "out", 1, f"op={op}", "rule=fixed", "count=2", "plant=0")
    assert end.status == "failed"
    assert end.why is not None
    assert end.why.startswith("wrong: rank 0")


def test_a_threshold_below_a_reading_of_the_clock_is_refused(tmp_path: Path) -> None:
    words = ("op=noise.selfish", "rule=fixed", "count=2", "threshold_ns=50")
    _, end = _measure(_solo(), tmp_path / "out", 1, *words)
    if end.status == "ok":
        pytest.skip("this clock is read in less than 17 ns")
    assert end.status == "skipped"
    assert "set threshold_ns to" in (end.why or "")


def test_each_rank_counts_for_its_core(mpi: Mpi, tmp_path: Path) -> None:
    words = ("op=noise.ftq", "rule=fixed", "count=20")
    chunks, end = _measure(mpi_engine(mpi), tmp_path / "out", 2, *words)
    assert (end.status, end.verified) == ("ok", True)
    assert all(len(chunk.counts["units"]) == 2 for chunk in chunks)


# ---- results and report ------------------------------------------------------------------------------------


def test_results_tables_and_pictures(tmp_path: Path) -> None:
    plan = plan_of("noise.*", params={"count": 300.0})
    run_plan(tmp_path / "out", plan, setup_of())
    measured = load(tmp_path / "out")
    rows = {row.op: row for row in rows_of(measured)}
    assert set(rows) == {"noise.fwq", "noise.ftq", "noise.selfish"}
    for row in rows.values():
        (core,) = row.cores
        assert 0 <= core.share < 1
        assert core.per_second * core.seconds == pytest.approx(sum(core.lengths.values()))
        (cells,) = core_cells(row)
        assert cells[1] == "0"
    assert "0:" in results_csv(tuple(rows.values()))
    items = [Item(row, point, "") for row, point in zip(rows_of(measured), measured.points, strict=True)]
    titles: list[Any] = [plot.title.text for group in group_items(items) for plot in noise_figures(group)]
    assert len(titles) == 7
    page = write_report([tmp_path / "out"], tmp_path / "page.html").read_text()
    assert "Noise of each core" in page
