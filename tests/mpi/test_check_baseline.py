"""`check --baseline`: what a night made slow is measured again, by turns with what was there before."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from campaigns import run_plan, setup_of
from commands import steelyard_of
from record_lines import unsealed
from slow_library import slow_library
from steelyard.engines.mpi import choose_mpi
from steelyard.plan.plan import Measure, Plan

pytestmark = pytest.mark.xdist_group("waits")

_DAY_NS = 24 * 3600 * 10**9


def _earlier(night: Path, copy: Path, days: int) -> None:
    """The same night, so many days before."""
    shutil.copytree(night, copy)
    for path in (copy / "records").glob("*.jsonl"):
        text = re.sub(
            r'"start_unix_ns":(\d+)',
            lambda found: f'"start_unix_ns":{int(found[1]) - days * _DAY_NS}',
            unsealed(path.read_text()),
        )
        path.write_text(text)


@pytest.fixture
def nights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three nights, and one with a slow library."""
    mpi = choose_mpi("openmpi")
    library = slow_library(tmp_path, mpi)
    measure = Measure(  # a copy of 64 KiB: a call that takes next to nothing may have a median of 0
        ops=("mpi.allreduce",), ranks=1, bytes=65536, engine="mpi", rule="fixed", params={"count": 20.0}
    )
    plan = Plan(measure=(measure,), launches=2, seed=3, mpi=(mpi.name,))
    setup, nights = setup_of(mpi), tmp_path / "nights"
    run_plan(nights / "day-3", plan, setup)
    for days in (1, 2, 3):
        _earlier(nights / "day-3", nights / f"day-{3 - days}", days)
    shutil.rmtree(nights / "day-3")
    monkeypatch.setenv("LD_PRELOAD", str(library))
    run_plan(nights / "tonight", plan, setup)
    monkeypatch.delenv("LD_PRELOAD")
    return nights


@pytest.mark.further
def test_a_variable_is_taken_back_and_confirms_what_it_did(
    nights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steelyard = steelyard_of(capsys, monkeypatch)
    screened = steelyard("check", "--history", nights, "--json")
    (suspect,) = screened.document["points"]
    assert suspect["suspected"]
    assert suspect["confirmed"] is None
    assert screened.document["confirm"].endswith("--baseline env.LD_PRELOAD=-")

    again = tmp_path / "again"
    said = steelyard(
        *("check", "--history", nights, "--baseline", "env.LD_PRELOAD=-"),
        *("--launches", "8", "--out", again, "--json", "--yes"),
    )
    assert said.code == 1, said.err
    (found,) = said.document["points"]
    assert (found["verdict"], found["confirmed"]) == ("slower", True)
    assert found["ratio"] > 3
    assert len(list((again / "records").glob("*.jsonl"))) == 16


@pytest.mark.further
def test_a_night_before_is_the_baseline(
    nights: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = steelyard_of(capsys, monkeypatch)(
        *("check", "--tonight", nights / "tonight", "--baseline", nights / "day-0"),
        *("--launches", "8", "--out", tmp_path / "bare", "--json", "--yes"),
    )
    assert bare.code == 1, bare.err
    (compared,) = bare.document["points"]
    assert (compared["verdict"], compared["a"]) == ("slower", "LD_PRELOAD unset")
