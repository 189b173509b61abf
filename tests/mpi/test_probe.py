"""Looks at the machine by real engines: who looks, and what the records hold. What they make of modes:
test_mode_causes.py; what is lost on a clock that is told what to show: tests/engine/test_probe.c.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from steelyard.base.errors import InputError
from steelyard.engines.build import Engine, mpi_engine, solo_engine
from steelyard.engines.mpi import Mpi
from steelyard.launch.command import plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.records.read import read_records
from steelyard.records.schema import Obs
from steelyard.system.machine import read_machine
from steelyard.system.process import Done, run

pytestmark = pytest.mark.ours

_LONG = ("rule=median", "tolerance=1e-6", "least_seconds=0.4", "most_seconds=0.4")  # some 40 looks


def _run(engine: Engine, out: Path, ranks: int, *words: str) -> Done:
    launch = plan_launch(engine, read_machine(), LaunchRequest(ranks, oversubscribe=True))
    command = [*launch.argv_prefix, engine.path, "run", *launch.engine_args, "--out", str(out), *words]
    return run(command, env=os.environ | launch.environment, timeout=600)


def _chunks(engine: Engine, out: Path, ranks: int, *words: str) -> list[Obs]:
    done = _run(engine, out, ranks, *words)
    assert done.code == 0, done.err
    return [record for record in read_records(out).records if isinstance(record, Obs)]


def _solo() -> Engine:
    try:
        return solo_engine()
    except InputError as error:
        pytest.skip(str(error))


def test_two_bound_ranks_hand_a_line_to_each_other(mpi: Mpi, tmp_path: Path) -> None:
    if len(read_machine().cores) < 2:
        pytest.skip("needs two cores: ranks that share one do not try")
    engine, chunks = mpi_engine(mpi), list[Obs]()
    before = set(Path("/dev/shm").glob("steelyard-*"))
    for launch in range(10):  # a busy machine leaves little time to look in each
        chunks += _chunks(engine, tmp_path / f"{launch}.jsonl", 2, "op=mpi.pingpong", "bytes=8", *_LONG)
        looks = [chunk for chunk in chunks if chunk.noise]
        if len(looks) >= 3 and any(chunk.canary_ns is not None for chunk in looks):
            break
    assert len(looks) >= 3
    assert all(len(chunk.noise) == 2 and 0 <= min(chunk.noise) <= max(chunk.noise) < 1 for chunk in looks)
    assert any(chunk.canary_ns is not None and chunk.canary_ns > 0 for chunk in looks)
    assert all(chunk.canary_ns is None for chunk in chunks if not chunk.noise)
    # others, that run now, have theirs for a moment
    left = set(Path("/dev/shm").glob("steelyard-*")) - before
    deadline = time.monotonic() + 600
    while any(path.exists() for path in left) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [path for path in left if path.exists()]


def test_ranks_on_one_core_do_not_wait_for_a_line(mpi: Mpi, tmp_path: Path) -> None:
    words = ("op=mpi.barrier", "method=barrier", "rule=fixed", "count=200", "--cpus", "0")
    chunks = _chunks(mpi_engine(mpi), tmp_path / "out.jsonl", 2, *words)
    looks = [chunk for chunk in chunks if chunk.noise]
    assert looks
    assert all(chunk.canary_ns is None and len(chunk.noise) == 2 for chunk in looks)


def test_one_rank_has_nobody_to_hand_a_line_to(tmp_path: Path) -> None:
    chunks = _chunks(_solo(), tmp_path / "out.jsonl", 1, "op=self.spin", *_LONG)
    looks = [chunk for chunk in chunks if chunk.noise]
    assert looks
    assert all(len(chunk.noise) == 1 and chunk.canary_ns is None for chunk in looks)


@pytest.mark.parametrize("words", [("op=self.spin", "--probe", "off"), ("op=pthread.mutex", "threads=2")])
def test_nobody_looks_where_it_is_off_or_threads_wait(tmp_path: Path, words: tuple[str, ...]) -> None:
    chunks = _chunks(_solo(), tmp_path / "out.jsonl", 1, *words, *_LONG)
    assert chunks
    assert not any(chunk.noise for chunk in chunks)


def test_a_probe_is_on_or_off(tmp_path: Path) -> None:
    done = _run(_solo(), tmp_path / "out.jsonl", 1, "op=self.empty", "--probe", "sometimes")
    assert done.code == 2
    assert "--probe takes on or off, not 'sometimes'" in done.err
