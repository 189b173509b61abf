"""Results folders that were read before, so that nobody waits for the same statistics twice.

The cache has what was made of each folder last, with a digest of it and of the state of all files then: their
sizes and times, and those of this program. Another state is read anew. The digest has the
contents, too, of files that had changed only just before they were read, as at the end of a run: a further
change within a tick of the file system's clock would show in no time.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from steelyard.analyses.analysis import Made
from steelyard.analyses.overview import ReadFolder, read_rows
from steelyard.base.errors import InputError
from steelyard.base.files import read_regular, write_whole
from steelyard.base.private_folders import OWNER_ALONE, is_private_file
from steelyard.engines.cache import cache_folder, kept_folder
from steelyard.results.load import Measured
from steelyard.results.row import Row
from steelyard.system.workers import mapped

_SETTLED_NS = 2_000_000_000  # since the last change of a file: longer than a tick of any file system's clock
_MOST_BYTES = 32 << 20  # of records: what is larger would fill the cache, and take long to compare
_MOST_KEPT = 16  # folders: the oldest go
_DIGEST_BYTES = hashlib.sha256().digest_size
_NO_CONTENTS = bytes(_DIGEST_BYTES)
_ERRORS = (InputError, OSError)  # none of pickle: what has the right digest was written by this program

FileStamp = tuple[str, int, int, int, int]


class FolderState(NamedTuple):
    """What decides whether what is kept holds: versions, this program's modules, and the files read.

    `contents` is a digest of the files where their times are no proof, else `_NO_CONTENTS`.
    """

    versions: tuple[str, ...]
    program: tuple[FileStamp, ...]
    files: tuple[FileStamp, ...]
    contents: bytes = _NO_CONTENTS


def read_once(folder: Path, name: str = "") -> ReadFolder:
    """Read a results folder as `read_rows` does, or from the cache if it is as it was. Raises InputError."""
    state = _state_of(folder)
    with suppress(*_ERRORS):
        measured, rows = _kept(folder, state)
        return ReadFolder(name, measured, Made(rows))
    if sum(size for _, size, *_ in state.files) >= _MOST_BYTES:
        return read_rows(folder, name, mapped)
    if not _is_settled(state):  # before it is read: a change meanwhile must show, too
        state = _with_contents(state)
    read = read_rows(folder, name, mapped)
    if _state_of(folder).files == state.files:
        with suppress(*_ERRORS):
            _keep(folder, state, read)
    return read


def _state_of(folder: Path) -> FolderState:
    records, names = str(folder / "records"), list[str]()
    with suppress(OSError):
        names = sorted(os.listdir(records))  # noqa: PTH208 - paths of 20,000 files take a second to sort
    files = [
        str(folder / "campaign.json"),
        *(f"{records}/{name}" for name in names if name.endswith(".jsonl")),
    ]
    versions = (sys.version, np.__version__, msgspec.__version__)
    program = _program(Path(__file__).parents[1])
    return FolderState(versions, program, tuple(map(_stamp, files)))


@functools.cache  # what a process has loaded stays as it was; hundreds of files take ms
def _program(folder: Path) -> tuple[FileStamp, ...]:
    found = ((where, name) for where, _, names in os.walk(folder) for name in sorted(names))
    return tuple(
        _stamp(os.path.join(where, name))  # noqa: PTH118 - as above
        for where, name in found
        if name.endswith(".py")
    )


def _stamp(file: str) -> FileStamp:
    """List the size and times of a file; -1 and none where a link leads nowhere, as an editor's lock does."""
    try:
        found = os.stat(file)  # noqa: PTH116 - as above
    except OSError:
        return file, -1, 0, 0, 0
    return file, found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns


def _is_settled(state: FolderState) -> bool:
    """Are all files old enough that a further change shows?"""
    newest = max(max(changed, moved) for *_, changed, moved in state.files)
    return newest < time.time_ns() - _SETTLED_NS


def _with_contents(state: FolderState) -> FolderState:
    """Add the digest of the contents of all files; of one that cannot be read, that it cannot."""
    digest = hashlib.sha256()
    for file, *_ in state.files:
        with suppress(*_ERRORS):
            data = read_regular(Path(file))
            digest.update(f"{file} {len(data)} ".encode(errors="surrogateescape") + data)
    return state._replace(contents=digest.digest())


def _name_of(folder: Path) -> str:
    where = f"{folder}\n{os.path.realpath(folder)}"
    return hashlib.sha256(where.encode(errors="surrogateescape")).hexdigest()


def _kept(folder: Path, state: FolderState) -> tuple[Measured, tuple[Row, ...]]:
    """Get what is kept of a folder in this state. Raises one of `_ERRORS` if there is nothing whole."""
    cache = kept_folder("read")
    if cache is None or not is_private_file(cache / _name_of(folder)):
        raise InputError("nothing is kept")
    kept = memoryview(read_regular(cache / _name_of(folder)))
    head, data = kept[: 2 * _DIGEST_BYTES], kept[2 * _DIGEST_BYTES :]
    contents, digest = head[:_DIGEST_BYTES], head[_DIGEST_BYTES:]
    if contents != _NO_CONTENTS:
        state = _with_contents(state)
    if digest != _digest_of(state, data):
        raise InputError(f"'{folder}' has changed, or what is kept of it is damaged")
    found = pickle.loads(data)  # noqa: S301 - of a folder that nobody else may write
    assert isinstance(found, tuple)
    return found


def _keep(folder: Path, state: FolderState, read: ReadFolder) -> None:
    cache = cache_folder("read")
    data = pickle.dumps((read.measured, read.rows), protocol=pickle.HIGHEST_PROTOCOL)
    file = cache / _name_of(folder)
    write_whole(file, state.contents + _digest_of(state, data) + data)
    file.chmod(OWNER_ALONE)  # whatever the umask
    others = sorted(cache.iterdir(), key=lambda one: one.stat().st_mtime_ns)
    for old in others[:-_MOST_KEPT]:
        old.unlink(missing_ok=True)


def _digest_of(state: FolderState, data: bytes | memoryview) -> bytes:
    digest = hashlib.sha256(repr(state).encode())
    digest.update(data)
    return digest.digest()
