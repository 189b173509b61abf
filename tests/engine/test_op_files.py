"""Ops of files without MPI: every one on ranks and threads, planted faults, and what file systems refuse."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from further import further
from points import describe, measure
from steelyard.base.errors import InputError
from steelyard.engines.build import Engine, solo_engine
from steelyard.records.kinds import FILE
from steelyard.records.read import read_records
from steelyard.records.schema import End, Point
from steelyard.system.process import Child, run

_FIXED = "rule=fixed count=2"


def _solo() -> Engine:
    try:
        return solo_engine()
    except InputError as error:
        pytest.skip(str(error))


def _lines(threads: int = 1) -> Iterator[str]:
    """Each op; each pattern for one that writes and one that reads, in a shared file and in several."""
    for op in describe(_solo()).ops:
        if op.role == FILE and (threads == 1 or op.max_threads != 1):
            yield f"op={op.name} threads={threads} {_FIXED}" + (" bytes=1024 calls=6" if op.sized else "")
        if op.name in ("file.pwrite", "file.pread"):
            patterns = next(param.words for param in op.params if param.name == "pattern")
            for pattern, file in itertools.product(patterns[1:], ("shared", "own")):
                words = f"pattern={pattern} file={file} bytes=1000 calls=6"
                yield f"op={op.name} threads={threads} {_FIXED} {words}"
            yield f"op={op.name} threads={threads} {_FIXED} memory=one bytes=1000 calls=6"


@pytest.mark.parametrize(("ranks", "threads"), [(1, 1), (3, 1), further(2, 2), further(1, 3)])
def test_every_op(tmp_path: Path, ranks: int, threads: int) -> None:
    files = tmp_path / "files"
    lines = list(_lines(threads))
    records = measure(_solo(), ranks, threads, lines, tmp_path / "out", words=("--files", str(files)))
    ends = [record for record in records if isinstance(record, End)]
    refused = [end.why for end in ends if end.status == "skipped"]  # tmpfs of older kernels has no O_DIRECT
    assert [(end.why, end.verified) for end in ends if end.status != "skipped"] == [(None, True)] * (
        len(lines) - len(refused)
    )
    assert all("does not take its flags" in (why or "") for why in refused)
    skipped = [line for line, end in zip(lines, ends, strict=True) if end.status == "skipped"]
    assert all(".direct" in line for line in skipped)
    assert all(end.files and end.files.free_bytes for end in ends if end.status == "ok")
    assert not files.exists(), "nothing is left"


def test_pieces_of_a_queue_cannot_have_one_memory(tmp_path: Path) -> None:
    lines = [f"op=file.uring.write bytes=512 memory=one {_FIXED}"]
    records = measure(_solo(), 1, 1, lines, tmp_path / "out", words=("--files", str(tmp_path / "files")))
    (end,) = (record for record in records if isinstance(record, End))
    assert end.status == "skipped"
    assert "moves all pieces at once, so each needs memory of its own; give memory=each" in (end.why or "")


@pytest.mark.parametrize("rank", [0, 1])
def test_a_flipped_bit_is_found(tmp_path: Path, rank: int) -> None:
    lines = [f"{line} plant={rank}" for line in _lines()]
    records = measure(_solo(), 2, 1, lines, tmp_path / "out", words=("--files", str(tmp_path / "files")))
    ends = [record for record in records if isinstance(record, End) and record.status != "skipped"]
    wrong = [end.why or "" for end in ends if (end.why or "").startswith("wrong: ")]
    assert len(wrong) == len(ends) > 20


def _lied_to(folder: Path, compiler: str, fault: str, after: int) -> tuple[list[End], str]:
    """Write files by a pwrite with that fault, then another test case: how they ended, and what was said."""
    source = Path(__file__).parents[1] / "data" / "pwrite_faults.c"
    library = folder / "faults.so"
    run([compiler, "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], timeout=600)
    out, points = folder / "out", folder / "points"
    line = "op=file.pwrite bytes=4096 calls=4 rule=fixed count=100 warm_up=brief"
    points.write_text(f"point=0 {line}\npoint=1 op=self.empty {_FIXED}\n")
    env = {"LD_PRELOAD": str(library), "FAULT": fault, "FAULT_AFTER": str(after)}
    argv = [_solo().path, "run", "--ranks", "2", "--files", str(folder / "files"), "--out", str(out)]
    done = run([*argv, "--points", str(points)], env=os.environ | env, timeout=600)
    return [record for record in read_records(out).records if isinstance(record, End)], done.err


@pytest.mark.parametrize(
    ("fault", "words"),
    [("drop", "nothing has arrived"), ("shift", "misplaced|stale"), ("tear", "torn|nothing has arrived")],
)
@pytest.mark.parametrize("after", [0, 200])
def test_a_pwrite_that_lies_is_named(
    tmp_path: Path, compiler: str, fault: str, words: str, after: int
) -> None:
    (end, _), _ = _lied_to(tmp_path, compiler, fault, after)
    assert end.status == "failed"
    assert end.why is not None
    assert "offset " in end.why
    assert "of rank " in end.why
    if after == 0:  # later, what was there before is stale
        assert any(word in end.why for word in words.split("|"))
    else:
        assert any(word in end.why for word in ("stale", "torn", "misplaced", "nothing has arrived"))


def test_a_quota_is_a_failed_row(tmp_path: Path, compiler: str) -> None:
    (first, second), _ = _lied_to(tmp_path, compiler, "quota", 0)
    assert first.status == "failed"
    assert "Disk quota exceeded; make room there, or give smaller --bytes" in (first.why or "")
    assert second.status == "ok"
    assert not (tmp_path / "files").exists()


def test_a_quota_that_is_reached_while_calls_are_timed_is_told(tmp_path: Path, compiler: str) -> None:
    """The launch ends with the sentence, which the watchdog makes the reason of the row."""
    ends, told = _lied_to(tmp_path, compiler, "quota", 50)
    assert ends == []
    assert "pwrite of shared in " in told
    assert "failed: Disk quota exceeded; make room there" in told


def test_a_limit_on_the_size_of_files_is_a_failed_row(tmp_path: Path) -> None:
    """And no signal: ranks that are ended could not say which call it was."""
    out, points = tmp_path / "out", tmp_path / "points"
    points.write_text(f"point=0 op=file.pwrite bytes=1Mi {_FIXED}\npoint=1 op=self.empty {_FIXED}\n")
    argv = [_solo().path, "run", "--files", str(tmp_path / "files"), "--out", str(out)]
    limited = ["prlimit", f"--fsize={1 << 20}", *argv, "--points", str(points)]
    if run(["prlimit", "--version"], timeout=600).code != 0:
        pytest.skip("prlimit is missing")
    run(limited, timeout=600)
    first, second = (record for record in read_records(out).records if isinstance(record, End))
    assert (first.status, second.status) == ("failed", "ok")
    assert "File too large; see ulimit -f" in (first.why or "")


@pytest.mark.parametrize("kills", [8, further(30)])
def test_what_kills_have_left_is_removed_and_nothing_else(tmp_path: Path, kills: int) -> None:
    """All processes at random instants, as a scheduler does at the end of a job."""
    rng = random.Random(37)
    others = {tmp_path / "precious": b"data", tmp_path / "steelyard-files-0-other" / "shared": b"theirs"}
    for path, data in others.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    own = tmp_path / "steelyard-files-0-own"
    lines = ("op=file.pwrite file=own bytes=4096", "op=file.create", "op=file.mkdir folder=shared")
    left = 0
    for number in range(kills):
        argv = [
            _solo().path,
            "run",
            "--ranks",
            "2",
            "--files",
            str(own),
            "--out",
            str(tmp_path / f"{number}"),
        ]
        line = f"{lines[number % len(lines)]} rule=fixed count=1000000 most_seconds=60"
        with Child([*argv, *line.split()]) as child:
            child.pause(rng.uniform(0.01, 0.2))
            child.signal(child.pids(), signal.SIGKILL)
        left += own.exists()
        assert run([_solo().path, "tidy", str(own)], timeout=600).code == 0
        assert not own.exists()
        assert {path: path.read_bytes() for path in others} == others
    assert left > 0 or kills < 30, "some of them were killed while there were files"


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        (None, "needs a folder for its files"),
        ("/proc/none", "failed"),
        ("/nowhere/at/all", "failed: No such"),
    ],
)
def test_a_folder_that_cannot_be(tmp_path: Path, folder: str | None, words: str) -> None:
    more = ("--files", folder) if folder else ()
    line = f"op=file.pwrite bytes=4096 {_FIXED}"
    records = measure(_solo(), 2, 1, [line, f"op=self.empty {_FIXED}"], tmp_path / "out", words=more)
    first, second = (record for record in records if isinstance(record, End))
    assert first.status == ("failed" if folder else "skipped")
    assert words in (first.why or "")
    assert second.status == "ok", "the launch goes on"


def test_a_folder_of_others_is_left_alone(tmp_path: Path) -> None:
    """A folder into which others may write, and a link, are no folder for files."""
    theirs = tmp_path / "steelyard-files-theirs"
    theirs.mkdir()
    (theirs / "precious").write_text("data")
    theirs.chmod(0o777)
    link = tmp_path / "steelyard-files-link"
    link.symlink_to(theirs)
    for folder in (theirs, link):
        line = f"op=file.pwrite bytes=4096 {_FIXED}"
        records = measure(
            _solo(), 1, 1, [line], tmp_path / f"out-{folder.name}", words=("--files", str(folder))
        )
        (end,) = (record for record in records if isinstance(record, End))
        assert end.status == "failed"
        assert run([_solo().path, "tidy", str(folder)], timeout=600).code != 0
    assert [path.name for path in theirs.iterdir()] == ["precious"]


@pytest.mark.parametrize("name", ["home", "steelyard-files"])
def test_tidy_keeps_a_folder_that_has_no_name_of_a_campaign(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir(mode=0o700)
    (folder / "precious").touch()
    done = run([_solo().path, "tidy", str(folder)], timeout=600)
    assert done.code != 0
    assert "is not named steelyard-files-..." in done.err
    assert [path.name for path in folder.iterdir()] == ["precious"]


def test_tidy_removes_what_a_launch_has_left(tmp_path: Path) -> None:
    folder = tmp_path / "steelyard-files-0-1"
    (folder / "names-3").mkdir(parents=True)
    (folder / "names-3" / "r3.0").touch()
    (folder / "shared").write_bytes(b"x")
    folder.chmod(0o700)
    assert run([_solo().path, "tidy", str(folder)], timeout=600).code == 0
    assert not folder.exists()
    assert run([_solo().path, "tidy", str(folder)], timeout=600).code == 0, "there is nothing to do"


def test_more_than_a_share_of_what_is_free(tmp_path: Path) -> None:
    free = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
    calls = 65536
    size = free // calls // 3 // 512 * 512  # two ranks: two thirds of it
    line = f"op=file.pwrite bytes={size} calls={calls} {_FIXED}"
    records = measure(_solo(), 2, 1, [line], tmp_path / "out", words=("--files", str(tmp_path / "files")))
    (end,) = (record for record in records if isinstance(record, End))
    assert (end.status, "more than a quarter" in (end.why or "")) == ("skipped", True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
@pytest.mark.parametrize(
    ("options", "words"), [("size=200k", "No space left|more than a quarter"), ("ro", "Read-only")]
)
def test_small_and_read_only_file_systems(tmp_path: Path, options: str, words: str) -> None:
    place = tmp_path / "mount"
    place.mkdir()
    mounted = run(["mount", "-t", "tmpfs", "-o", options, "none", str(place)], timeout=600)
    if mounted.code != 0:
        pytest.skip(f"tmpfs cannot be mounted here: {mounted.err}")
    try:
        if options != "ro":
            (place / "others").write_bytes(b"x" * 100_000)
        lines = [f"op=file.pwrite bytes=4096 calls=8 {_FIXED}", f"op=self.empty {_FIXED}"]
        records = measure(_solo(), 1, 1, lines, tmp_path / "out", words=("--files", str(place / "own")))
        first, second = (record for record in records if isinstance(record, End))
        assert first.status in ("failed", "skipped")
        assert any(word in (first.why or "") for word in words.split("|"))
        assert second.status == "ok"
        assert [path.name for path in place.iterdir()] == ([] if options == "ro" else ["others"])
    finally:
        assert run(["umount", str(place)], timeout=600).code == 0


def test_what_was_read_from_storage_is_counted(tmp_path: Path) -> None:
    """By the kernel; from a file system in memory that is nothing."""
    line = f"op=file.pread.cold bytes=64Ki calls=4 {_FIXED}"
    files = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        words = ("--files", str(files / "own"))
        records = measure(_solo(), 1, 1, [line], tmp_path / "out", words=words)
    finally:
        shutil.rmtree(files)
    (point,) = (record for record in records if isinstance(record, Point))
    assert point.moved_bytes == 4 * 65536
    told = [getattr(record, "counts", {}).get("from_storage_bytes", []) for record in records]
    counts = [count for ranks in told for rank in ranks for count in rank]
    assert counts
    assert set(counts) == {0}
