"""Descriptions of engines in this user's cache, for who only looks at what there is: three starts are saved.

What is planned and measured asks the engine itself (`describe`).
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import msgspec

from steelyard import __version__
from steelyard.base.errors import InputError
from steelyard.base.files import read_regular, write_whole
from steelyard.base.private_folders import OWNER_ALONE, is_private_file
from steelyard.engines.build import Engine, describe, engine_environment
from steelyard.engines.cache import cache_folder
from steelyard.engines.description import Description
from steelyard.engines.program_answers import stamp_of

_FOLDER = "descriptions"
_OF_SHELLS = frozenset({"_", "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL", "TERM"})  # no engine reads them
_MOST_KEPT = 16  # engines: the oldest go
_DIGEST_BYTES = hashlib.sha256().digest_size


def description_before(engine: Engine) -> Description:
    """Take what the engine said before; ask it if it, its MPI, the kernel or a variable is another now.

    Raises MeasurementError if it does not start.
    """
    key = _key_of(engine)
    with suppress(InputError, OSError, msgspec.DecodeError):
        file = _file_of(engine)
        if is_private_file(file):
            kept = read_regular(file)
            if kept[:_DIGEST_BYTES] == _digest_of(key, kept[_DIGEST_BYTES:]):
                return msgspec.msgpack.decode(kept[_DIGEST_BYTES:], type=Description)
    said = describe(engine)
    with suppress(InputError, OSError):
        file = _file_of(engine)
        data = msgspec.msgpack.encode(said)
        write_whole(file, _digest_of(key, data) + data)
        file.chmod(OWNER_ALONE)
        for old in sorted(file.parent.iterdir(), key=lambda one: one.stat().st_mtime_ns)[:-_MOST_KEPT]:
            old.unlink(missing_ok=True)
    return said


def _file_of(engine: Engine) -> Path:
    return cache_folder(_FOLDER) / hashlib.sha256(os.fsencode(engine.path)).hexdigest()[:16]


def _key_of(engine: Engine) -> bytes:
    variables = sorted((os.environ | engine_environment(engine)).items())
    told = [(name, value) for name, value in variables if name not in _OF_SHELLS]
    library = None if engine.mpi is None else (engine.mpi.name, stamp_of(engine.mpi.mpiexec or ""))
    parts = (__version__, engine.path, stamp_of(engine.path), library, os.uname().release, told)
    return repr(parts).encode(errors="surrogateescape")


def _digest_of(key: bytes, data: bytes) -> bytes:
    digest = hashlib.sha256(key)
    digest.update(data)
    return digest.digest()
