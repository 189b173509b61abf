from __future__ import annotations

import json
import os
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from make_records import FakePoint, steady, write_folder
from record_lines import LINES, text_of
from steelyard.base.errors import InputError
from steelyard.records.follow import Tail, read_ended
from steelyard.records.job_file import PointRun, append_records
from steelyard.records.read import read_folder, read_job, read_records
from steelyard.records.schema import End, Job, Launch, Obs, Point, records_schema
from steelyard.results.facets import ClockError
from steelyard.results.load import cell_of
from steelyard.results.rows import results

SCHEMA_FILE = Path(__file__).parents[2] / "docs" / "reference" / "records.schema.json"


def write(path: Path, lines: list[dict[str, Any]], tail: str = "") -> Path:
    path.write_text(text_of(lines) + tail)
    return path


def changed(number: int, **keys: Any) -> list[dict[str, Any]]:
    return [line | keys if index == number else line for index, line in enumerate(LINES)]


def test_all_records_of_the_contract_are_read(tmp_path: Path) -> None:
    reading = read_records(write(tmp_path / "a.jsonl", LINES))
    assert not reading.cut_line
    assert [type(record) for record in reading.records] == [Job, Launch, Point, Obs, End]
    job, launch, point, obs, end = reading.records
    assert isinstance(job, Job)
    assert job.mpi is not None
    assert job.mpi.name == "openmpi-4.1.4"
    assert isinstance(launch, Launch)
    assert (launch.yield_, launch.clock.tick_ns, launch.places[1].cpus) == ("real", 10, "1")
    assert isinstance(point, Point)
    assert (point.parts, point.params) == (2, {"window": 64})
    assert isinstance(obs, Obs)
    assert obs.stop_ns[0] == [60000, 160010]
    assert isinstance(end, End)
    assert end.flag == "SETTLED"


def test_records_survive_a_round_trip(tmp_path: Path) -> None:
    first = read_records(write(tmp_path / "a.jsonl", LINES)).records
    append_records(write(tmp_path / "b.jsonl", []), first)
    assert read_records(tmp_path / "b.jsonl").records == first


def test_a_name_that_is_not_utf8_is_kept_as_an_escape(tmp_path: Path) -> None:
    name = os.fsdecode(b"/tmp/caf\xe9")
    append_records(write(tmp_path / "a.jsonl", []), [End(point=0, status="failed", why=f"{name} is full")])
    (end,) = read_records(tmp_path / "a.jsonl").records
    assert isinstance(end, End)
    assert end.why == r"/tmp/caf\udce9 is full"


def test_unknown_keys_are_tolerated(tmp_path: Path) -> None:
    reading = read_records(write(tmp_path / "a.jsonl", [line | {"later": {"x": [1]}} for line in LINES]))
    assert len(reading.records) == len(LINES)


def test_a_file_cut_anywhere_is_read_up_to_the_cut(tmp_path: Path) -> None:
    text = text_of(LINES).encode()
    ends = [index + 1 for index, byte in enumerate(text) if byte == ord("\n")]
    path = tmp_path / "a.jsonl"
    near_ends = {end + off for end in ends[:-1] for off in (-2, -1, 0, 1)}
    for cut in sorted({*range(0, len(text), 7), *near_ends}):
        path.write_bytes(text[:cut])
        reading = read_records(path)
        whole = sum(1 for end in ends if end <= cut + 1)  # a line is whole without its newline too
        assert len(reading.records) == whole
        assert reading.cut_line == (cut not in ends and cut + 1 not in ends and cut > 0)


def test_the_watchdog_ends_a_point_after_a_cut_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [])
    append_records(path, read_records(write(tmp_path / "b.jsonl", LINES[:3])).records)
    with path.open("a") as file:
        file.write('{"record":"obs","point":0,"first":0,"count":2,"start_ns":[[1,')
    append_records(path, [End(point=0, status="failed", why="hang: no observation for 20 s")])
    reading = read_records(path)
    assert reading.cut_line
    last = reading.records[-1]
    assert isinstance(last, End)
    assert last.status == "failed"


