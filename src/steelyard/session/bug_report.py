"""What the authors need to find a bug, as text: without secrets, and without the processes of others."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from steelyard import __version__
from steelyard.base.errors import InputError, SteelyardError
from steelyard.base.files import open_regular, read_regular
from steelyard.base.heartbeat import Tell
from steelyard.base.json_text import ANYTHING, decode_json
from steelyard.base.plural import counted
from steelyard.base.printable import shortened, visible
from steelyard.base.secret import masked_document, masked_text
from steelyard.base.units import format_bytes
from steelyard.engines.cache import kept_folder

BUG_FILES = ("steelyard-bug-", ".txt")  # the ends of their names
_PACKAGES = ("typer", "msgspec", "numpy", "rich", "jinja2", "polars", "matplotlib")
_MOST_RECORDS = 20  # the last ones; a test case has about five
_LONGEST_RECORD = 400  # letters of a line; samples are longer, and say nothing of a bug
_MOST_TAIL = 1 << 20  # bytes at the end of a file of records, in which its last lines are
_MOST_BUG = 1 << 18  # bytes of the file of a bug; Python cuts tracebacks that repeat themselves
_MOST_FAILED = 20  # test cases that did not end well
# Where processes of others are named: the key of a record, and diagnostics by their evidence.
_OTHERS_WORK = ("processes",)
_NAMING_OTHERS = ("busy-neighbour", "busy-beside")

Passage = tuple[str, Callable[[], Iterable[str]]]  # a title, and what makes the lines below it


def program_lines() -> Iterator[str]:
    """Write the versions of this program, of Python and of its packages."""
    yield f"steelyard {__version__}, Python {platform.python_version()}, {platform.platform()}"
    yield ", ".join(f"{name} {version}" for name, version in _versions())


def _versions() -> Iterator[tuple[str, str]]:
    for name in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            yield name, importlib.metadata.version(name)


def bug_report_text(command: str | None, folder: Path | None, tell: Tell) -> str:
    """Gather versions, the command that failed, the file of the last bug, this machine, and, of a results
    folder, what its diagnostics found and its last records.

    What cannot be gathered is said in its place: a report is most wanted where something is broken. `tell`
    hears of an engine that is built first.
    """
    sections: list[Passage] = [("program", program_lines)]
    if command is not None:
        sections.append(("command", lambda: [command]))
    if (bug := last_bug(folder)) is not None:
        sections.append((f"bug, {_when(bug)}, {bug}", lambda: _bug_lines(bug)))
    sections.append(("machine", lambda: _machine_lines(tell)))
    if folder is not None:
        sections.append((f"diagnostics of {folder}", lambda: _diagnostic_lines(folder)))
        sections.append((f"last records of {folder}", lambda: _record_lines(folder)))
    return "\n".join(line for section in sections for line in _section_lines(*section))


def last_bug(folder: Path | None) -> Path | None:
    """Find the newest file of a bug that this user's program wrote: in the results folder, else in the cache
    or among temporary files; None if there is none.
    """
    for places in ([folder] if folder else [], [_cache(), Path(tempfile.gettempdir())]):
        files = [file for place in places if place is not None for file in _bugs_in(place)]
        if files:
            return max(files, key=lambda file: file.lstat().st_mtime_ns)
    return None


def _cache() -> Path | None:
    with contextlib.suppress(InputError):
        return kept_folder()
    return None


def _bugs_in(place: Path) -> Iterator[Path]:
    """List files of bugs of this user; one that another user laid there is none."""
    begin, end = BUG_FILES
    with contextlib.suppress(OSError):
        for file in place.glob(f"{begin}*{end}"):
            if file.lstat().st_uid == os.geteuid() and not file.is_symlink():
                yield file


def _when(file: Path) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(file.lstat().st_mtime))


def _section_lines(title: str, lines: Callable[[], Iterable[str]]) -> Iterator[str]:
    yield f"== {visible(title)}"
    try:
        yield from [visible(masked_text(line)) for line in lines()]
    except SteelyardError as error:
        yield f"not to be had: {visible(masked_text(str(error)))}"
    except Exception:  # of the very bug that is to be reported
        yield from map(visible, masked_text(traceback.format_exc()).splitlines())
    yield ""


def _bug_lines(file: Path) -> list[str]:
    return read_regular(file, _MOST_BUG).decode(errors="replace").splitlines()


def _machine_lines(tell: Tell) -> Iterator[str]:
    from steelyard.diagnostics.machine import examine
    from steelyard.diagnostics.machine.installation import machine_lines
    from steelyard.diagnostics.machine.snapshot import take_snapshot
    from steelyard.diagnostics.text import diagnostic_text

    snapshot = take_snapshot(tell)
    for name, line in machine_lines(snapshot):
        yield f"{name}: {line}"
    yield from diagnostic_text(examine(snapshot), notes=True)


def _diagnostic_lines(folder: Path) -> Iterator[str]:
    from steelyard.diagnostics.text import diagnostic_text
    from steelyard.session.results import read_results

    results = read_results(folder)
    yield repr(results)
    failed = [row for row in results.rows if row.status != "ok"]
    for row in failed[:_MOST_FAILED]:
        size = f", {format_bytes(row.bytes)}" if row.sized else ""
        yield f"{row.status}: {row.op}{size}, {counted(row.ranks, 'rank')}: {row.why}"
    if len(failed) > _MOST_FAILED:
        yield f"and {len(failed) - _MOST_FAILED} more that failed or were skipped"
    yield from diagnostic_text(
        [
            replace(diagnostic, evidence="") if diagnostic.name in _NAMING_OTHERS else diagnostic
            for diagnostic in results.diagnostics
        ]
    )


def _record_lines(folder: Path) -> Iterator[str]:
    """Write the last records of the file that was written last."""
    files = [file for file in (folder / "records").glob("*.jsonl") if not file.is_symlink()]
    if not files:
        raise InputError(f"'{folder}' has no records; give a folder that 'steelyard run' wrote")
    newest = max(files, key=lambda file: file.lstat().st_mtime_ns)
    yield f"{newest.name}:"
    with open_regular(newest) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _MOST_TAIL))
        lines = file.read(_MOST_TAIL).splitlines()
    for line in lines[-_MOST_RECORDS:]:
        yield shortened(_shown_record(line), _LONGEST_RECORD)


def _shown_record(line: bytes) -> str:
    """Write a record without secrets and others' processes; of a line that is no record, its length."""
    try:
        record = decode_json(line, ANYTHING)
    except msgspec.DecodeError:
        return f"a line of {len(line)} bytes that is no record"
    if isinstance(record, dict):
        record = {key: value for key, value in record.items() if key not in _OTHERS_WORK}
    return msgspec.json.encode(masked_document(record)).decode()
