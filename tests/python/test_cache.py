"""Observations that start with cold caches: one repetition each, and none before it that warms."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.engine import solo_engine
from steelyard.process import run
from steelyard.reading import read_records
from steelyard.records import End, Point, Record


def _measure(folder: Path, *lines: str) -> tuple[Record, ...]:
    points, out = folder / "points", folder / "out.jsonl"
    points.write_text("".join(f"point={i} {line}\n" for i, line in enumerate(lines)))
    done = run([solo_engine().path, "run", "--points", str(points), "--out", str(out)], timeout=120)
    assert done.code == 0, done.err
    return read_records(out).records


@pytest.mark.parametrize("method", ["batch", "barrier"])
def test_a_cold_observation_is_one_repetition(tmp_path: Path, method: str) -> None:
    words = f"op=self.empty method={method} rule=fixed count=3"
    records = _measure(tmp_path, words, f"{words} cache=cold")
    warm, cold = (record for record in records if isinstance(record, Point))
    assert (warm.method_params["cache"], cold.method_params["cache"]) == ("warm", "cold")
    assert cold.reps == 1
    assert method == "barrier" or warm.reps > 1
    assert [record.status for record in records if isinstance(record, End)] == ["ok", "ok"]


def test_a_word_that_there_is_not_is_refused(tmp_path: Path) -> None:
    words = tmp_path / "points"
    words.write_text("point=0 op=self.empty method=batch cache=tepid\n")
    done = run(
        [solo_engine().path, "run", "--points", str(words), "--out", str(tmp_path / "out")], timeout=60
    )
    assert done.code == 2
    assert "cache cannot be 'tepid'" in done.err
