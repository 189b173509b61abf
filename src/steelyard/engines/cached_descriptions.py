"""Descriptions of engines in this user's cache, for who only looks at what there is: three starts are saved.

What is planned and measured asks the engine itself (`describe`).
"""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec

from steelyard import __version__
from steelyard.engines.build import Engine, describe, engine_environment
from steelyard.engines.cache import keep_answer, kept_answer
from steelyard.engines.description import Description
from steelyard.engines.program_answers import stamp_of

_FOLDER = "descriptions"
_OF_SHELLS = frozenset({"_", "COLUMNS", "LINES", "OLDPWD", "PWD", "SHLVL", "TERM"})  # no engine reads them
_MOST_KEPT = 16  # engines: the oldest go


def description_before(engine: Engine) -> Description:
    """Take what the engine said before; ask it if it, its MPI, the kernel or a variable is another now.

    Raises MeasurementError if it does not start.
    """
    key = _key_of(engine)
    with suppress(msgspec.DecodeError):
        if (kept := kept_answer(_FOLDER, str(engine.path), key)) is not None:
            return msgspec.msgpack.decode(kept, type=Description)
    said = describe(engine)
    keep_answer(_FOLDER, str(engine.path), key, msgspec.msgpack.encode(said), _MOST_KEPT)
    return said


def _key_of(engine: Engine) -> bytes:
    variables = sorted((os.environ | engine_environment(engine)).items())
    told = [(name, value) for name, value in variables if name not in _OF_SHELLS]
    library = None if engine.mpi is None else (engine.mpi.name, stamp_of(engine.mpi.mpiexec or ""))
    parts = (__version__, engine.path, stamp_of(engine.path), library, os.uname().release, told)
    return repr(parts).encode(errors="surrogateescape")
