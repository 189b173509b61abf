"""The intervals of facets have the level that is asked for, and allow for launches that are alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from make_records import FakePoint, steady, write_folder
from steelyard.results.combined import Combined, combine
from steelyard.results.facets import Footprint, JobStart, Memory
from steelyard.results.load import PointLaunch, load
from steelyard.stats.autocorrelation import Likeness

_LAUNCHES = 5
_AMOUNTS = [10.0, 14.0, 9.0, 12.0, 16.0]  # of each launch
_Ends = Callable[[Combined], tuple[float | None, float | None]]


def _init(combined: Combined) -> tuple[float | None, float | None]:
    found = JobStart.of(combined)
    assert found is not None
    return found.init_low, found.init_high


def _grown(combined: Combined) -> tuple[float | None, float | None]:
    found = Footprint.of(combined)
    assert found is not None
    return found.grown_low, found.grown_high


def _held(combined: Combined) -> tuple[float | None, float | None]:
    found = Memory.of(combined)
    assert found is not None
    return found.held_low, found.held_high


def _launches(folder: Path) -> list[PointLaunch]:
    """Launches of a first use that tell when their library was started, and what it keeps."""
    point = FakePoint("mpi.first.init", steady(900.0, count=1), method="first", reps=1)
    kinds = ("resident", "shared", "locked", "pinned")
    made = []
    for cell, amount in zip(
        load(write_folder(folder, [point], launches=_LAUNCHES)).points[0].cells, _AMOUNTS, strict=True
    ):
        assert cell.start is not None
        places = tuple(
            msgspec.structs.replace(place, init_ns=int(amount), main_to_init_ns=int(2 * amount))
            for place in cell.start.places
        )
        counts = {
            **{f"{kind}_bytes": amount for kind in kinds},
            **{f"{kind}_grown_bytes": amount for kind in ("heap", *kinds)},
            "objects": 1.0,
            "heap_held_bytes": amount,
        }
        start = msgspec.structs.replace(cell.start, places=places)
        taken = msgspec.structs.replace(cell.taken, later_counts=counts)
        made.append(msgspec.structs.replace(cell, start=start, taken=taken))
    return made


@pytest.mark.parametrize("ends", [_init, _grown, _held])
def test_more_certain_intervals_are_wider(ends: _Ends, tmp_path: Path) -> None:
    launches = _launches(tmp_path / "x")
    (low, high), (lower, higher) = (ends(combine(launches, level)) for level in (0.8, 0.99))
    assert None not in (low, high, lower, higher)
    assert (lower or 0.0) < (low or 0.0) < (high or 0.0) < (higher or 0.0)


@pytest.mark.parametrize("ends", [_init, _grown, _held])
def test_launches_that_are_alike_widen_intervals(ends: _Ends, tmp_path: Path) -> None:
    launches = _launches(tmp_path / "x")
    known = (Likeness(0.0), Likeness(0.6))
    (low, high), (lower, higher) = (ends(combine(launches, 0.95, alike=alike)) for alike in known)
    assert (lower or 0.0) < (low or 0.0) < (high or 0.0) < (higher or 0.0)


def test_one_launch_has_no_interval(tmp_path: Path) -> None:
    launches = _launches(tmp_path / "x")[:1]
    assert JobStart.of(combine(launches, 0.95)) is not None
    assert _init(combine(launches, 0.95)) == (None, None)
