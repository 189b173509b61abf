"""Read files of records, check them, and group them by point."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.files import open_regular
from steelyard.base.json_text import ANYTHING, MOST_FREE, check_shape, decode_json, values_in
from steelyard.base.printable import all_visible, is_plain, shortened, visible
from steelyard.base.serial_map import Mapper, serially
from steelyard.records.collector import Collector
from steelyard.records.consistency import contradiction
from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.schema import SCHEMA, End, Job, Launch, Record, Watch
from steelyard.records.sealing import Seal, read_seal

REMEDY = "restore the file, or delete it and measure again"
Visit = Callable[[JobFile, PointRun], None]
Found = TypeVar("Found")


class Reading(Struct, frozen=True):
    """The contents of a file. `cut_line`: its writer died in the middle of a line, which is left out."""

    path: Path
    records: tuple[Record, ...]
    cut_line: bool


class _Line(Struct, frozen=True):
    """Line `number` of a file: its record and the number that its writer gave to it, or what is wrong with
    it. `is_cut`: its writer died before its end.
    """

    number: int
    record: Record | None = None
    line: int | None = None
    fault: str = ""
    is_cut: bool = False


class RecordsFolder(Struct, frozen=True):
    """The files of a folder, and sentences about those of which nothing can be read."""

    files: tuple[JobFile, ...]
    lost: tuple[str, ...]


class _OtherVersionError(InputError):
    """A file of another version of the format: nobody damaged it, and nothing is to be added beside it."""


class _UnbegunError(InputError):
    """A file whose writer died before its first record was whole, or that had no room for it."""


class _Head(Struct):
    """The keys that every version of the format has, enough to find the version."""

    record: str = ""
    schema: int = SCHEMA


_CHUNK = b'{"record":"obs"'
_PIECE = 1 << 20  # bytes of a line, from which it is looked at before it is read on
_READ_AHEAD = 1 << 18  # bytes: lines of samples are long, and are joined from blocks
_BYTES_PER_SECOND = 5e7  # about what one process reads
_LONGEST_LINE = 1 << 27  # bytes: 1024 samples of 4096 ranks, all of whose timestamps are kept, have 109 MB
_MOST_STAMPS = 13 << 20  # in a line: those of as many, and what they count
_MOST_QUOTED = 200  # letters of what a file says, in a sentence
_LONG = 4096  # bytes of a line, from which numpy reads its timestamps faster

_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)
_head_decoder = msgspec.json.Decoder(_Head)


def read_records(path: Path) -> Reading:
    """Read all records of one file.

    A last line that was cut off is left out and reported in `cut_line`; `end` records that a watchdog added
    after it are read. Raises InputError for a file that cannot be read, a broken line, or another version of
    the format.
    """
    records: list[Record] = []
    cut: int | None = None
    for one in _iterate(path):
        if one.record is None and not one.is_cut:
            raise InputError(f"{path}, line {one.number} {one.fault}; {REMEDY}")
        if cut is not None and not isinstance(one.record, End | Watch):
            raise InputError(f"{path}, line {cut} is cut off; delete the file and measure again")
        cut = one.number if one.record is None else cut
        records += [] if one.record is None else [one.record]
    return Reading(path, tuple(records), cut is not None)


def _iterate(path: Path) -> Iterator[_Line]:
    """Read the lines of a file one by one, so that the whole file need not be in memory.

    Raises InputError for a file that cannot be read, or of another version of the format.
    """
    is_sealed: bool | None = None  # whether lines have checksums, as the first line says
    try:
        with open_regular(path, _READ_AHEAD) as file:
            for number, line in enumerate(_lines(file), start=1):
                if line.isspace():
                    continue
                seal = read_seal(line)
                if is_sealed is None:
                    is_sealed = seal.is_right is not None
                elif not is_sealed and seal.is_right:
                    raise InputError(f"{path}, line 1 has no checksum, and others have; {REMEDY}")
                behind = _behind(file, line)
                yield (
                    _Line(
                        number, fault=f"is a hole of NUL bytes; {behind} bytes behind its first are not read"
                    )
                    if behind
                    else _read_line(path, number, line, seal, is_sealed)
                )
    except OSError as error:
        raise InputError(
            f"{path} cannot be read ({error.strerror}); give a folder that steelyard run wrote"
        ) from error


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """List the lines of a file, each with its end. The last is one that no writer of records would write:
    with a NUL, as a file of holes has gigabytes of, or a longer one than any.
    """
    pieces, size = list[bytes](), 0
    while piece := file.readline(_PIECE):
        pieces.append(piece)
        size += len(piece)
        is_whole = len(piece) < _PIECE or piece.endswith(b"\n")
        is_none = not is_whole and (b"\0" in piece or size > _LONGEST_LINE)
        if is_whole or is_none:
            yield piece if len(pieces) == 1 else b"".join(pieces)
            pieces, size = [], 0
        if is_none:
            return
    if pieces:
        yield b"".join(pieces)


def _behind(file: IO[bytes], line: bytes) -> int:
    """Count the bytes behind the last line of `_lines` that it leaves unread; 0 of any other line."""
    if line.endswith(b"\n") or b"\0" not in line:
        return 0
    return os.fstat(file.fileno()).st_size - file.tell()


def _read_line(path: Path, number: int, line: bytes, seal: Seal, is_sealed: bool) -> _Line:
    """Read one line. Raises InputError for another version of the format."""
    if seal.is_right is False:
        _check_version(path, number, line)
        return _Line(number, fault="was changed after it was written")
    try:
        record = decode_record(line)
    except msgspec.ValidationError as error:
        return _Line(number, fault=_complaint(path, number, line, error))
    except msgspec.DecodeError as error:
        if _is_cut(line, error):
            return _Line(number, fault="is cut off", is_cut=True)
        return _Line(number, fault=_complaint(path, number, line, error))
    if isinstance(record, Job | Launch):
        _check_version(path, number, line)
    if is_sealed and seal.is_right is None:
        return _Line(number, fault="has lost its checksum")
    return _Line(number, record, seal.line)


def _is_cut(line: bytes, error: msgspec.DecodeError) -> bool:
    """Did the writer of a line die before its end? A whole record ends with its closing brace."""
    return line.startswith(b"{") and ("truncated" in str(error) or not line[-_LONG:].rstrip().endswith(b"}"))


def decode_record(line: bytes) -> Record:
    """Decode the record of a line, and make control characters in its texts visible.

    Raises msgspec.DecodeError, whatever is wrong with it.
    """
    record: Record | None = None
    if not is_plain(line):
        record = msgspec.convert(all_visible(decode_json(line, ANYTHING)), Record)
    elif len(line) >= _LONG and line.startswith(_CHUNK) and values_in(line) <= _MOST_STAMPS:
        from steelyard.records.timestamps import decode_chunk

        record = decode_chunk(line)
    if record is None:
        record = decode_json(line, _decoder)
        if isinstance(record, Job | Launch):  # parts of which may be anything
            check_shape(record.settings if isinstance(record, Job) else record.build, MOST_FREE)
    return record


def _complaint(path: Path, number: int, line: bytes, error: msgspec.DecodeError) -> str:
    """Explain why a line is not a record. Raises InputError for another version of the format."""
    _check_version(path, number, line)
    return f"is not a record ({shortened(str(error), _MOST_QUOTED)})"


def _check_version(path: Path, number: int, line: bytes) -> None:
    """Raise InputError if a line says that it is of another version, damaged or not."""
    try:
        head = decode_json(line, _head_decoder)
    except msgspec.DecodeError:
        return
    if head.schema != SCHEMA and head.record in ("job", "launch"):
        raise _OtherVersionError(
            f"{path}, line {number} has records format {head.schema}, this version of steelyard reads "
            f"{SCHEMA}; use the version of steelyard that wrote it"
        )


def read_job(path: Path, visit: Visit | None = None) -> JobFile:
    """Read one file, grouped by point.

    With `visit`, each point is handed over with its samples as soon as it is complete, and the samples are
    not kept, because files may be larger than memory. The JobFile that `visit` gets has only the job and the
    launch. Raises InputError for a file of which nothing can be read.
    """
    lines = _iterate(path)
    collector = Collector(path, _first_job(path, lines))
    runs = list[PointRun]()

    def close(run: PointRun) -> None:
        if visit is not None:
            visit(collector.head(), run)
            run = replace(run, obs=(), syncs=(), reduced=(), reduced_syncs=(), told=None)
        runs.append(run)

    for line in lines:
        if line.record is None:
            collector.skip(line.number, line.fault, line.is_cut)
        elif (run := collector.take(line.record, line.number, line.line)) is not None:
            close(run)
    for run in collector.unfinished():
        close(run)
    return collector.whole(runs)


def _first_job(path: Path, lines: Iterator[_Line]) -> Job:
    """Take the job record, without which nothing of a file can be told. Raises InputError."""
    first = next(lines, _Line(0))
    if first.record is None and (first.is_cut or not first.number) and next(lines, None) is None:
        raise _UnbegunError(f"{path} has no whole record; {REMEDY}")
    if first.record is None:
        raise InputError(f"{path}, line {first.number} {first.fault}; {REMEDY}")
    if not isinstance(first.record, Job):
        raise InputError(f"{path} does not begin with a job record; give a folder that steelyard run wrote")
    if found := contradiction(first.record, None, None, None):
        raise InputError(f"{path}, line {first.number} contradicts itself: {found}; {REMEDY}")
    return first.record


def read_folder(folder: Path, *, samples: bool = True) -> tuple[JobFile, ...]:
    """Read all files of `folder`/records, sorted by launch, then name, then age (a resumed job has several
    files).

    Without `samples` those are dropped as they are read. Raises InputError if there is no such folder, or if
    nothing can be read of any file and no campaign.json says what they were.
    """
    visit = None if samples else lambda *_: None
    return _in_order(folder, [_read(path, visit) for path in _record_paths(folder)]).files


def read_points(
    folder: Path, make: Callable[[JobFile, PointRun], Found], mapped: Mapper = serially
) -> tuple[RecordsFolder, list[Found]]:
    """Read the files as `read_folder` does, without samples, and call `make` for each point with its samples.

    The `JobFile` that `make` gets is that of `read_job`'s visitors. `mapped` may read files in parallel.
    """

    def read(path: Path) -> tuple[JobFile | str | None, list[Found]]:
        made: list[Found] = []
        file = _read(path, lambda file, run: made.append(make(file, run)))
        return file, made if isinstance(file, JobFile) else []

    paths = _record_paths(folder)
    each = mapped(read, paths, sum(map(_size, paths)) / _BYTES_PER_SECOND)
    return _in_order(folder, [file for file, _ in each]), [one for _, made in each for one in made]


def _size(path: Path) -> int:
    """Return the bytes of a file; 0 of one that is not there, as where a link leads nowhere."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_empty(path: Path) -> bool:
    try:
        found = os.stat(path)  # noqa: PTH116 - twice as fast
    except OSError:
        return False
    return found.st_size == 0 and stat.S_ISREG(found.st_mode)


