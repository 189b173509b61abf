"""The engines: found where the installation put them, or built on demand for one MPI and kept in the cache.

`steelyard-mpi`, built at installation, runs with every MPI that has the standard ABI (MPI-5). Any other MPI
gets an engine of its own from the same sources with the same flags, which engine/build.json says for both.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from steelyard import __version__
from steelyard.errors import InputError, MeasurementError
from steelyard.mpi import Mpi, cache_folder, mpi_environment, scripts_folder
from steelyard.process import run

Kind = Literal["mpi", "solo", "simgrid"]
_BUILD_SECONDS = 600.0
_DESCRIBE_SECONDS = 60.0


class Engine(msgspec.Struct, frozen=True):
    """An engine that can be started, and the MPI it is to run with (None: solo, or under the simulator)."""

    path: str
    kind: Kind
    mpi: Mpi | None


class Build(msgspec.Struct, frozen=True):
    """engine/build.json: which sources are not in which engine (patterns), the flags of all."""

    not_in_solo: tuple[str, ...]
    not_in_mpi: tuple[str, ...]
    compile: tuple[str, ...]
    link: tuple[str, ...]


def solo_engine() -> Engine:
    """The engine without MPI. Raises InputError when it can be neither found nor built."""
    path = _prebuilt("solo") or _built("solo", _compiler(), {})
    return Engine(str(path), "solo", None)


def mpi_engine(mpi: Mpi) -> Engine:
    """The engine for this MPI. Raises InputError when it can be neither found nor built."""
    path = _prebuilt("mpi") if mpi.abi else None
    if path is None:
        if mpi.mpicc is None:
            raise InputError(
                f"{mpi.name} has no mpicc beside {mpi.mpiexec}, so no engine can be built for it; "
                "install its development package (libopenmpi-dev, libmpich-dev)"
            )
        path = _built("mpi", mpi.mpicc, mpi_environment(mpi))
    return Engine(str(path), "mpi", mpi)


def simulated_engine() -> Engine:
    """The engine for SimGrid's simulator, started by smpirun. Raises InputError where there is none."""
    for program in ("smpicc", "smpirun"):
        if shutil.which(program) is None:
            raise InputError(
                f"there is no {program} on PATH, so nothing can be simulated; install SimGrid "
                "(on Debian and Ubuntu: apt install libsimgrid-dev g++)"
            )
    return Engine(str(_built("simgrid", "smpicc", {})), "simgrid", None)


def engine_environment(engine: Engine) -> dict[str, str]:
    """The variables that this engine needs to start, beyond ours."""
    return {} if engine.mpi is None else mpi_environment(engine.mpi)


