"""Clocks of the engine, from launches that measure next to nothing."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.base.errors import MeasurementError
from steelyard.engines.build import Engine, describe
from steelyard.records.schema import Launch, Record
from steelyard.system.process import run

_SECONDS = 60.0


def gauge_clocks(engine: Engine) -> list[dict[str, Any]]:
    """Measure every clock that this engine knows, beside its description, and whether it is the `default`.

    With cost_ns, tick_ns, and the hz and hz_ppm of a counter, if it can be read here. Raises
    MeasurementError.
    """
    best = _gauge(engine, None)
    clocks = []
    for row in describe(engine).clocks:
        clock = msgspec.to_builtins(row) | {"default": row.name == best["name"]}
        if row.available:
            clock |= best if clock["default"] else _gauge(engine, row.name)
        clocks.append(clock)
    return clocks


def _gauge(engine: Engine, name: str | None) -> dict[str, Any]:
    """Measure a clock as in the launch record; None: the one that the engine chooses."""
    forced = [] if name is None else ["--clock", name]
    argv = [engine.path, "run", "op=self.empty", "rule=fixed", "count=1", *forced]
    done = run(argv, timeout=_SECONDS)
    for line in done.out.splitlines():
        record = msgspec.json.decode(line, type=Record)
        if isinstance(record, Launch):
            keys = ("name", "cost_ns", "tick_ns", "hz", "hz_ppm")
            return {key: getattr(record.clock, key) for key in keys}
    raise MeasurementError(f"'{' '.join(map(str, argv))}' wrote no launch record: {done.err.strip()}")
