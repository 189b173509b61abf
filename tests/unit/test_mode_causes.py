"""What looks at the machine make of several modes: made-up records, and looks by hand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from further import further
from make_records import FakePoint, Look, Series, either, regimes, steady, write_folder
from steelyard.diagnostics.results import diagnostics
from steelyard.records.job_file import append_records
from steelyard.records.parts import Busy
from steelyard.records.schema import Record, State, Watch
from steelyard.results import values as observations
from steelyard.results.facets import Modes
from steelyard.results.load import load
from steelyard.results.mode_cause import Blame, LooksSaw, blame, lost
from steelyard.results.row import Row
from steelyard.results.rows import rows_of
from steelyard.stats import Mode

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
    return rows[0], {one.name: one.evidence for one in diagnostics(measured, rows)}


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
    assert len(row.get(Modes).modes) == 2
    assert row.get(Modes).blame == layer
    assert {name for name in found if name.startswith("modes-")} == ({check} if check else set())
    assert check is None or words in found[check]
    ratio = row.get(Modes).canary_ratio
    assert (ratio is None) == (look in (None, loses))
    if ratio is not None:
        assert (ratio.low or 0) < ratio.value < (ratio.high or 0)
        assert f"({ratio.low:.2f} to {ratio.high:.2f} times as long)" in found[check or ""]


def test_each_mode_has_its_canary(tmp_path: Path) -> None:
    row, found = _judge(tmp_path, either(FAST, SLOW), follows)
    assert [mode.canary_ns for mode in row.get(Modes).modes] == pytest.approx([52, 235], rel=0.05)
    assert [mode.noise for mode in row.get(Modes).modes] == pytest.approx(
        [0.02, 0.02]
    )  # of the rank that lost most
    assert 50 < (row.get(Modes).canary_ns or 0) < 235
    assert f"{row.get(Modes).modes[1].canary_ns:.3g} ns in the slow one" in found["modes-below"]


@pytest.mark.parametrize("launches", [1, 2, 4])
def test_few_launches_of_one_mode_each_prove_nothing(tmp_path: Path, launches: int) -> None:
    """Two launches in the slow mode could have met a slow canary by chance, however many looks they took."""
    row, _ = _judge(tmp_path, either(FAST, SLOW), follows, launches)
    assert row.get(Modes).blame is None


def test_one_mode_is_not_blamed_on_anything(tmp_path: Path) -> None:
    row, found = _judge(tmp_path, steady(FAST), still)
    assert (row.get(Modes).blame, len(row.get(Modes).modes)) == (None, 1)
    assert row.get(Modes).modes[0].canary_ns == pytest.approx(52, rel=0.05)
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
    assert blame(modes, [[fast] * 50, [slow] * 50]) == Blame(
        (LooksSaw(50.0, 0.0), LooksSaw(200.0, 0.0)), None, None
    )
    found = blame(modes, [[fast, slow] * 3])
    assert found.layer == "below"
    assert found.canary_ratio is not None
    assert found.canary_ratio.value == pytest.approx(4.0)
    assert blame(modes, [[fast, slow]] * 3).layer == "below"
    assert blame(modes, [[slow] * 9, [fast] * 9] * 3).layer == "below"


def test_a_look_without_a_canary_is_not_one_of_no_time() -> None:
    modes = (Mode(FAST, 0.5), Mode(SLOW, 0.5))
    fast, slow = observations.Look(FAST, 50.0, 0.0), observations.Look(SLOW, 200.0, 0.0)
    gap = observations.Look(SLOW, None, 0.0)
    found = blame(modes, [[fast, slow, gap], [fast, gap]] * 3)
    assert found.layer == "below"
    assert [one.canary for one in found.seen] == [50.0, 200.0]


# ---- nobody is accused falsely -----------------------------------------------------------------------------


SEEDS = 200
NOTHING, A_THIRD = 0.0, 1 / 3  # of the looks, in which a rank has lost its core


def _looks(seed: int, cv: float, ratio: float, loses: float, dwell: int) -> list[list[observations.Look]]:
    """Ten launches of ten looks; every `dwell` looks another mode may begin.

    The canary of a spell scatters by `cv`, and takes `ratio` times as long in the slow mode. In a share
    `loses` of the looks of the slow mode a rank has lost its core.
    """
    rng = np.random.default_rng(seed)
    spread, launches = math.sqrt(math.log(1 + cv**2)), []
    for _ in range(10):
        looks: list[observations.Look] = []
        while len(looks) < 10:
            is_slow = bool(rng.random() < 0.5)
            level = 50.0 * (ratio if is_slow else 1.0) * math.exp(spread * rng.standard_normal())
            for _ in range(min(dwell, 10 - len(looks))):
                lost_core = is_slow and rng.random() < loses
                canary = None if lost_core else level * math.exp(0.05 * rng.standard_normal())
                value, noise = SLOW if is_slow else FAST, 0.99 if lost_core else 0.01
                looks.append(observations.Look(value, canary, noise))
        launches.append(looks)
    return launches


def _share(layer: str, cv: float, ratio: float, loses: float, dwell: int) -> float:
    """For `SEEDS` series of looks, how many are judged so."""
    modes = (Mode(FAST, 0.5), Mode(SLOW, 0.5))
    found = [blame(modes, _looks(seed, cv, ratio, loses, dwell)).layer for seed in range(SEEDS)]
    return found.count(layer) / SEEDS


@pytest.mark.parametrize(("cv", "dwell"), [(0.2, 10), further(0.4, 3)])
@pytest.mark.parametrize(
    ("ratio", "loses", "most"),
    [
        (2.0, NOTHING, 0.01),  # below MPI
        (1.5, NOTHING, 0.01),
        (1.3, NOTHING, 0.03),
        (1.2, NOTHING, 0.06),  # at the edge of what counts as still: 5 % by construction
        (1.0, A_THIRD, 0.01),  # from outside, and the canary does not see it
        (1.0, 0.15, 0.01),
    ],
)
def test_the_mpi_is_seldom_accused_of_what_it_did_not_do(
    dwell: int, cv: float, ratio: float, loses: float, most: float
) -> None:
    assert _share("above", cv, ratio, loses, dwell) <= most


@pytest.mark.parametrize(
    ("layer", "cv", "ratio", "loses", "dwell", "least"),
    [
        ("above", 0.05, 1.0, NOTHING, 10, 0.9),
        ("above", 0.1, 1.0, NOTHING, 3, 0.95),
        ("below", 0.2, 2.0, NOTHING, 10, 0.9),
        ("below", 0.4, 2.0, NOTHING, 3, 0.9),
        ("noise", 0.2, 1.0, A_THIRD, 10, 0.75),
    ],
)
def test_what_is_clear_is_said(
    layer: str, cv: float, ratio: float, loses: float, dwell: int, least: float
) -> None:
    assert _share(layer, cv, ratio, loses, dwell) >= least


def _state(point: int | None, seconds: float, **more: Any) -> State:
    ns = round(seconds * 1e9)
    usual = {"cpus": ("0", "1"), "own_ns": (ns, ns), "busy_ns": (ns, ns), "steal_ns": (0, 0)}
    return State(point=point, at_ns=(ns, ns), **(usual | {"quota_stops": (0, 0)} | more))


def _named(seconds: float) -> Watch:
    burn = Busy(pid=7, command="burn", cpu_ns=round(seconds * 1e9), seconds=10.0, peak_share=0.1, cpus=(1,))
    return Watch(host="vm", seconds=10.0, looks=6, cost_ns=10**7, processes=(burn,))


@pytest.mark.parametrize(
    ("records", "blamed"),
    [
        ([_state(None, 0.0), _state(0, 10.0)], "above"),  # quiet
        ([_named(0.2)], "above"),  # 2 % of a CPU, as on any machine
        ([_named(6.8)], None),
        ([_state(None, 0.0), _state(0, 10.0, own_ns=(10**10, 32 * 10**8))], None),  # 68 %, nobody named
        ([_state(None, 0.0), _state(0, 10.0, steal_ns=(0, 10**9))], None),
        ([_state(None, 0.0), _state(0, 10.0, quota_stops=(0, 3))], None),
    ],
)
def test_no_mpi_is_accused_where_others_were_seen(
    tmp_path: Path, records: list[Record], blamed: str | None
) -> None:
    """In one launch of ten: a busy neighbour, the hypervisor, a limit."""
    point = FakePoint("mpi.bcast", either(FAST, SLOW), look=still)
    folder = write_folder(tmp_path / "out", [point], launches=10)
    append_records(folder / "records/l03-mpich-4.0.2-n2.jsonl", records)
    measured = load(folder)
    rows = rows_of(measured)
    assert rows[0].get(Modes).blame == blamed
    found = {one.name: one for one in diagnostics(measured, rows)}
    assert ("modes-above" in found) == (blamed == "above")
    assert ("modes" in found) == (blamed is None)
    if blamed is None:
        assert found["modes"].cause in {"busy-neighbour", "busy-unnamed", "stolen", "throttled"}


def test_little_in_each_launch_is_much_in_all(tmp_path: Path) -> None:
    """Launches of 0.2 s, in which others took 20 ms: two steps of the kernel's count say nothing alone."""
    point = FakePoint("mpi.bcast", either(FAST, SLOW), look=still)
    folder = write_folder(tmp_path / "out", [point], launches=10)
    for path in (folder / "records").iterdir():
        append_records(path, [_state(None, 0.0), _state(0, 0.2, busy_ns=(22 * 10**7,) * 2)])
    measured = load(folder)
    rows = rows_of(measured)
    assert rows[0].get(Modes).blame is None
    assert "busy-unnamed" not in {one.name for one in diagnostics(measured, rows)}


@pytest.mark.parametrize(
    ("shares", "expected"),
    [([], None), ([0.25], 0.25), ([0.0, 0.5], 1 / 3), ([0.0] * 79 + [80 / 81], 0.5), ([1.0], 1.0)],
)
def test_time_lost_is_weighed_by_how_long_it_was(shares: list[float], expected: float | None) -> None:
    assert lost(shares) == (expected if expected is None else pytest.approx(expected))
