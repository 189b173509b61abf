"""Digests of an engine's sources, which decide whether an engine is of today: kept while no file has changed.

Each command asks several times, and to read 450 files takes longer than all else that `list` does.
"""

from __future__ import annotations

import functools
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from steelyard.engines.cache import keep_answer, kept_answer

_FOLDER = "sources"
_SETTLED_NS = 2_000_000_000  # since the last change of a file: longer than a tick of any file system's clock
_MOST_KEPT = 64  # folders of sources: the oldest go

_File = tuple[str, int, int, int]  # its path; its size; when its text and its entry changed, in ns


def digest_of_sources(folder: Path) -> bytes:
    """Digest the names and texts of an engine's sources."""
    return _digest(str(folder), tuple(sorted(_files(str(folder)))))


@functools.lru_cache(maxsize=2)  # the checkout's, and those of the installation
def _digest(folder: str, files: tuple[_File, ...]) -> bytes:
    is_settled = max(max(file[2:]) for file in files) < time.time_ns() - _SETTLED_NS
    key = repr((folder, files)).encode(errors="surrogateescape")
    if is_settled and (kept := kept_answer(_FOLDER, folder, key)) is not None:
        return kept
    digest = hashlib.sha256()
    for file, *_ in files:
        for part in (file.removeprefix(folder).encode(), Path(file).read_bytes()):
            digest.update(part + b"\0")
    if is_settled:
        keep_answer(_FOLDER, folder, key, digest.digest(), _MOST_KEPT)
    return digest.digest()


def _files(folder: str) -> Iterator[_File]:
    """List the sources, as words: paths take 10 ms to make."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path)
            elif entry.name.endswith((".c", ".h")) or entry.name == "build.json":
                stat = entry.stat()
                yield entry.path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
