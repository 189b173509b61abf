"""The state of caches and buffers: cold caches; where buffers begin and on which pages; those too large."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from further import further
from points import describe, engine_of, points_once, sound_ops
from points import measure as measure_mpi
from steelyard.engines.build import solo_engine
from steelyard.engines.mpi import Mpi
from steelyard.records.read import read_records
from steelyard.records.schema import End, Point, Record
from steelyard.system.process import run

pytestmark = pytest.mark.ours


def _measure(folder: Path, *lines: str) -> tuple[Record, ...]:
    points, out = folder / "points", folder / "out.jsonl"
    points.write_text("".join(f"point={i} {line}\n" for i, line in enumerate(lines)))
    done = run([solo_engine().path, "run", "--points", str(points), "--out", str(out)], timeout=600)
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
        [solo_engine().path, "run", "--points", str(words), "--out", str(tmp_path / "out")], timeout=600
    )
    assert done.code == 2
    assert "cache cannot be 'tepid'" in done.err


def _lines(mpi: Mpi, words: str) -> list[str]:
    """A point of each op that has buffers."""
    ops = sound_ops(engine_of(mpi)).values()
    return [
        f"op={op.name} {'bytes=24 ' if op.sized else ''}rule=fixed count=1 method=batch reps=1 {words}"
        for op in ops
        if any(param.name == "align" for param in op.params) and op.available and op.min_ranks <= 2
    ]


def test_every_op_with_messages_has_buffers_that_can_be_placed(one_mpi: Mpi) -> None:
    """But those whose buffers the library allocates, or that need none but a few bytes of their own."""
    without = {
        op.name
        for op in describe(engine_of(one_mpi)).ops
        if op.name.startswith("mpi.") and op.sized and not op.first
        if not {"align", "pages"} <= {param.name for param in op.params}
    }
    made = {f"mpi.win.{name}" for name in ("make", "free", "attach", "detach")}
    names = {f"mpi.io.{name}" for name in ("open", "delete", "set_view", "set_size", "preallocate", "sync")}
    kept = {"mpi.memory.win_allocate", "mpi.memory.unexpected", "mpi.memory.request"}
    assert without <= {"mpi.win_allocate", "mpi.win_create", "mpi.type_commit"} | made | names | kept


@pytest.mark.parametrize("words", ["align=8 pages=small", further("align=4080 plant=1")])
def test_buffers_anywhere_hold_the_right_answers(tmp_path: Path, mpi: Mpi, words: str) -> None:
    lines = _lines(mpi, words)
    assert len(lines) > 80
    lines = points_once(mpi, lines)
    records = measure_mpi(engine_of(mpi), 2, 1, lines, tmp_path / "out.jsonl")
    ends = {lines[record.point]: record for record in records if isinstance(record, End)}
    assert ends.keys() == set(lines)
    for line, end in ends.items():
        if "plant" not in words:
            assert (end.status, end.why) == ("ok", None), line
        else:
            assert end.status == "ok" or (end.why or "").startswith("wrong: rank 1: "), line
    if "plant" not in words:
        given = [record.params for record in records if isinstance(record, Point)]
        assert {(params["align"], params["pages"]) for params in given} == {(8, "small")}


def test_huge_pages_are_there_or_it_is_said(tmp_path: Path, one_mpi: Mpi) -> None:
    words = "pages=huge align=64 rule=fixed count=1 method=barrier bytes=100000"
    lines = [f"op={op} {words}" for op in ("mpi.pingpong", "mpi.alltoall")]
    records = measure_mpi(engine_of(one_mpi), 2, 1, lines, tmp_path / "out.jsonl")
    ends = [record for record in records if isinstance(record, End)]
    assert len(ends) == len(lines)
    for end in ends:
        assert end.verified or (end.status == "skipped" and "huge pages" in (end.why or ""))


_TOO_LARGE = (
    "op=mpi.bandwidth bytes=1Gi buffers=4096",
    "op=mpi.bibandwidth bytes=1Gi buffers=4096 pages=huge",
    "op=mpi.message_rate bytes=1Gi messages=65536",
    "op=mpi.pattern.shift kind=window bytes=1Gi window=4096 buffers=4096",
    "op=mpi.alltoall bytes=1Gi buffers=4096",
)


def test_more_memory_than_there_is_is_refused_before_it_is_taken(tmp_path: Path, one_mpi: Mpi) -> None:
    """And what comes after it is measured."""
    possible = "op=mpi.pingpong bytes=8 rule=fixed count=1"
    lines = [line for words in _TOO_LARGE for line in (f"{words} rule=fixed count=1", possible)]
    records = measure_mpi(engine_of(one_mpi), 2, 1, lines, tmp_path / "out.jsonl")
    ends = [record for record in records if isinstance(record, End)]
    assert len(ends) == len(lines)
    for refused, measured in zip(ends[::2], ends[1::2], strict=True):
        assert refused.status == "skipped"
        assert re.search(
            r"buffers of this test case need [\d.]{1,4} [TP]B on \S+ \(ranks: \d\), "
            r"where [\d.]{1,4} [MG]B are left; use smaller",
            refused.why or "",
        ), refused.why
        assert measured.status == "ok"