@pytest.mark.parametrize(
    ("lines", "tail", "words"),
    [
        (LINES[:1], "nonsense}\n" + text_of(LINES[2:]), "line 2"),
        (LINES[:1], '{"record":"job"\n' + text_of(LINES[2:]), "cut off"),
        (changed(2, reps=0), "", "line 3"),
        (changed(2, report="fastest"), "", "line 3"),
        (changed(3, count=3), "", "line 4"),
        (changed(3, start_ns=[[0, 1]]), "", "line 4"),
        (changed(0, schema=2), "", "format 2"),
        (changed(1, schema=7, clock="quartz"), "", "format 7"),
        (changed(4, record="sync"), "", "line 5"),
    ],
)
def test_broken_files_are_refused_in_one_sentence(
    tmp_path: Path, lines: list[dict[str, Any]], tail: str, words: str
) -> None:
    path = write(tmp_path / "a.jsonl", lines, tail)
    with pytest.raises(InputError, match=words) as caught:
        read_records(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_records(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="no results"):
        read_folder(tmp_path)
    (tmp_path / "records").symlink_to("records")  # what root cannot read either
    with pytest.raises(InputError, match=r"records cannot be read \(.*give a folder that you may read"):
        read_folder(tmp_path)


def test_a_disk_without_room_names_the_file(tmp_path: Path) -> None:
    path, limits = tmp_path / "a.jsonl", resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(OSError, match=r"a\.jsonl"):
            append_records(path, [End(point=0, status="failed")])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_read_job_groups_by_point(tmp_path: Path) -> None:
    job = read_job(write(tmp_path / "a.jsonl", [*LINES, LINES[2] | {"point": 4}]))
    assert job is not None
    assert [run.index for run in job.points] == [0, 4]
    assert job.points[0].end is not None
    assert job.points[1].end is None
    assert len(job.points[0].obs) == 1


def test_a_visitor_sees_each_point_once_and_nothing_is_kept(tmp_path: Path) -> None:
    """Files may be larger than memory: observations live as long as the visit."""
    lines = [LINES[0], LINES[1]]
    lines += [line | {"point": number} for number in (3, 1) for line in LINES[2:]]
    path = write(tmp_path / "a.jsonl", [*lines, LINES[2] | {"point": 9}, LINES[3] | {"point": 9}])
    seen: list[tuple[int, int, bool, bool]] = []
    job = read_job(
        path,
        lambda file, run: seen.append(
            (run.index, sum(chunk.count for chunk in run.obs), run.end is not None, file.launch is not None)
        ),
    )
    assert seen == [(3, 2, True, True), (1, 2, True, True), (9, 2, False, True)]
    assert job is not None
    assert [(run.index, run.obs) for run in job.points] == [(3, ()), (1, ()), (9, ())]


def test_the_ends_of_a_file_that_grows_are_those_of_the_whole_one(tmp_path: Path) -> None:
    """Cut anywhere, between lines and in them: each comes once."""
    points = [
        FakePoint("mpi.bcast", steady(1e3, count=60)),
        FakePoint("mpi.each", steady(2e3), clock_error=9),
    ]
    folder = write_folder(tmp_path / "out", points, launches=1)
    (path,) = (folder / "records").glob("*.jsonl")
    whole = read_job(path)
    assert whole is not None
    data, growing = path.read_bytes(), tmp_path / "growing.jsonl"
    growing.touch()
    tail, runs = Tail(growing), list[PointRun]()
    for piece in np.array_split(np.arange(len(data)), 37):
        with growing.open("ab") as file:
            file.write(data[piece[0] : piece[-1] + 1])
        for file_of_one, span in tail.advance()[0]:
            assert (file_of_one.job, file_of_one.launch) == (whole.job, whole.launch)
            runs += file_of_one.points
            read = read_ended(file_of_one, span)
            assert read is not None
            times, expected = (
                cell_of(file, run).values
                for file, run in ((file_of_one, read), (whole, whole.points[len(runs) - 1]))
            )
            assert times.tolist() == expected.tolist()
    assert [(run.index, run.end) for run in runs] == [(run.index, run.end) for run in whole.points]
    assert len(runs) == 2


def test_read_job_knows_points_that_only_ended(tmp_path: Path) -> None:
    """A point that is skipped before it begins has an end and nothing else."""
    end = {"record": "end", "point": 3, "status": "skipped", "why": "needs 4 ranks"}
    job = read_job(write(tmp_path / "a.jsonl", [*LINES[:2], end]))
    assert job is not None
    assert job.points[0].point is None
    assert job.points[0].end is not None


_PIECE = 1 << 20  # bytes of a line that are looked at before the rest is read


@pytest.mark.parametrize("size", [_PIECE - 1, _PIECE, _PIECE + 1, 3 * _PIECE])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_line_of_any_length_is_read(tmp_path: Path, size: int, end: str) -> None:
    """Also where a piece of it ends with the line, or with the file."""
    lines = changed(0, note="")
    lines = changed(0, note="x" * (size - len(text_of(lines[:1])) - len(end) + 1))
    path = write(tmp_path / "a.jsonl", lines[:1])
    assert path.stat().st_size == size - len(end) + 1
    path.write_bytes(
        path.read_bytes().removesuffix(b"\n") + end.encode() + text_of(lines[1:]).encode() * bool(end)
    )
    assert len(read_records(path).records) == (len(LINES) if end else 1)


def test_a_file_of_holes_is_not_read_to_its_end(tmp_path: Path) -> None:
    """What stands behind them is none of a writer of ours, and is counted as lost."""
    path = write(tmp_path / "a.jsonl", LINES)
    whole = path.stat().st_size
    with path.open("ab") as file:
        file.truncate(whole + 2 * _PIECE)
        file.write(b"\n" + text_of(LINES).encode())
    found = read_job(path)
    assert len(found.points) == 1
    lost = path.stat().st_size - whole - _PIECE
    why = f"is a hole of NUL bytes; {lost} bytes behind its first are not read"
    assert found.damage == (f"line {len(LINES) + 1} of a.jsonl {why}",)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (LINES[1:], "does not begin"),
        ([LINES[0] | {"ranks": 10**30}, *LINES[1:]], "line 1 is not a record"),
        ([], "has no whole record"),
    ],
)
def test_a_file_without_its_job_is_refused(tmp_path: Path, lines: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_job(write(tmp_path / "a.jsonl", lines))


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([LINES[0], LINES[1], LINES[3]], "line 3 of a.jsonl has samples without a point record"),
        ([LINES[0], LINES[1], *LINES[3:]], "line 3 of a.jsonl has samples without a point record"),
        ([LINES[0], LINES[1], LINES[4]], "it has no point record"),
        ([LINES[0], *LINES[2:]], "no launch record"),
        ([*LINES[:3], LINES[2], *LINES[3:]], "point 0 begins twice"),
        ([*LINES, LINES[2]], "point 0 begins twice"),
        ([*LINES, LINES[-1]], "point 0 ends twice"),
        ([*LINES[:4], LINES[0] | {"launch": 2}, LINES[-1]], "is a second record 'job'"),
        ([*LINES[:3], LINES[3] | {"spun_ns": [5, 5]}, LINES[-1]], "waits are not told in full"),
        ([*LINES[:4], LINES[3], LINES[-1]], "samples from 0 on are there twice"),
        ([*LINES[:3], LINES[3] | {"first": 2}, LINES[-1]], "samples 0 to 1 are missing"),
        ([*LINES[:4], LINES[-1] | {"count": 3}], "2 samples are there, and 3 were written"),
    ],
)
def test_damage_spoils_its_point(tmp_path: Path, lines: list[dict[str, Any]], words: str) -> None:
    """And nothing else of the file."""
    other = [line | {"point": 1} for line in LINES[2:]]
    job = read_job(write(tmp_path / "a.jsonl", [*lines, *(other if LINES[1] in lines else [])]))
    told = {run.index: run.damage or "" for run in job.points}
    assert words in told[0]
    assert not told.get(1) or "second record" in words


