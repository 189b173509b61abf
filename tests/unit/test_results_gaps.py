"""Rows of what failed, was skipped, cut off or never began, and of records that cannot be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from made_results import recorded, rows
from make_records import FakePoint, steady, write_folder
from record_lines import LINES, text_of, unsealed
from steelyard.base.errors import InputError
from steelyard.export.flat import row_document
from steelyard.records.job_file import append_records
from steelyard.records.schema import End, Watch
from steelyard.results.load import load
from steelyard.results.rows import results
from steelyard.session.results import read_results

HANG = End(point=0, status="failed", why="hang: no observation for 20 s")
ABSENT = End(point=0, status="skipped", why="needs MPI 4.0")


@pytest.mark.parametrize(
    ("ends", "status", "why", "launch_count"),
    [
        ({}, "ok", None, 5),
        ({3: HANG}, "failed", "hang: no observation for 20 s (launch 3 of 5)", 4),
        ({3: HANG, 4: HANG}, "failed", "hang: no observation for 20 s (launches 3, 4 of 5)", 3),
        (dict.fromkeys(range(1, 6), HANG), "failed", "hang: no observation for 20 s", 0),
        (dict.fromkeys(range(1, 6), ABSENT), "skipped", "needs MPI 4.0", 0),
        ({5: ABSENT}, "ok", "needs MPI 4.0 (launch 5 of 5)", 4),
    ],
)
def test_failures_and_gaps_are_rows(
    tmp_path: Path, ends: dict[int, End], status: str, why: str | None, launch_count: int
) -> None:
    (row,) = rows(tmp_path, FakePoint("mpi.bcast", steady(1000.0), ends=ends))
    assert (row.status, row.why, row.launch_count) == (status, why, launch_count)
    assert (row.median is None) == (launch_count == 0)
    assert row.bytes == 8
    assert len(row.launches) == 5


def test_a_launch_that_ended_badly_is_told_on_the_rows_that_it_measured(tmp_path: Path) -> None:
    """The same job that goes on in another file, and ends well, has a row without it."""
    folder = write_folder(tmp_path / "out", [FakePoint("mpi.bcast", steady(1000.0))], launches=3)
    _, second, third = sorted((folder / "records").glob("*.jsonl"))
    third.with_name(f"{third.stem}.2.jsonl").write_bytes(third.read_bytes())
    for path in (second, third):
        append_records(path, [Watch(host="n1", seconds=1.0, looks=1, cost_ns=1, ending="closing: hang")])
    (row,) = results(folder)
    assert (row.status, row.launch_count) == ("ok", 3)
    assert [one.ending for one in row.launches] == [None, "closing: hang", None]
    told = row_document(row)["launches"]
    assert [one["ending"] for one in told] == [None, "closing: hang", None]


def test_a_crash_in_shmem_finalize_is_a_remark(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [FakePoint("shmem.put", steady(1000.0))], launches=3)
    for path in (folder / "records").glob("*.jsonl"):
        append_records(path, [Watch(host="n1", seconds=1.0, looks=1, cost_ns=1, remark="closing: signal 11")])
    results = read_results(folder)
    assert [one.ending for one in results.rows[0].launches] == [None] * 3
    found = {one.name: one for one in results.diagnostics}
    assert "closing" not in found
    assert "in 3 launches: closing: signal 11" in found["finalize"].evidence


def test_points_that_were_not_reached_are_rows(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [FakePoint("mpi.bcast", steady(1000.0, count=50))], launches=1)
    campaign = json.loads((folder / "campaign.json").read_text())
    campaign["points"].append(campaign["points"][0] | {"point": 1, "bytes": 64})
    (folder / "campaign.json").write_text(json.dumps(campaign))
    row = results(folder)[1]
    assert (row.status, row.bytes, row.median, row.launch_count) == ("skipped", 64, None, 0)
    assert "not measured yet" in (row.why or "")


def test_a_point_that_was_cut_off_is_not_counted_and_its_repetition_is(tmp_path: Path) -> None:
    """The observations of a launch that died stay in its file; the resumed job measures the point anew."""
    (tmp_path / "records").mkdir()
    job = LINES[0] | {"job": "a"}
    (tmp_path / "records" / "a.jsonl").write_text(text_of([job, *LINES[1:4]]) + '{"record":"ob')
    (before,) = results(tmp_path)
    assert (before.status, before.count) == ("skipped", 0)
    (tmp_path / "records" / "a.2.jsonl").write_text(text_of([job, *LINES[1:]]))
    (after,) = results(tmp_path)
    assert (after.status, after.count, after.launch_count) == ("ok", 2, 1)


def test_a_job_that_never_started_fails_its_points(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [FakePoint("mpi.bcast", steady(1000.0, count=50))], launches=1)
    (path,) = (folder / "records").glob("*.jsonl")
    path.write_text(path.read_text().splitlines(keepends=True)[0])
    append_records(path, [End(point=0, status="failed", why="mpiexec was not found")])
    (row,) = results(folder)
    assert (row.status, row.why, row.op) == ("failed", "mpiexec was not found", "mpi.bcast")


@pytest.mark.parametrize(
    ("lines", "words"),
    [([LINES[0], *LINES[2:]], "no launch record"),
     ([*LINES[:4], LINES[3] | {"start_ns": [[0, 1]], "stop_ns": [[2, 3]]}], "start_ns has 1 items")],
)  # fmt: skip
def test_impossible_records_fail_their_point(tmp_path: Path, lines: list[dict[str, Any]], words: str) -> None:
    (row,) = recorded(tmp_path, lines)
    assert (row.status, row.median) == ("failed", None)
    assert words in (row.why or "")


@pytest.mark.parametrize("text", ["[]", "{", '{"schema": 9}', '{"points": [{}]}'])
def test_a_broken_campaign_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "records").mkdir()
    (tmp_path / "campaign.json").write_text(text)
    with pytest.raises(InputError, match=r"campaign\.json"):
        load(tmp_path)


def test_params_of_a_point_that_never_began_are_those_of_its_plan(tmp_path: Path) -> None:
    made = [
        FakePoint("mpi.bcast", steady(1e3, count=50)),
        FakePoint("mpi.scan", steady(1.0), ends={1: ABSENT}),
    ]
    folder = write_folder(tmp_path / "out", made, launches=1)
    (path,) = (folder / "records").glob("*.jsonl")
    lines = [json.loads(line) for line in unsealed(path.read_text()).splitlines()]
    path.write_text(text_of([line for line in lines if (line["record"], line.get("point")) != ("point", 1)]))
    campaign = json.loads((folder / "campaign.json").read_text())
    campaign["points"][1] |= {"params": {"window": 64}, "rule_params": {"tolerance": 0.03}}
    (folder / "campaign.json").write_text(json.dumps(campaign))
    row = results(folder)[1]
    assert (row.params, row.rule_params) == ({"window": 64}, {"tolerance": 0.03})
