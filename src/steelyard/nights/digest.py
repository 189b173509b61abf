"""The summary of a night in its folder, so that the next check need not read its records again."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from steelyard.base.errors import InputError
from steelyard.base.files import read_regular, write_whole
from steelyard.base.foreign import all_visible, is_plain
from steelyard.nights.store import Night, read_night
from steelyard.records.sealing import read_seal, sealed
from steelyard.results.row import Row

NAME = ".night.json"  # in the folder of a night
_MAKERS = ("base", "records", "stats", "results", "compare", "nights")  # packages whose code makes a night


class Digest(Struct, frozen=True):
    """A saved `Night`; `made_from` identifies its files and the code."""

    made_from: str
    began: int
    rows: tuple[Row, ...]
    settings: dict[str, str]
    ways: dict[str, str]
    zeros: tuple[str, ...]


def known_night(folder: Path) -> Night:
    """Read a night from its digest if the digest fits the present files; else from records, and save it.

    If a folder cannot be written, its records are read each time. Raises InputError as `read_night` does.
    """
    made_from = _made_from(folder)
    kept = _read(folder / NAME)
    if kept is not None and kept.made_from == made_from:
        return Night(folder, kept.began, kept.rows, kept.settings, kept.ways, kept.zeros)
    night = read_night(folder)
    settings, ways = dict(night.settings), dict(night.ways)
    digest = Digest(made_from, night.began, night.rows, settings, ways, night.zeros)
    with suppress(OSError):  # a store may be read-only, or full
        write_whole(folder / NAME, sealed(msgspec.json.encode(digest)))
    return night


def _read(path: Path) -> Digest | None:
    """Read a digest; None if there is none, or it was changed, or is of another version."""
    try:
        data = read_regular(path)
        if not read_seal(data).is_right:
            return None
        if is_plain(data):
            return msgspec.json.decode(data, type=Digest)
        return msgspec.convert(all_visible(msgspec.json.decode(data)), Digest)
    except (InputError, msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None


def _made_from(folder: Path) -> str:
    """Make a checksum of a night's files and of the code: name, length and time of change of each file."""
    found = hashlib.sha256(_code().encode())
    for path in (folder / "campaign.json", *sorted((folder / "records").glob("*.jsonl"))):
        if path.is_file():
            stat = path.stat()
            found.update(f"{path.name}/{stat.st_size}/{stat.st_mtime_ns}\n".encode(errors="surrogateescape"))
    return found.hexdigest()


@cache
def _code() -> str:
    """Make a checksum of the code that makes nights: another version may make other values of the same
    records.
    """
    home = Path(__file__).parents[1]
    found = hashlib.sha256()
    for part in _MAKERS:
        for path in sorted((home / part).rglob("*.py")):
            found.update(read_regular(path))
    return found.hexdigest()
