"""Records that were kept both ways (`--keep both`), held against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from record_lines import unsealed
from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.read import read_job
from steelyard.results.load import PointLaunch, cell_of

ALL = ("obs", "sync")  # records that `--keep ranks` writes, and that others reduce
REDUCED = ("reduced", "ranks", "sync_reduced")
PS = 1.1e-3  # ns: to what reduced values are rounded, and a bit

Points = dict[int, tuple[PointRun, PointLaunch]]


def without(path: Path, records: tuple[str, ...]) -> Points:
    """The points of a file from which records of these names are left out."""
    lines = unsealed(path.read_text()).splitlines()
    kept = [line for line in lines if msgspec.json.decode(line)["record"] not in records]
    new = path.with_name(f"without-{records[0]}") / path.name
    new.parent.mkdir(exist_ok=True)
    new.write_text("\n".join(kept) + "\n")
    found: Points = {}

    def visit(file: JobFile, run: PointRun) -> None:
        found[run.index] = run, cell_of(file, run)

    read_job(new, visit)
    return found


def check_alike(whole: Points, reduced: Points) -> None:
    """All that a row is made of is the same, whichever records it is read from."""
    assert whole.keys() == reduced.keys()
    for index, (run, cell) in whole.items():
        told, other = reduced[index]
        assert run.point is not None
        name = run.point.method
        assert run.obs, name
        assert told.reduced, name
        assert not told.obs, name
        a, b = cell.taken, other.taken
        for what in ("values", "low", "skews"):
            mine, theirs = getattr(a, what), getattr(b, what)
            assert (mine is None) == (theirs is None), (name, what)
            if mine is not None:
                np.testing.assert_allclose(theirs, mine, rtol=1e-12, atol=PS, err_msg=f"{name} {what}")
        np.testing.assert_array_equal(a.slowest, b.slowest, err_msg=name)
        np.testing.assert_allclose(a.rank_medians, b.rank_medians, rtol=1e-12, atol=PS, err_msg=name)
        assert a.mean_extent == pytest.approx(b.mean_extent, abs=PS), name
        assert a.rank_quantiles == pytest.approx(b.rank_quantiles, rel=0.011), name
        assert (a.imbalance is None) == (b.imbalance is None), name
        assert a.imbalance is None or a.imbalance == pytest.approx(b.imbalance, abs=PS), name
        assert (a.tick, a.windows, a.yields) == (b.tick, b.windows, b.yields), name
        assert a.overhead == pytest.approx(b.overhead, abs=PS), name
        assert [(one.canary, one.noise) for one in a.looks] == [(one.canary, one.noise) for one in b.looks]
        assert (cell.clock_error, cell.clock_bound) == (other.clock_error, other.clock_bound), name
        assert (cell.status, cell.rejected) == (other.status, other.rejected), name
        assert cell.by_closure == other.by_closure, name


def reduce_folder(folder: Path, chosen: int) -> None:
    """Rewrite the records of methods without a common clock as an engine does that keeps `chosen` ranks."""
    for path in (folder / "records").glob("*.jsonl"):
        lines: list[dict[str, Any]] = []
        own: dict[int, list[NDArray[np.float64]]] = {}
        cost = 0.0
        for line in map(msgspec.json.decode, unsealed(path.read_text()).splitlines()):
            if line["record"] == "launch":
                cost = line["clock"]["cost_ns"]
            if line["record"] == "end" and line["point"] in own:
                lines.append(_told(line["point"], np.concatenate(own[line["point"]], axis=1), chosen))
            if line["record"] == "obs":
                took = np.asarray(line["stop_ns"], dtype=np.float64) - np.asarray(line["start_ns"])
                own.setdefault(line["point"], []).append(took - cost)
                line = _reduced(line, took, cost)
            lines.append(line)
        path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def _reduced(obs: dict[str, Any], took: NDArray[np.float64], cost: float) -> dict[str, Any]:
    return {
        "record": "reduced", "point": obs["point"], "first": obs["first"], "count": obs["count"],
        "start_ns": obs["start_ns"][0], "stop_ns": obs["stop_ns"][0], "took_ns": took.max(axis=0).tolist(),
        "cost_ns": [cost] * obs["count"], "slowest": took.argmax(axis=0).tolist(),
        "yields": sum(obs.get("yields") or ()),
    }  # fmt: skip


def _told(point: int, own: NDArray[np.float64], chosen: int) -> dict[str, Any]:
    ranks, count = own.shape
    kept = [i * ranks // chosen for i in range(chosen)]
    medians, means = np.median(own, axis=1), own.mean(axis=1)
    buckets, sizes = np.unique(np.floor(np.log(medians) / np.log(1.02)).astype(int), return_counts=True)
    return {
        "record": "ranks", "point": point, "count": count, "least_mean_ns": float(means.min()),
        "mean_ns": float(means.mean()), "most_mean_ns": float(means.max()), "sketch_width": 1.02,
        "sketch": np.stack([buckets, sizes], axis=1).tolist(), "kept": kept,
        "medians_ns": medians[kept].tolist(), "means_ns": means[kept].tolist(),
    }  # fmt: skip