def describe(engine: Engine, launcher: Sequence[str] = (), cwd: Path | None = None) -> dict[str, Any]:
    """What the engine says of itself: ops, params, methods, rules, clocks, and why what is missing is.

    `launcher` comes before the engine where it cannot start by itself, and is started in the folder `cwd`.
    Raises MeasurementError when it does not start.
    """
    done = run(
        [*launcher, engine.path, "describe"],
        env=os.environ | engine_environment(engine),
        timeout=_DESCRIBE_SECONDS,
        cwd=cwd,
    )
    if done.code != 0:
        raise MeasurementError(
            f"'{engine.path} describe' failed with code {done.code}: {_last_line(done.err)}"
        )
    try:
        return msgspec.json.decode(done.out, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise MeasurementError(f"'{engine.path} describe' did not print JSON: {error}") from None


def engine_folder() -> Path:
    """Where the engine's sources are: in the checkout, or in the installed package."""
    package = Path(__file__).resolve().parent
    for folder in (package.parent.parent / "engine", package / "_engine"):
        if (folder / "build.json").is_file():
            return folder
    raise InputError(f"the engine's sources are not where {package} expects them; install steelyard again")


def read_build(folder: Path) -> Build:
    """The rule and the flags by which every engine is built."""
    return msgspec.json.decode((folder / "build.json").read_bytes(), type=Build)


def engine_sources(folder: Path, kind: Kind) -> tuple[Path, ...]:
    """The C files of an engine, sorted: all but those of the other kind."""
    build = read_build(folder)
    patterns = build.not_in_solo if kind == "solo" else build.not_in_mpi
    others = {path for pattern in patterns for path in folder.glob(pattern)}
    return tuple(sorted(path for path in folder.rglob("*.c") if path not in others))


def build_command(folder: Path, kind: Kind, compiler: Sequence[str], output: Path) -> list[str]:
    """The one command that builds an engine."""
    build = read_build(folder)
    definitions = [f'-DSTEELYARD_VERSION="{__version__}"', f'-DSTEELYARD_FLAGS="{" ".join(build.compile)}"']
    if kind != "solo":
        definitions.append("-DSTEELYARD_MPI=1")
    sources = [str(path) for path in engine_sources(folder, kind)]
    return [*compiler, *build.compile, *definitions, f"-I{folder}", *sources, "-o", str(output), *build.link]


def _prebuilt(kind: Kind) -> Path | None:
    """The engine built at installation, unless this is a checkout whose sources have changed since."""
    path = scripts_folder() / f"steelyard-{kind}"
    if not path.is_file():
        return None
    folder = engine_folder()
    if folder.name == "engine":
        built = path.stat().st_mtime_ns
        if any(file.stat().st_mtime_ns > built for file in _hashed_files(folder)):
            return None
    return path


def _compiler() -> str:
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        if name and shutil.which(name.split()[0]):
            return name
    raise InputError("there is no C compiler to build the engine with; install gcc or set CC")


def _built(kind: Kind, compiler: str, extra: dict[str, str]) -> Path:
    """The engine that this compiler builds, from the cache or anew. Raises InputError."""
    folder = engine_folder()
    environment = os.environ | extra
    words = shlex.split(compiler) if kind == "solo" else [compiler]
    home = cache_folder("engines", _key(folder, kind, words, environment))
    path = home / ("steelyard-solo" if kind == "solo" else "steelyard-mpi")
    if path.is_file():
        return path
    log = home / "build.log"
    with tempfile.TemporaryDirectory(prefix=".new-", dir=home) as temporary:
        new = Path(temporary) / path.name  # built aside and moved into place: two that want the same may race
        command = build_command(folder, kind, words, new)
        done = run(command, env=environment, timeout=_BUILD_SECONDS)
        log.write_text(f"$ {shlex.join(command)}\n{done.out}{done.err}")
        if done.code != 0:
            reason = next((line for line in done.err.splitlines() if "error" in line), _last_line(done.err))
            raise InputError(
                f"the engine could not be built with {compiler}: {reason.strip()} (all in {log})"
            )
        new.replace(path)
    return path


def _key(folder: Path, kind: Kind, compiler: Sequence[str], environment: dict[str, str]) -> str:
    """A name for all that an engine depends on: sources, flags, compiler, MPI library, kind of machine."""
    located = shutil.which(compiler[0])
    if located is None:
        raise InputError(f"the compiler '{compiler[0]}' does not exist or cannot be run")
    digest = hashlib.sha256()

    def add(text: str | bytes) -> None:
        digest.update((text.encode() if isinstance(text, str) else text) + b"\0")

    for part in (kind, __version__, platform.machine(), os.path.realpath(located), *compiler):
        add(part)
    for file in _hashed_files(folder):
        add(str(file.relative_to(folder)))
        add(file.read_bytes())
    underlying = compiler[0]
    if kind != "solo":
        show = run([compiler[0], "-show"], env=environment, timeout=60).out
        words = shlex.split(show)
        underlying = words[0] if words else "cc"
        if shutil.which(underlying) is None:
            raise InputError(
                f"{compiler[0]} needs a C compiler, '{underlying}', and there is none; install gcc"
            )
        add(show)
        for library in _libraries(words):
            stat = library.stat()
            add(f"{library} {stat.st_size} {stat.st_mtime_ns}")
    add(run([underlying, "--version"], env=environment, timeout=60).out)
    return digest.hexdigest()[:16]


def _hashed_files(folder: Path) -> list[Path]:
    return sorted(
        path for path in folder.rglob("*") if path.suffix in (".c", ".h") or path.name == "build.json"
    )


def _libraries(words: Sequence[str]) -> list[Path]:
    """The MPI libraries that a wrapper's link line names: an upgrade in place must give a new engine."""
    folders = [word[2:] for word in words if word.startswith("-L")]
    folders += [match[1] for word in words if (match := re.match(r"(?:-Wl,)?(/.*)", word))]  # of -rpath
    names = [f"lib{word[2:]}.so" for word in words if re.match(r"-l(.*mpi|simgrid)", word)]
    paths = (Path(folder, name) for folder in dict.fromkeys(folders) for name in names)
    return sorted({path.resolve() for path in paths if path.is_file()})


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it said nothing"
