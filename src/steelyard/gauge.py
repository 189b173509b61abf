"""What the engine says of its clock, from a launch that measures next to nothing."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.engine import Engine
from steelyard.errors import MeasurementError
from steelyard.process import run
from steelyard.records import Launch, Record

_SECONDS = 60.0


def gauge_clock(engine: Engine) -> dict[str, Any]:
    """Name, cost_ns and tick_ns of the clock that the solo engine chooses here. Raises MeasurementError."""
    done = run([engine.path, "run", "op=self.empty", "rule=fixed", "count=1"], timeout=_SECONDS)
    for line in done.out.splitlines():
        record = msgspec.json.decode(line, type=Record)
        if isinstance(record, Launch):
            clock: dict[str, Any] = msgspec.to_builtins(record.clock)
            return clock
    raise MeasurementError(f"'{engine.path} run op=self.empty' wrote no launch record: {done.err.strip()}")
