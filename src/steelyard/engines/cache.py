"""The cache: engines, MPIs from PyPI, and what this user has started before. Nobody else may write it."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.files import read_regular, write_whole
from steelyard.base.heartbeat import OFTEN, Tell, telling_still
from steelyard.base.printable import visible
from steelyard.base.private_folders import (
    OWNER_ALONE,
    is_private_file,
    link_of_another,
    private_folder,
    weak_spot,
)
from steelyard.system.process import signals_as_exceptions

_PROOF_BYTES = hashlib.sha256().digest_size
_KEY_BYTES = 32  # as long as the proofs that are made with it


def cache_root() -> Path:
    """Find the folder of engines and MPIs: $STEELYARD_CACHE, or steelyard in the user's cache folder."""
    if own := os.environ.get("STEELYARD_CACHE"):
        return Path(own).absolute()
    if home := os.environ.get("XDG_CACHE_HOME"):
        return Path(home) / "steelyard"
    home = os.path.expanduser("~")  # noqa: PTH111 (Path.expanduser raises where there is none)
    if os.environ.get("HOME") == "" or not home.startswith(
        "/"
    ):  # neither HOME nor an entry in the table of users
        raise InputError("there is no home folder for the cache; set STEELYARD_CACHE to a folder")
    return Path(home, ".cache", "steelyard")


def cache_folder(*names: str) -> Path:
    """Make a folder of the cache if needed, for this user alone. Raises InputError if that is impossible, or
    another user may write there.
    """
    folder = cache_root().joinpath(*names)
    if visible(str(folder)) != str(folder):
        raise InputError(
            f"the cache '{visible(str(folder))}' has control characters in its name, or it is not UTF-8, and "
            "records name what is in it; set STEELYARD_CACHE to a folder with a plain name"
        )
    try:
        if (link := link_of_another(folder)) is not None:
            raise InputError(
                f"'{link}' is a link of another user, who says where the cache is; {_remedy(link)}"
            )
        folder = Path(os.path.realpath(folder))
        spot = weak_spot(folder) or weak_spot(
            private_folder(folder)
        )  # nothing is made where others may write
    except OSError as error:
        raise InputError(
            f"'{folder}' cannot be made: {error.strerror}; set STEELYARD_CACHE to another folder"
        ) from None
    if spot is not None:
        path, why = spot
        raise InputError(
            f"'{path}' {why}, so another user could put into the cache what this one runs; {_remedy(path)}"
        )
    return folder


def _remedy(weak: Path) -> str:
    """Say what helps: a cache of ours is made anew, any other is left."""
    root = Path(os.path.realpath(cache_root()))
    if weak.is_relative_to(root) and root.lstat().st_uid == os.geteuid():
        return f"remove it with 'rm -r {shlex.quote(str(root))}', and it is made anew"
    return "set STEELYARD_CACHE to a folder of your own, such as one in your home folder"


def kept_folder(*names: str) -> Path | None:
    """Find a folder of the cache; None if there is none yet, or this user cannot look. Raises InputError if
    another user may write there.
    """
    folder = cache_root().joinpath(*names)
    with suppress(OSError):
        return cache_folder(*names) if folder.is_dir() else None
    return None


@contextmanager
def locked_for(folder: Path, what: str, tell: Tell, every: float = OFTEN) -> Iterator[None]:
    """Hold the lock of a folder of the cache: two processes may want the same, and one makes it.

    `tell` hears that another one does `what` meanwhile, such as `building an engine`, and that it goes on.
    """
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(f"another steelyard is {what}: waiting for it")
            with telling_still(tell, "waiting for it", every):
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def made_aside(home: Path) -> Iterator[Path]:
    """Give a new folder in which something is made, to be moved into place. It is gone afterwards, however
    often this program is told to end meanwhile.
    """
    with signals_as_exceptions(), tempfile.TemporaryDirectory(prefix=".new-", dir=home) as temporary:
        yield Path(temporary)


def is_whole(built: Path) -> bool:
    """Is it there as it was built? What a fault or others may have changed is built anew.

    It is in a folder that `cache_folder` found private.
    """
    may, digest = os.R_OK if built.suffix == ".o" else os.X_OK, digest_file(built)
    try:
        is_ours = is_private_file(built) and is_private_file(digest)
        return is_ours and os.access(built, may) and digest_of(built) == digest.read_bytes()
    except OSError:
        return False


def digest_file(built: Path) -> Path:
    """Name the file beside it that holds its digest."""
    return built.with_name("sha256")


def digest_of(file: Path) -> bytes:
    """Digest the bytes of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest().encode()


def own_key() -> bytes | None:
    """Read a key that only this user has, and make it if there is none yet; None if none can be kept."""
    with suppress(InputError, OSError):
        file = cache_folder("key") / "key"
        if not file.exists():
            write_whole(file, secrets.token_bytes(_KEY_BYTES))
        key = read_regular(file)
        return key if len(key) == _KEY_BYTES else None
    return None


def kept_answer(name: str, of: str, key: bytes) -> bytes | None:
    """Read what was kept of a path under a key; None if nothing was, or the key is another now."""
    with suppress(InputError, OSError):
        file = _answer_file(name, of)
        kept = read_regular(file) if is_private_file(file) else b""
        proof, answer = kept[:_PROOF_BYTES], kept[_PROOF_BYTES:]
        if proof == _proof(key, answer):
            return answer
    return None


def keep_answer(name: str, of: str, key: bytes, answer: bytes, most: int) -> None:
    """Keep it for later commands, where there is room; of more than `most` files the oldest go."""
    with suppress(InputError, OSError):
        file = _answer_file(name, of)
        write_whole(file, _proof(key, answer) + answer)
        file.chmod(OWNER_ALONE)
        for old in sorted(file.parent.iterdir(), key=lambda one: one.stat().st_mtime_ns)[:-most]:
            old.unlink(missing_ok=True)


def _answer_file(name: str, of: str) -> Path:
    return cache_folder(name) / hashlib.sha256(os.fsencode(of)).hexdigest()[:16]


def _proof(key: bytes, answer: bytes) -> bytes:
    return hashlib.sha256(hashlib.sha256(key).digest() + answer).digest()
