"""What a plan starts on this machine, and what this user has started here before.

A results folder may come from somebody else, and its plan and records name programs: a wrapper, a launcher,
libraries to preload. What this user has started is kept as hashes in the cache, which nobody else can write;
so nothing in a folder can claim to be known, and a folder may be moved or copied. `./wrap.sh` is known where
it was started, and not in a stranger's folder with one of its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.ownership import is_own, owner_name
from steelyard.base.secret import masked, masked_text
from steelyard.campaign.jobs import CampaignSetup
from steelyard.engines.cache import cache_folder, kept_folder
from steelyard.engines.mpi import find_mpis, is_place
from steelyard.engines.shmem import find_shmems
from steelyard.plan.arms import USUAL, with_arms
from steelyard.plan.own_ops import libraries_of
from steelyard.plan.plan import Plan
from steelyard.plan.settings import words_of
from steelyard.records.campaign_file import UNSET

_FOLDER = "started"  # of the cache
_SETTINGS = {"ucx.conf": "UCX"}  # files that libraries read in the current folder, and whose they are
LIBRARIES = ("LD_PRELOAD", "LD_LIBRARY_PATH")  # variables that may make an engine run with other libraries


def started_by(plan: Plan) -> tuple[str, ...]:
    """List what a plan has its launches start or load, beside our engines and this machine's MPIs.

    Each is a line for people. Raises InputError for arms that cannot be.
    """
    return tuple(dict.fromkeys(_lines(plan)))


def _lines(plan: Plan) -> Iterator[str]:
    axes = with_arms(plan)
    for measure in axes.measure:
        yield from (f"wrapper: {words}" for words in words_of(measure.wrapper) if words != UNSET)
        yield from (f"modules: {words}" for words in words_of(measure.modules) if words != UNSET)
        yield from (f"files in: {folder}" for folder in words_of(measure.files))
        for name, values in measure.env.items():
            yield from (_variable(name, value) for value in words_of(values) if value != UNSET)
    yield from (_mpi(word) for word in (*axes.mpi, *axes.shmem) if is_place(word))
    yield from (
        f"settings of {whose}: {Path(name).absolute()}"
        for name, whose in _SETTINGS.items()
        if os.path.lexists(name)
    )
    yield from (_engine(path) for path in plan.arms.get("engine", ()) if path != USUAL)
    yield from (f"library: {path}" for path in libraries_of(axes))
    if plan.stage is not None:
        yield f"copied to each host: {plan.stage}"


def check_settings_here() -> None:
    """Raise InputError for a file that a library would read in the current folder, and that another user
    left there.
    """
    for name, whose in _SETTINGS.items():
        with contextlib.suppress(OSError):
            for found in (os.lstat(name), Path(name).stat()):
                if found.st_uid != 0 and not is_own(found, Path()):
                    where, owner = Path(name).absolute(), owner_name(found)
                    raise InputError(
                        f"'{where}' belongs to {owner}, and {whose} would read it; go to another folder"
                    )


def arm_line(factor: str, value: str) -> str:
    """Write the line for an arm of `mpi`, `engine` or `env.NAME`, as `started_by` does."""
    kind, _, name = factor.partition(".")
    return {"mpi": _mpi(value), "engine": _engine(value)}.get(kind) or _variable(name, value)


def _variable(name: str, value: str) -> str:
    return f"variable: {name}={value}"


def _mpi(word: str) -> str:
    return f"MPI: {word}"


def _engine(path: object) -> str:
    return f"engine: {path}"


def unknown(lines: Iterable[str]) -> tuple[str, ...]:
    """List those lines that this user has not started here before, and that are no MPI or OpenSHMEM that this
    machine finds by itself.
    """
    folder = None
    with contextlib.suppress(InputError):
        folder = kept_folder(_FOLDER)
    new = [line for line in lines if folder is None or not (folder / _name(line)).is_file()]
    if any(line.startswith(_mpi("")) for line in new):
        libraries = (*find_mpis(), *find_shmems())
        found = {
            _mpi(path)
            for library in libraries
            for path in (library.mpiexec, library.mpicc, library.prefix)
            if path
        }
        new = [line for line in new if line not in found]
    return tuple(new)


def remember(plan: Plan, setup: CampaignSetup, environ: Mapping[str, str] = os.environ) -> None:
    """Remember what this user starts: what the plan names, the engines and launchers of the set-up, and the
    libraries that the environment has them load.

    A cache that cannot be written remembers nothing.
    """
    libraries = (_variable(name, environ[name]) for name in LIBRARIES if name in environ)
    engines = setup.engines.values()
    launchers = (engine.mpi.mpiexec for engine in engines if engine.mpi is not None)
    used = (*(_engine(engine.path) for engine in engines), *map(_mpi, launchers))
    remember_lines((*started_by(plan), *used, *libraries))


def remember_lines(lines: Sequence[str]) -> None:
    """Remember lines of `started_by`, in the current folder."""
    with contextlib.suppress(InputError, OSError):
        folder = cache_folder(_FOLDER)
        for line in (*lines, *map(_masked_line, lines)):  # as folders have it
            Path(folder, _name(line)).touch()


def _masked_line(line: str) -> str:
    kind, sign, rest = line.partition("variable: ")
    name, equals, value = rest.partition("=")
    return f"{kind}{sign}{name}{equals}{masked(name, value)}" if sign else masked_text(line)


def _name(line: str) -> str:
    """Name a line, and the files that its words mean in the current folder."""
    words = re.split(r"[\s=:,;'\"]+", line)
    meant = sorted(
        {os.path.realpath(word) for word in words if word[:1] not in ("", "/") and _is_there(word)}
    )
    return hashlib.sha256("\0".join((line, *meant)).encode(errors="surrogateescape")).hexdigest()


def _is_there(word: str) -> bool:
    """Is there a file of that name, seen from the current folder?"""
    return "\0" not in word and os.path.lexists(word)
