"""How test cases end: one launch of an engine that measures many, and may be ended early."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from steelyard.base.errors import SteelyardError
from steelyard.engines.build import Engine
from steelyard.launch.command import plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.records.read import read_records
from steelyard.records.schema import End
from steelyard.system.machine import read_machine
from steelyard.system.process import run


def measure_ends(
    engine: Engine, ranks: int, threads: int, lines: Sequence[str], limit: float
) -> Sequence[End]:
    """How the test cases of one launch ended, those that it came to within `limit` seconds."""
    request = LaunchRequest(ranks, threads, oversubscribe=True, yield_mode="real")
    launch = plan_launch(engine, read_machine(), request)
    with tempfile.TemporaryDirectory() as folder:
        points, out = Path(folder) / "points", Path(folder) / "out.jsonl"
        points.write_text("".join(f"point={i} {line}\n" for i, line in enumerate(lines)))
        argv = [*launch.argv_prefix, engine.path, "run", *launch.engine_args]
        argv += ["--points", str(points), "--out", str(out)]
        argv += ["--thread-level", "multiple"] if threads > 1 else []
        env = os.environ | launch.environment | {"OMP_WAIT_POLICY": "passive"}
        try:
            done = run(argv, env=env, timeout=limit)
            said = done.err.strip() if done.code else ""
        except SteelyardError as error:
            said = str(error)
        if said:
            print(f"  the launch ended early: {said[-300:]}", file=sys.stderr)
        return [one for one in read_records(out).records if isinstance(one, End)] if out.exists() else []
