"""How test cases end: one launch of an engine that measures many, and may be ended early."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.base.errors import MeasurementError
from steelyard.engines.build import Engine
from steelyard.launch.command import plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.records.read import read_records
from steelyard.records.schema import End
from steelyard.system.machine import read_machine
from steelyard.system.process import run


@dataclass(frozen=True)
class Ended:
    """How the test cases of a launch ended, and it itself: what it said if it died, or was it too slow?"""

    ends: Sequence[End]
    said: str
    is_late: bool


def measure_launch(
    engine: Engine, ranks: int, threads: int, lines: Sequence[str], limit: float, words: Sequence[str] = ()
) -> Ended:
    """One launch, which is ended after `limit` seconds; `words` are further options of the engine."""
    request = LaunchRequest(ranks, threads, oversubscribe=True, yield_mode="real")
    launch = plan_launch(engine, read_machine(), request)
    said, is_late = "", False
    with tempfile.TemporaryDirectory() as folder:
        points, out = Path(folder) / "points", Path(folder) / "out.jsonl"
        points.write_text("".join(f"point={i} {line}\n" for i, line in enumerate(lines)))
        argv = [*launch.argv_prefix, engine.path, "run", *launch.engine_args]
        argv += ["--points", str(points), "--out", str(out), *words]
        argv += ["--thread-level", "multiple"] if threads > 1 else []
        env = os.environ | launch.environment | {"OMP_WAIT_POLICY": "passive"}
        try:
            done = run(argv, env=env, timeout=limit)
            said = done.err.strip() or f"exit code {done.code}" if done.code else ""
        except MeasurementError as error:
            said, is_late = str(error), True
        records = read_records(out).records if out.exists() else ()
    return Ended([one for one in records if isinstance(one, End)], said, is_late)


def measure_ends(
    engine: Engine, ranks: int, threads: int, lines: Sequence[str], limit: float
) -> Sequence[End]:
    """How the test cases of one launch ended, those that it came to within `limit` seconds."""
    ended = measure_launch(engine, ranks, threads, lines, limit)
    if ended.said:
        print(f"  the launch ended early: {ended.said[-300:]}", file=sys.stderr)
    return ended.ends