def _read(path: Path, visit: Visit | None) -> JobFile | str | None:
    """Read a file; a sentence if nothing of it can be read, None if nothing was written. Raises InputError
    for another version of the format.
    """
    if _is_empty(path):
        return None
    try:
        file = read_job(path, visit)
    except _OtherVersionError:
        raise
    except _UnbegunError:
        return None
    except InputError as error:
        return visible(str(error))
    if not re.fullmatch(re.escape(file.job.job) + r"(\.\d+)?", path.stem):
        job = shortened(file.job.job, _MOST_QUOTED)
        return visible(f"{path} is not named as its job, {job}; if it is a copy, move it elsewhere")
    return file


def _record_paths(folder: Path) -> list[Path]:
    records = folder / "records"
    try:
        names = sorted(name for name in os.listdir(records) if name.endswith(".jsonl"))  # noqa: PTH208
        return [records / name for name in names]  # of 20,000 paths, sorting takes ten times as long
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{folder} has no results; give a folder that steelyard run wrote") from None
    except OSError as error:
        raise InputError(
            f"{records} cannot be read ({error.strerror}); give a folder that you may read"
        ) from error


def _in_order(folder: Path, each: Sequence[JobFile | str | None]) -> RecordsFolder:
    """Sort the files of which something can be read. Raises InputError if there are others alone, and no
    campaign.json says what was measured: with it, all of that is missing, and can be measured again.
    """
    files = [file for file in each if isinstance(file, JobFile)]
    lost = [file for file in each if isinstance(file, str)]
    if lost and not files and not (folder / "campaign.json").is_file():
        raise InputError(lost[0])
    files.sort(key=lambda file: (file.job.launch, file.job.job, part_number(file)))
    return RecordsFolder(tuple(files), tuple(lost))


def part_number(file: JobFile) -> int:
    """Return the part of a job's file: `JOB.jsonl` is part 1, `JOB.2.jsonl` (after a resume) part 2."""
    part = file.path.stem.removeprefix(file.job.job + ".")
    return int(part) if part.isdigit() else 1
