"""Records of samples that were reduced over ranks: what they say, and what cannot be so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kept import reduce_folder
from make_records import FakePoint, steady, write_folder
from steelyard.records.read import read_job
from steelyard.records.reduced import RanksTold
from steelyard.render.chart import Boxes
from steelyard.results.facets import Ranks, Samples
from steelyard.results.load import cell_of, load
from steelyard.results.reduced import quantiles_of
from steelyard.results.rows import rows_of
from steelyard.rows.figure_groups import Shown, group_items
from steelyard.rows.pictures.ranks import rank_charts

RANKS = 1000
_HEAD: list[dict[str, Any]] = [
    {"record": "job", "schema": 1, "job": "l01", "launch": 1, "ranks": RANKS},
    {
        "record": "launch", "schema": 1, "engine": "mpi", "version": "1", "ranks": RANKS, "tick_most_ns": 4,
        "clock": {"name": "tsc", "cost_ns": 20, "tick_ns": 1},
        "places": [{"rank": 0, "host": "a", "clock_cost_ns": 20}],
    },
    {
        "record": "point", "point": 0, "op": "mpi.bcast", "bytes": 8, "ranks": RANKS, "threads": 1,
        "method": "epoch", "rule": "fixed", "reps": 2, "parts": 1, "report": "slowest",
    },
    *(
        {
            "record": "sync_reduced", "index": index, "algorithm": "tree", "domains": 10, "at_ns": index,
            "error_ns": [30, 20], "bound_ns": [300, 200], "drift_ppm": [-1, 1],
        }
        for index in (0, 1)
    ),
]  # fmt: skip
_CHUNK: dict[str, Any] = {
    "record": "reduced", "point": 0, "first": 0, "count": 3,
    "start_ns": [10, 20, 30], "stop_ns": [15, 25, 35], "took_ns": [1020, 1025, 5000],
    "cost_ns": [20, 25, 20], "slowest": [999, 3, 4], "skew_ns": [100, 200, 4000],
    "imbalance_ns": [50, 60, 70], "yields": 7, "sync_before": 0, "sync_after": 1, "window_ns": 9000,
    "target_ns": [9, 19, 29], "late": [2],
    "kept": {"sample": 1, "ranks": [0, 500], "start_ns": [0, 1.5], "stop_ns": [90, 91.5]},
}  # fmt: skip
_TOLD: dict[str, Any] = {
    "record": "ranks", "point": 0, "count": 2, "least_mean_ns": 100, "mean_ns": 150, "most_mean_ns": 400,
    "sketch_width": 1.02, "sketch": [[200, 900], [250, 100]], "kept": [0, 500], "medians_ns": [120, 130],
    "means_ns": [121, 131], "worst_spun": {"rank": 77, "ns": 1000, "lost_ns": 250, "longest_ns": 200},
}  # fmt: skip
_END = {
    "record": "end",
    "point": 0,
    "status": "ok",
    "flag": "SETTLED",
    "count": 3,
    "rejected": 1,
    "verified": True,
}


def _write(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in (*_HEAD, *lines, _END)))
    return path


def test_values_are_made_of_what_was_reduced(tmp_path: Path) -> None:
    cells = []
    read_job(
        _write(tmp_path / "l01.jsonl", _CHUNK, _TOLD), lambda file, run: cells.append(cell_of(file, run))
    )
    (cell,) = cells
    taken = cell.taken
    assert cell.status == "ok"
    assert taken.values.tolist() == [500.0, 500.0]  # the late one is left out; two repetitions
    assert taken.low is not None
    assert taken.low.tolist() == [450.0, 400.0]
    assert (taken.skew, taken.imbalance, taken.windows) == (150.0, 55.0, (9000,))
    assert (taken.slowest.size, taken.slowest.sum(), taken.slowest[999], taken.slowest[3]) == (RANKS, 2, 1, 1)
    assert taken.rank_medians.tolist() == [60.0, 65.0]
    assert taken.kept == (0, 500)
    assert taken.mean_extent == (50.0, 75.0, 200.0)
    assert (cell.clock_error, cell.clock_bound, cell.by_closure) == (50.0, 500.0, True)
    assert (taken.tick, taken.overhead, taken.yields) == (2.0, 11.25, 7)
    assert taken.spun is not None
    assert (taken.spun.ranks.tolist(), taken.spun.lost_ns.tolist()) == ([77], [250])


def test_quantiles_of_a_sketch_are_within_its_buckets() -> None:
    sketch = ((100, 10), (200, 80), (300, 10))
    told = RanksTold(
        point=0, count=1, least_mean_ns=0, mean_ns=0, most_mean_ns=0, sketch_width=1.02, sketch=sketch
    )
    for value, bucket in zip(quantiles_of(told), (100, 200, 300), strict=True):
        assert 1.02**bucket <= value <= 1.02 ** (bucket + 1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda one, _: one["took_ns"].pop(), "took_ns is not of 3 samples"),
        (lambda one, _: one.update(slowest=[0, 1, RANKS]), "slowest names 1000 of 1000"),
        (lambda one, _: one.update(late=[3]), "late names 3 of 3"),
        (lambda one, _: one.pop("skew_ns"), "one synchronisation, or the skew, is missing"),
        (lambda one, _: one.update(sync_after=8), "synchronisation 8, which has no record"),
        (lambda one, _: one["kept"].update(sample=3), "kept names 3 of 3"),
        (lambda one, _: one["kept"]["stop_ns"].pop(), "a kept rank has no timestamp"),
        (lambda _, told: told["medians_ns"].pop(), "a kept rank has no median"),
        (lambda _, told: told.update(sketch=[[3, 999]]), "sketch is not of 1000 ranks"),
        (lambda _, told: told.update(sketch_width=1), "sketch_width is no width"),
    ],
)
def test_what_cannot_be_so_is_one_sentence(
    tmp_path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object], words: str
) -> None:
    chunk, told = json.loads(json.dumps((_CHUNK, _TOLD)))
    change(chunk, told)
    (run,) = read_job(_write(tmp_path / "l01.jsonl", chunk, told)).points
    assert words in (run.damage or "")


def test_rows_and_pictures_of_many_ranks_are_the_same(tmp_path: Path) -> None:
    """But for ranks' own medians: those of chosen ranks, and the picture says so."""
    ranks = 200
    pace = tuple(1.0 if rank == 151 else 0.5 for rank in range(ranks))
    made = [
        FakePoint("mpi.bcast", steady(1e4, count=20), bytes=size, ranks=ranks, reps=1, pace=pace)
        for size in (8, 64)
    ]
    for name in ("whole", "reduced"):
        write_folder(tmp_path / name, made, launches=2)
    reduce_folder(tmp_path / "reduced", chosen=50)
    whole, reduced = (load(tmp_path / name) for name in ("whole", "reduced"))
    rows = [rows_of(one) for one in (whole, reduced)]
    for one, other in zip(*rows, strict=True):
        assert (one.median, one.ci_low, one.ci_high) == (other.median, other.ci_low, other.ci_high)
        assert one.get(Samples) == other.get(Samples)
        mine, theirs = one.get(Ranks), other.get(Ranks)
        assert (
            (mine.slowest_rank, mine.slowest_share) == (theirs.slowest_rank, theirs.slowest_share) == (151, 1)
        )
        assert mine.osu == pytest.approx(theirs.osu)
        assert mine.rank_quantiles == pytest.approx(theirs.rank_quantiles, rel=0.011)
        assert (mine.ranks_kept, len(theirs.rank_medians)) == (None, 50)
        assert theirs.ranks_kept == tuple(range(0, 200, 4))
        assert theirs.rank_medians == tuple(mine.rank_medians[rank] for rank in range(0, 200, 4))
    (group,) = group_items(Shown(row, point, "") for row, point in zip(rows[1], reduced.points, strict=True))
    ((_, last, own),) = rank_charts(group)
    (cells,) = last.marks_of(Boxes)
    assert {tip.partition(",")[0] for tip in cells.tips if "last in 100.0 %" in tip} == {"rank 148\u2013151"}
    assert "of the first of each" in own.title
