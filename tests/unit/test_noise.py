"""Noise: series whose noise is known, and what is said of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from steelyard.analyses.core_noise.tables import _core_cells
from steelyard.results.core_noise import (
    LENGTH_NAMES,
    CoreNoise,
    Peak,
    fundamentals,
    lengths_of,
    lost_by_time,
    lost_by_work,
)
from steelyard.rows.pictures.noise import thin
from steelyard.stats import spectrum, spectrum_peaks

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


def test_one_multiple_is_one() -> None:
    peaks = (Peak(100.0, 0.1), Peak(200.0, 0.1), Peak(137.0, 0.1))
    core = CoreNoise(
        rank=0, cpus="0", seconds=1.0, share=0.01, per_second=1.0, longest_ns=1e3, lengths={}, peaks=peaks
    )
    assert _core_cells(core)[-1] == "100 Hz and 1 multiple, 137 Hz"


def test_a_thin_series_keeps_the_worst() -> None:
    x = np.arange(1000.0)
    y = np.where(x == 777, 5.0, 0.0)
    few_x, few_y = thin(x, y, 10)
    assert few_x.size == 10
    assert few_y.max() == 5.0
    assert few_x[few_y.argmax()] == 777
