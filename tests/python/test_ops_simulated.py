"""Every op at 64 ranks, which no machine for tests has: in simulation, where SimGrid has the call."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from steelyard.engine import simulated_engine
from steelyard.process import run
from steelyard.reading import read_records
from steelyard.records import End

_RANKS = 64
_SECONDS = 900.0  # far more than it takes, which is half a minute on an idle core
_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-63" speed="1Gf" bw="10GBps" lat="1us"/>
</platform>
"""
# What SimGrid 3.32 does wrong, or takes minutes for: a name -> why it is left out.
_LEFT_OUT = {
    "mpi.ibarrier": "lets ranks out before the last has come",
    "mpi.overlap.ibarrier": "the same",
    "mpi.pattern.victim": "the aggressors' messages take minutes",
}


def _simulate(folder: Path, ranks: int, *words: str) -> str:
    """What the engine says under the simulator, where computing costs no time."""
    (folder / "platform.xml").write_text(_PLATFORM)
    (folder / "hosts").write_text("".join(f"node-{i}\n" for i in range(_RANKS)))
    engine = folder / "steelyard-mpi"
    if not engine.exists():
        engine.symlink_to(simulated_engine().path)
    argv = [
        "smpirun", "-np", str(ranks), "-hostfile", str(folder / "hosts"),
        "-platform", str(folder / "platform.xml"), "--cfg=smpi/simulate-computation:no",
        "--cfg=smpi/wtime:0", "--cfg=surf/precision:1e-12", "--cfg=smpi/coll-selector:ompi",
        "--cfg=smpi/iprobe:1e-7", "--cfg=smpi/grow-injected-times:no", "--cfg=smpi/os:0:1.5e-7:0",
        "--cfg=smpi/or:0:1.5e-7:0", "--log=root.thresh:error", str(engine), *words,
    ]  # fmt: skip
    done = run(argv, timeout=_SECONDS, cwd=folder)
    assert done.code == 0, done.out + done.err
    return done.out


@pytest.mark.parametrize("family", ["p2p", "coll", "pattern and halo", "the others"])
def test_every_op_gives_right_answers_on_64_ranks(tmp_path: Path, family: str) -> None:
    if shutil.which("smpicc") is None:
        pytest.skip("no SimGrid: there is no smpicc")
    description = json.loads(_simulate(tmp_path, 1, "describe"))
    ops = [
        op
        for op in description["ops"]
        if op["name"].startswith("mpi.") and op["available"] and op["name"] not in _LEFT_OUT
        if _group(op["family"]) == family
    ]
    assert ops
    sizes = {op["name"]: " bytes=24" if op["sized"] else "" for op in ops}
    lines = [f"op={name} method=barrier rule=fixed count=1{size}" for name, size in sizes.items()]
    points, out = tmp_path / "points", tmp_path / "out.jsonl"
    points.write_text("".join(f"point={i} {line}\n" for i, line in enumerate(lines)))
    _simulate(tmp_path, _RANKS, "run", "--points", str(points), "--out", str(out), "--ranks", str(_RANKS))
    ends = {record.point: record for record in read_records(out).records if isinstance(record, End)}
    assert len(ends) == len(lines)
    assert [(lines[i], end.why) for i, end in ends.items() if not end.verified] == []


def _group(family: str) -> str:
    groups = {"p2p": "p2p", "coll": "coll", "pattern": "pattern and halo", "halo": "pattern and halo"}
    return groups.get(family, "the others")
