"""What an engine says it can hold is what it takes, and one more is what it refuses."""

from __future__ import annotations

import pytest

from steelyard.engines.build import describe, solo_engine
from steelyard.engines.description import EngineLimits
from steelyard.system.process import run


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("ranks", "--ranks {} op=self.empty"),
        ("seed", "--seed {} op=self.empty"),
        ("threads", "op=omp.barrier threads={}"),
        ("bytes", "op=mem.copy bytes={}"),
    ],
)
def test_one_more_than_the_engine_states(limit: str, words: str) -> None:
    engine = solo_engine()
    most = getattr(describe(engine).limits, limit)
    done = run([engine.path, "run", *words.format(most + 1).split()], timeout=600)
    assert done.code == 2
    assert str(most) in done.err, "it names its limit"


def test_the_engine_states_all_its_limits() -> None:
    limits = describe(solo_engine()).limits
    untold = EngineLimits()
    assert {
        name: getattr(limits, name) < getattr(untold, name) for name in ("ranks", "threads", "bytes")
    } == {
        "ranks": True,
        "threads": True,
        "bytes": True,
    }
