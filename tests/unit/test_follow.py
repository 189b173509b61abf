"""A growing file of records: the driver of a campaign holds nothing of the points that have ended."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

from steelyard.records.follow import Tail

_RANKS = 8
_HEAD: list[dict[str, Any]] = [
    {"record": "job", "schema": 1, "job": "l01", "launch": 1, "ranks": _RANKS},
    {
        "record": "launch", "schema": 1, "engine": "mpi", "version": "1", "ranks": _RANKS,
        "clock": {"name": "tsc", "cost_ns": 20, "tick_ns": 1}, "places": [],
    },
]  # fmt: skip


def _point(index: int) -> list[dict[str, Any]]:
    """A synchronised test case of one chunk, and the states of its ranks at the end."""
    stamps = [list(range(10)) for _ in range(_RANKS)]
    each = list(range(_RANKS))
    return [
        {
            "record": "point", "point": index, "op": "mpi.bcast", "bytes": index, "ranks": _RANKS,
            "threads": 1, "method": "epoch", "rule": "fixed", "reps": 1, "parts": 1, "report": "slowest",
        },
        *(
            {
                "record": "sync", "index": 2 * index + side, "algorithm": "tree", "domains": 1,
                "at_ns": [2 * index + side] * _RANKS, "offset_ns": each, "drift_ppm": each, "error_ns": each,
                "bound_ns": each,
            }
            for side in (0, 1)
        ),
        {
            "record": "obs", "point": index, "first": 0, "count": 10, "start_ns": stamps,
            "stop_ns": stamps, "sync_before": 2 * index, "sync_after": 2 * index + 1,
        },
        {"record": "end", "point": index, "status": "ok", "count": 10},
        {"record": "state", "point": index, "at_ns": each, "cpus": [f"{index}-{rank}" for rank in each]},
    ]  # fmt: skip


def _grow(path: Path, points: int) -> tuple[int, int]:
    """Follow a file while so many points are added: how many ended, and the bytes held afterwards."""
    path.write_text("".join(json.dumps(line) + "\n" for line in _HEAD))
    tail, ended = Tail(path), 0
    tracemalloc.start()
    with path.open("a") as file:
        for index in range(points):
            file.writelines(json.dumps(line) + "\n" for line in _point(index))
            file.flush()
            files, _ = tail.advance()
            ended += sum(len(one.points) for one, _ in files)
            assert [one.points[0].index for one, _ in files] == [index]
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return ended, held


def test_what_has_ended_is_let_go(tmp_path: Path) -> None:
    few, many = 50, 800
    ended, little = _grow(tmp_path / "few.jsonl", few)
    assert ended == few
    ended, much = _grow(tmp_path / "many.jsonl", many)
    assert ended == many
    assert much - little < 20 * (many - few)
