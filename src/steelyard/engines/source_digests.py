"""Digests of an engine's sources, which decide whether an engine is of today: kept while no file has changed.

Each command asks several times, and to read 450 files takes longer than all else that `list` does.
"""

from __future__ import annotations

import functools
import hashlib
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.files import read_regular, write_whole
from steelyard.base.private_folders import OWNER_ALONE, is_private_file
from steelyard.engines.cache import cache_folder

_FOLDER = "sources"
_SETTLED_NS = 2_000_000_000  # since the last change of a file: longer than a tick of any file system's clock
_BYTES = hashlib.sha256().digest_size

_File = tuple[str, int, int, int]  # its path; its size; when its text and its entry changed, in ns


def digest_of_sources(folder: Path) -> bytes:
    """Digest the names and texts of an engine's sources."""
    return _digest(str(folder), tuple(sorted(_files(str(folder)))))


@functools.lru_cache(maxsize=2)  # the checkout's, and those of the installation
def _digest(folder: str, files: tuple[_File, ...]) -> bytes:
    is_settled = max(max(file[2:]) for file in files) < time.time_ns() - _SETTLED_NS
    key = hashlib.sha256(repr((folder, files)).encode(errors="surrogateescape")).digest()
    with suppress(InputError, OSError):
        kept = _kept_file(folder)
        if is_settled and is_private_file(kept):
            found = read_regular(kept)
            if found[_BYTES:] == _proof(key, found[:_BYTES]):
                return found[:_BYTES]
    digest = hashlib.sha256()
    for file, *_ in files:
        for part in (file.removeprefix(folder).encode(), Path(file).read_bytes()):
            digest.update(part + b"\0")
    if is_settled:
        with suppress(InputError, OSError):
            kept = _kept_file(folder)
            write_whole(kept, digest.digest() + _proof(key, digest.digest()))
            kept.chmod(OWNER_ALONE)
    return digest.digest()


def _kept_file(folder: str) -> Path:
    return cache_folder(_FOLDER) / hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]


def _proof(key: bytes, digest: bytes) -> bytes:
    return hashlib.sha256(key + digest).digest()


def _files(folder: str) -> Iterator[_File]:
    """List the sources, as words: paths take 10 ms to make."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path)
            elif entry.name.endswith((".c", ".h")) or entry.name == "build.json":
                stat = entry.stat()
                yield entry.path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns
