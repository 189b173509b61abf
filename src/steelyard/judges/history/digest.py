"""The summary of a night in its folder, so that the next check need not read its records again.

The folder may come from somebody else, who can give files any name, length and time. So a summary ends with
a proof that this user made it: it is believed for no other reason.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import msgspec
from msgspec import Struct

from steelyard.base.errors import InputError
from steelyard.base.files import check_regular, read_regular, write_whole
from steelyard.judges.history.store import Night, read_night
from steelyard.results.quantiles import quantile_name
from steelyard.results.row import Row

NAME = ".night.json"  # in the folder of a night
_MAKERS = ("base", "judges", "records", "results", "rows", "stats")  # packages whose code makes a night
_PROOF = b',"proof":"'


class Digest(Struct, frozen=True):
    """A saved `Night`; `made_from` identifies its files and the code. In the file, `proof` follows."""

    made_from: str
    began: int
    rows: tuple[Row, ...]
    settings: dict[str, str]
    ways: dict[str, str]
    zeros: tuple[str, ...]


def known_night(folder: Path, key: bytes | None, quantile: float | None = None) -> Night:
    """Read a night from its digest if the digest fits the present files; else from records, and save it.
    Each `quantile` of launches has a digest of its own.

    `key` is known to this user alone, None if none can be kept. Without one, and where a folder cannot be
    written, records are read each time. Raises InputError as `read_night` does.
    """
    night, save = seen_night(folder, key, quantile)
    save()
    return night


def seen_night(
    folder: Path, key: bytes | None, quantile: float | None = None
) -> tuple[Night, Callable[[], None]]:
    """Read a night as `known_night` does, and return what saves its digest: a command that is refused later
    has written nothing.
    """
    if key is None:
        return read_night(folder, quantile), _nothing
    made_from, path = _made_from(folder, quantile), folder / name_of(quantile)
    kept = _read(path, key)
    if kept is not None and kept.made_from == made_from:
        return Night(folder, kept.began, kept.rows, kept.settings, kept.ways, kept.zeros), _nothing
    night = read_night(folder, quantile)
    settings, ways = dict(night.settings), dict(night.ways)
    digest = Digest(made_from, night.began, night.rows, settings, ways, night.zeros)
    return night, partial(_save, path, digest, key)


def _nothing() -> None:
    pass


def _save(path: Path, digest: Digest, key: bytes) -> None:
    with suppress(OSError, InputError):  # a store may be read-only, or full
        check_regular(path)  # nothing goes into a pipe that somebody left there
        write_whole(path, _proven(msgspec.json.encode(digest), key))


def _read(path: Path, key: bytes) -> Digest | None:
    """Read a digest; None if there is none, or somebody else made or changed it, or another version."""
    try:
        data = read_regular(path)
        body = data.rpartition(_PROOF)[0]
        if not hmac.compare_digest(data, _proven(body + b"}", key)):
            return None
        return msgspec.json.decode(data, type=Digest)
    except (InputError, msgspec.DecodeError):
        return None


def _proven(document: bytes, key: bytes) -> bytes:
    """End an object of JSON with what only this user can make of it."""
    body = document[:-1]
    return b'%s%s%s"}' % (body, _PROOF, hmac.new(key, body, "sha256").hexdigest().encode())


def name_of(quantile: float | None) -> str:
    """Name the digest: `.night.json`, `.night-p99.json`."""
    return NAME if quantile is None else f".night-{quantile_name(quantile)}.json"


def _made_from(folder: Path, quantile: float | None) -> str:
    """Make a checksum of a night's files and of the code: name, length and time of change of each file."""
    found = hashlib.sha256(f"{_code()}/{quantile}\n".encode())
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
    home = Path(__file__).parents[2]
    found = hashlib.sha256()
    for part in _MAKERS:
        for path in sorted((home / part).rglob("*.py")):
            found.update(read_regular(path))
    return found.hexdigest()
