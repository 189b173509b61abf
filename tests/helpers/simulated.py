"""What the tests in simulation share: an engine under SimGrid's smpirun."""

from __future__ import annotations

from pathlib import Path

from steelyard.engines.build import simulated_engine
from steelyard.system.process import run

_NODES = 64
_SECONDS = 900.0  # far more than it takes, which is half a minute on an idle core
_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-63" speed="1Gf" bw="10GBps" lat="1us"/>
</platform>
"""


def simulate(folder: Path, ranks: int, *words: str) -> str:
    """What the engine says under the simulator, where computing costs no time."""
    (folder / "platform.xml").write_text(_PLATFORM)
    (folder / "hosts").write_text("".join(f"node-{i}\n" for i in range(_NODES)))
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
