"""Read files of records, check them, and group them by point."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.files import open_regular
from steelyard.base.foreign import all_visible, is_plain, visible
from steelyard.base.serially import Mapper, serially
from steelyard.records.collector import REMEDY, Collector, Kinds, check_kind
from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.schema import SCHEMA, End, Job, Launch, Record, Watch

Visit = Callable[[JobFile, PointRun], None]
Found = TypeVar("Found")


class Reading(Struct, frozen=True):
    """The contents of a file. `cut_line`: its writer died in the middle of a line, which is left out."""

    path: Path
    records: tuple[Record, ...]
    cut_line: bool


class _Head(Struct):
    """The keys that every version of the format has, enough to find the version."""

    record: str = ""
    schema: int = SCHEMA


_CHUNK = b'{"record":"obs"'
_READ_AHEAD = 1 << 18  # bytes: lines of samples are long, and are joined from blocks
_BYTES_PER_SECOND = 5e7  # about what one process reads
_LONG = 4096  # bytes of a line, from which numpy reads its timestamps faster

_decoder = msgspec.json.Decoder(Record)
_head_decoder = msgspec.json.Decoder(_Head)


def read_records(path: Path) -> Reading:
    """Read all records of one file.

    A last line that was cut off is left out and reported in `cut_line`; `end` records that a watchdog added
    after it are read. Raises InputError for a file that cannot be read, a broken line, or another version of
    the format.
    """
    records = list(_iterate(path))
    return Reading(path, tuple(one for one in records if one is not None), None in records)


def _iterate(path: Path) -> Iterator[Record | None]:
    """Read the records of a file one by one, so that the whole file need not be in memory; None for a cut
    line.
    """
    is_cut = False
    try:
        with open_regular(path, _READ_AHEAD) as file:
            for number, line in enumerate(file, start=1):
                if line.isspace():
                    continue
                record = _decode(path, number, line)
                if is_cut and record is not None and not isinstance(record, End | Watch):
                    raise InputError(
                        f"{path}, line {number - 1} is cut off; delete the file and measure again"
                    )
                is_cut = is_cut or record is None
                yield record
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}); give a folder that steelyard run wrote"
        ) from error


def _decode(path: Path, number: int, line: bytes) -> Record | None:
    """Decode one line; None if its writer died before its end. Raises InputError."""
    try:
        record = decode_record(line)
    except RecursionError:
        raise InputError(
            f"{path}, line {number} is not a record: it is nested too deeply; {REMEDY}"
        ) from None
    except msgspec.ValidationError as error:
        raise InputError(_complaint(path, number, line, error)) from error
    except msgspec.DecodeError as error:
        if not _is_cut(line, error):
            raise InputError(_complaint(path, number, line, error)) from error
        return None
    if isinstance(record, Job | Launch) and record.schema != SCHEMA:
        raise InputError(_version_complaint(path, number, record.schema))
    return record


def _is_cut(line: bytes, error: msgspec.DecodeError) -> bool:
    """Did the writer of a line die before its end? A whole record ends with its closing brace."""
    return line.startswith(b"{") and ("truncated" in str(error) or not line.rstrip().endswith(b"}"))


def decode_record(line: bytes) -> Record:
    """Decode the record of a line, and make control characters in its texts visible.

    Raises msgspec.DecodeError, and RecursionError if it is nested too deeply.
    """
    record: Record | None = None
    try:
        if is_plain(line):
            if len(line) >= _LONG and line.startswith(_CHUNK):
                from steelyard.records.stamps import decode_chunk

                record = decode_chunk(line)
            record = record or _decoder.decode(line)
        else:
            record = msgspec.convert(all_visible(msgspec.json.decode(line)), Record)
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(f"not UTF-8: {error.reason}") from None
    return record


def _complaint(path: Path, number: int, line: bytes, error: msgspec.DecodeError) -> str:
    """Explain in one sentence why a line is not a record: another version, or damage."""
    try:
        head = _head_decoder.decode(line)
    except (msgspec.DecodeError, RecursionError):
        head = _Head()
    if head.schema != SCHEMA:
        return _version_complaint(path, number, head.schema)
    return f"{path}, line {number} is not a record ({visible(str(error))}); {REMEDY}"


def _version_complaint(path: Path, number: int, schema: int) -> str:
    return (
        f"{path}, line {number} has records format {schema}, this version of steelyard reads {SCHEMA}; "
        f"use the version of steelyard that wrote it"
    )


def read_job(path: Path, visit: Visit | None = None, kinds: Kinds | None = None) -> JobFile | None:
    """Read one file, grouped by point; None if not even its first line is whole.

    With `visit`, each point is handed over with its samples as soon as it is complete, and the samples are
    not kept, because files may be larger than memory. The JobFile that `visit` gets has only the job and the
    launch. `kinds` are those of points in other files. Raises InputError.
    """
    collector = Collector(path, kinds={} if kinds is None else kinds)
    runs, is_cut = list[PointRun](), False

    def close(run: PointRun) -> None:
        if visit is not None:
            visit(collector.head(), run)
            run = replace(run, obs=(), syncs=(), reduced=(), reduced_syncs=(), told=None)
        runs.append(run)

    for record in _iterate(path):
        if record is None and collector.job is None:
            return None
        if record is None:
            is_cut = True
        elif (run := collector.take(record)) is not None:
            close(run)
    if collector.job is None:
        return None
    for run in collector.unfinished():
        close(run)
    return collector.whole(runs, is_cut)


def read_folder(folder: Path, *, samples: bool = True) -> tuple[JobFile, ...]:
    """Read all files of `folder`/records, sorted by launch, then name, then age (a resumed job has several
    files).

    Without `samples` those are dropped as they are read. Raises InputError if there is no such folder or a
    file is broken.
    """
    return _in_order(_read(path, None if samples else lambda *_: None) for path in _record_paths(folder))


def read_points(
    folder: Path, make: Callable[[JobFile, PointRun], Found], mapped: Mapper = serially
) -> tuple[tuple[JobFile, ...], list[Found]]:
    """Read the files as `read_folder` does, without samples, and call `make` for each point with its samples.

    The `JobFile` that `make` gets is that of `read_job`'s visitors. `mapped` may read files in parallel.
    """

    def read(path: Path) -> tuple[JobFile | None, Kinds, list[Found]]:
        made: list[Found] = []
        return *_read(path, lambda file, run: made.append(make(file, run))), made

    paths = _record_paths(folder)
    each = mapped(read, paths, sum(path.stat().st_size for path in paths) / _BYTES_PER_SECOND)
    return _in_order([(file, kinds) for file, kinds, _ in each]), [one for _, _, made in each for one in made]


def _read(path: Path, visit: Visit | None) -> tuple[JobFile | None, Kinds]:
    """Read a file, and the definitions of its points: files that are read separately are compared later."""
    kinds: Kinds = {}
    return read_job(path, visit, kinds), kinds


def _record_paths(folder: Path) -> list[Path]:
    records = folder / "records"
    try:
        return sorted(path for path in records.iterdir() if path.suffix == ".jsonl")
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder} holds no records; give a folder that steelyard run wrote") from None
    except OSError as error:
        raise InputError(
            f"{records} cannot be read ({error.strerror}); give a folder that you may read"
        ) from error


def _in_order(each: Iterable[tuple[JobFile | None, Kinds]]) -> tuple[JobFile, ...]:
    """Sort the files that are whole enough to count. Raises InputError if they do not fit together."""
    files: list[JobFile] = []
    seen: Kinds = {}
    for file, kinds in each:
        for index, (path, kind) in kinds.items():
            check_kind(seen, index, path, kind)
        if file is None:
            continue
        if not re.fullmatch(re.escape(file.job.job) + r"(\.\d+)?", file.path.stem):
            raise InputError(
                f"{file.path} is not named as its job, {file.job.job}; if it is a copy, move it elsewhere"
            )
        files.append(file)
    return tuple(sorted(files, key=lambda file: (file.job.launch, file.job.job, part_number(file))))


def part_number(file: JobFile) -> int:
    """Return the part of a job's file: `JOB.jsonl` is part 1, `JOB.2.jsonl` (after a resume) part 2."""
    part = file.path.stem.removeprefix(file.job.job + ".")
    return int(part) if part.isdigit() else 1