def test_a_doubled_head_spoils_nothing(tmp_path: Path) -> None:
    job = read_job(write(tmp_path / "a.jsonl", [LINES[0], LINES[0], LINES[1], LINES[1], *LINES[2:]]))
    assert job.points[0].damage is None
    assert job.damage == (
        "line 2 of a.jsonl is a second record 'job'",
        "line 4 of a.jsonl is a second record 'launch'",
    )


def test_read_folder_sorts_by_launch_and_part(tmp_path: Path) -> None:
    folder = tmp_path / "records"
    folder.mkdir()
    for launch, part in ((2, ""), (1, ".10"), (1, ".2"), (1, "")):
        name = f"l{launch:02d}-openmpi-4.1.4-n2"
        write(folder / f"{name}{part}.jsonl", [LINES[0] | {"job": name, "launch": launch}, *LINES[1:]])
    (folder / "empty.jsonl").touch()
    names = [file.path.name.removesuffix(".jsonl") for file in read_folder(tmp_path)]
    first = "l01-openmpi-4.1.4-n2"
    assert names == [first, f"{first}.2", f"{first}.10", "l02-openmpi-4.1.4-n2"]


def test_the_schema_on_disk_is_current() -> None:
    assert json.loads(SCHEMA_FILE.read_text()) == json.loads(json.dumps(records_schema())), (
        "write records_schema() to docs/reference/records.schema.json again"
    )


def test_the_schema_names_all_records() -> None:
    assert set(records_schema()["discriminator"]["mapping"]) == {
        "job",
        "launch",
        "point",
        "obs",
        "reduced",
        "ranks",
        "sync_reduced",
        "phases",
        "lanes",
        "sync",
        "state",
        "watch",
        "end",
        "close",
    }


def test_made_folders_are_like_recorded_ones(tmp_path: Path) -> None:
    write_folder(tmp_path / "out", [FakePoint("mpi.bcast", steady(1000.0, count=700))], launches=2)
    files = read_folder(tmp_path / "out")
    assert [file.job.launch for file in files] == [1, 2]
    assert sum(chunk.count for chunk in files[0].points[0].obs) == 700


OLD_FORMATS = sorted((Path(__file__).parents[1] / "data" / "records").iterdir())


@pytest.mark.parametrize("folder", OLD_FORMATS, ids=lambda path: path.name)
def test_every_format_that_was_ever_written_stays_readable(folder: Path) -> None:
    """Recorded by the engine of that format: an op of each kind, and points that failed or could not run."""
    rows = {(row.op, row.bytes): row for row in results(folder)}
    assert {row.status for row in rows.values()} == {"ok", "failed", "skipped"}
    assert rows["self.fail", 0].status == "failed"
    assert rows["mpi.barrier_init", 0].status == "skipped"
    for key in (("self.clock", 0), ("mpi.pingpong", 8), ("mpi.allreduce", 1024), ("mpi.bcast", 8)):
        row = rows[key]
        assert (row.status, row.launch_count, row.verified) == ("ok", 2, True)
        assert row.count == 40
        assert row.median is not None
        assert row.median > 0
    assert rows["mpi.bcast", 8].get(ClockError).clock_error_ns is not None
