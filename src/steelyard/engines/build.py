"""Engines: found where the installation put them, or built on demand for one MPI and kept in the cache.

`steelyard-mpi`, built at installation, runs with every MPI that has the standard ABI (MPI-5). Any other MPI
gets an engine of its own from the same sources with the same flags, which engine/build.json has for both.
Most of an engine is common to all engines of a compiler. That part is compiled once, at installation or on
demand.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from steelyard import __version__
from steelyard.base.errors import InputError, MeasurementError
from steelyard.base.files import real_path, write_whole
from steelyard.base.heartbeat import Tell, telling_still
from steelyard.base.private_folders import OWNER_ALONE
from steelyard.engines.cache import cache_folder, digest_file, digest_of, is_whole, locked_for, made_aside
from steelyard.engines.compile import Kind, build_commands, build_engine, build_seconds, read_build
from steelyard.engines.description import Description, load_words
from steelyard.engines.headers import Header, headers_found
from steelyard.engines.installed import installed_engine, scripts_folder
from steelyard.engines.missing_engine import no_compiler, no_wrapper, not_described
from steelyard.engines.mpi import Mpi, mpi_environment
from steelyard.engines.program_answers import Stamp, Variables, ask, stamp_of, variables_of
from steelyard.engines.source_digests import digest_of_sources
from steelyard.system.process import run

_DESCRIBE_SECONDS = 60.0
_CODE_OPTIONS = ("-O", "-f", "-m", "-pg", "--coverage", "--sysroot=")


class Engine(msgspec.Struct, frozen=True):
    """An engine that can be started, and the MPI to run it with (None: solo, or under the simulator)."""

    path: str
    kind: Kind
    mpi: Mpi | None


def solo_engine(tell: Tell = lambda _: None) -> Engine:
    """Find or build the engine without MPI; `tell` hears that it is built.

    Raises InputError if it can be neither found nor built.
    """
    path = _prebuilt("solo") or _built(
        "solo", shlex.split(_compiler()), dict(os.environ), "the engine for what needs no MPI", tell
    )
    return Engine(str(path), "solo", None)


def ready_solo_engine() -> Engine | None:
    """Find the engine without MPI; None if it would have to be built."""
    try:
        path = _prebuilt("solo") or _ready("solo", shlex.split(_compiler()), dict(os.environ))
    except InputError:
        return None
    return Engine(str(path), "solo", None) if path else None


def mpi_engine(mpi: Mpi, tell: Tell = lambda _: None) -> Engine:
    """Find or build the engine for this MPI or OpenSHMEM; `tell` hears that it is built.

    Raises InputError if it can be neither found nor built.
    """
    path = _prebuilt("mpi", can_build=mpi.mpicc is not None) if mpi.abi else None
    if path is None:
        if mpi.mpicc is None:
            raise InputError(no_wrapper(mpi))
        environment = os.environ | mpi_environment(mpi)
        path = _built(mpi.kind, [mpi.mpicc], environment, f"the engine for {mpi.name}", tell)
    return Engine(str(path), mpi.kind, mpi)


def ready_mpi_engine(mpi: Mpi) -> Engine | None:
    """Find the engine for this MPI; None if it would have to be built."""
    try:
        path = _prebuilt("mpi", can_build=mpi.mpicc is not None) if mpi.abi else None
        if path is None and mpi.mpicc is not None:
            path = _ready(mpi.kind, [mpi.mpicc], os.environ | mpi_environment(mpi))
    except InputError:
        return None
    return Engine(str(path), mpi.kind, mpi) if path else None


def _ready(kind: Kind, compiler: Sequence[str], environment: dict[str, str]) -> Path | None:
    """Find what this compiler has built before, if it is whole."""
    path = _kept(_home(kind, compiler, environment), kind)
    return path if is_whole(path) else None


def given_engine(path: Path, mpi: Mpi) -> Engine:
    """Take an engine that the user built, to run with this MPI; `path`: the engine, or its folder.

    Raises InputError if there is none at that path.
    """
    places = (path, path / "steelyard-mpi", path / "bin" / "steelyard-mpi", path / ".venv/bin/steelyard-mpi")
    found = next((place for place in places if place.is_file()), None)
    if found is None or not os.access(found, os.X_OK):
        hint = ""
        if (path / "bin" / "mpiexec").is_file():
            hint = "; that is an MPI: give --arms mpi=A,B"
        raise InputError(f"'{path}' is no engine, such as what 'steelyard mpi build' prints{hint}")
    engine = Engine(str(real_path(found)), "mpi", mpi)
    try:
        ops = describe(engine).ops
    except MeasurementError as error:
        raise InputError(f"'{path}' is no engine: {error}") from None
    if not any(op.name.startswith("mpi.") for op in ops):
        raise InputError(f"'{path}' is an engine without MPI; give a steelyard-mpi")
    return engine


def simulated_engine(tell: Tell = lambda _: None) -> Engine:
    """Build the engine for SimGrid's simulator, started by smpirun. Raises InputError without SimGrid."""
    for program in ("smpicc", "smpirun"):
        if shutil.which(program) is None:
            raise InputError(
                f"there is no {program} on PATH, so nothing can be simulated; install SimGrid "
                "(on Debian and Ubuntu: apt install libsimgrid-dev g++)"
            )
    path = _built("simgrid", ["smpicc"], dict(os.environ), "the engine for SimGrid", tell)
    return Engine(str(path), "simgrid", None)


def engine_environment(engine: Engine, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """List the variables that this engine needs to start, beyond those of `environ`, as `mpi_environment`
    does.
    """
    return {} if engine.mpi is None else mpi_environment(engine.mpi, environ)


def describe(
    engine: Engine, launcher: Sequence[str] = (), cwd: Path | None = None, libraries: Sequence[str] = ()
) -> Description:
    """Ask the engine for its description: ops, params, methods, rules, clocks, and why others are missing.

    With the ops of `libraries` of the user, by absolute paths: their code runs when they are loaded.
    `launcher` comes before the engine if it cannot start by itself, and is started in the folder `cwd`. It is
    not the current one, where libraries would read settings that nobody knows of. The engine is asked once
    while it, the libraries and the variables stay the same. Raises MeasurementError if it does not start.
    """
    environment = variables_of(os.environ | engine_environment(engine))
    argv = (*launcher, engine.path, "describe", *load_words(libraries))
    stamps = tuple(stamp_of(path) for path in (engine.path, *libraries))
    return _described(engine.path, argv, stamps, environment, str(cwd or "/"))


@functools.lru_cache(maxsize=16)
def _described(
    path: str, argv: tuple[str, ...], stamps: tuple[Stamp, ...], environment: Variables, cwd: str
) -> Description:
    del stamps  # they are in the key
    done = run(argv, env=dict(environment), timeout=_DESCRIBE_SECONDS, cwd=cwd)
    if done.code != 0:
        raise MeasurementError(not_described(path, done.code, done.err))
    try:
        return msgspec.json.decode(done.out, type=Description)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MeasurementError(
            f"what '{path} describe' printed is no description of an engine: {error}"
        ) from None


def header_folder() -> Path:
    """Find the folder with steelyard/op.h, for a compiler's -I."""
    return engine_folder() / "public"


def engine_folder() -> Path:
    """Find the engine's sources: in the checkout, or in the installed package."""
    package = real_path(Path(__file__)).parent.parent
    for folder in (package.parent.parent / "engine", package / "_engine"):
        if (folder / "build.json").is_file():
            return folder
    raise InputError(f"the engine's sources are not where {package} expects them; install steelyard again")


def _prebuilt(kind: Kind, can_build: bool = True) -> Path | None:
    """Find the engine built at installation, unless this is a checkout whose sources say something else.

    The sources that it was built from were installed with it. If another can be built, it is not used either
    after a library has come that it could use.
    """
    path = scripts_folder() / f"steelyard-{kind}"
    if not path.is_file():
        return None
    if can_build and _has_compiler() and _headers(os.environ).keys() - _prebuilt_libraries():
        return None
    sources, installed = engine_folder(), installed_engine()
    return (
        path if sources == installed or digest_of_sources(sources) == digest_of_sources(installed) else None
    )


def _prebuilt_common(compiler: Sequence[str]) -> Path | None:
    """Find the common part of engines, if this compiler compiled it at installation."""
    path = installed_engine() / "common.o"
    if len(compiler) > 1 or not path.is_file() or _prebuilt("solo") is None:
        return None
    by = path.with_suffix(".txt").read_text(errors="replace")
    return path if _release(by) == _release(_version(compiler[0], dict(os.environ))) else None


def _prebuilt_libraries() -> set[str]:
    """List the libraries whose headers were there at installation."""
    file = installed_engine() / "libraries.txt"
    return set(file.read_text().split()) if file.is_file() else set()


def _headers(environment: Mapping[str, str]) -> dict[str, Header]:
    return headers_found(read_build(engine_folder()).libraries, environment)


def _version(compiler: str, environment: dict[str, str]) -> str:
    return ask(compiler, "--version", environment)


def _release(version: str) -> str:
    """Take the release from a compiler's version text, which may begin with any name."""
    return version.partition("\n")[0].partition(" ")[2]


def _has_compiler() -> bool:
    try:
        return bool(_compiler())
    except InputError:
        return False


def _compiler() -> str:
    for name in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        if name and shutil.which(name.split()[0]):
            return name
    raise InputError("there is no C compiler to build the engine with; install gcc or set CC")


def _built(kind: Kind, compiler: Sequence[str], environment: dict[str, str], what: str, tell: Tell) -> Path:
    """Take a build of this compiler from the cache, or make it; `tell` hears of it as `what`. Raises
    InputError.
    """
    folder = engine_folder()
    home = _home(kind, compiler, environment)
    path = _kept(home, kind)
    if is_whole(path):
        return path
    with locked_for(home, f"building {what}", tell):
        for left in home.glob(".new-*"):  # left by one that was killed
            shutil.rmtree(left, ignore_errors=True)
        if is_whole(path):
            return path
        common = _common(kind, compiler, environment, tell)
        tell(f"building {what} (once, about {build_seconds(kind)} s)")
        with made_aside(home) as aside:
            new = aside / path.name
            told = [header.folder for header in _headers(environment).values() if header.folder]
            added = _beneath(_shown(compiler[0], environment))[1:] if kind in ("mpi", "shmem") else ()
            commands = build_commands(folder, kind, compiler, new, common, told, added)
            with telling_still(tell, f"building {what}"):
                build_engine(commands, environment, home / "build.log")
            if path.is_dir():
                shutil.rmtree(path)
            write_whole(digest_file(path), digest_of(new))
            for file in (digest_file(path), new):
                file.chmod(OWNER_ALONE)  # whatever the umask
            new.replace(path)
    return path


def _common(kind: Kind, compiler: Sequence[str], environment: dict[str, str], tell: Tell) -> Path | None:
    """Find the object that an engine of this kind is linked with; None for that object itself."""
    if kind == "common":
        return None
    beneath = compiler if kind == "solo" else _beneath(_shown(compiler[0], environment))
    return _prebuilt_common(beneath) or _built(
        "common", beneath, environment, "what all engines have in common", tell
    )


def _home(kind: Kind, compiler: Sequence[str], environment: dict[str, str]) -> Path:
    """Name the folder of the cache for an engine and its log."""
    return cache_folder("engines", _key(engine_folder(), kind, compiler, environment))


def _kept(home: Path, kind: Kind) -> Path:
    return home / {"common": "common.o", "simgrid": "steelyard-mpi"}.get(kind, f"steelyard-{kind}")


def _key(folder: Path, kind: Kind, compiler: Sequence[str], environment: dict[str, str]) -> str:
    """Make a name of all that an engine depends on: sources, flags, compiler, MPI library, kind
    of machine.
    """
    located = shutil.which(compiler[0])
    if located is None:
        raise InputError(f"the compiler '{compiler[0]}' does not exist or cannot be run")
    digest = hashlib.sha256()

    def add(text: str | bytes) -> None:
        digest.update((text.encode() if isinstance(text, str) else text) + b"\0")

    named = compiler[1:] if kind == "common" else compiler  # MPIs call one compiler by several names
    for part in (kind, __version__, platform.machine(), os.path.realpath(located), *named):
        add(part)
    digest.update(digest_of_sources(folder))
    for name, header in _headers(environment).items():
        stat = header.path.stat()
        add(f"{name} {header.path} {stat.st_size} {stat.st_mtime_ns}")
    underlying = compiler[0]
    if kind in ("mpi", "shmem", "simgrid"):
        words = _shown(compiler[0], environment)
        underlying = _beneath(words)[0]
        if shutil.which(underlying) is None:
            raise InputError(no_compiler(compiler[0], underlying, environment))
        for word in words:
            add(word)
        for library in _libraries(words):
            stat = library.stat()
            add(f"{library} {stat.st_size} {stat.st_mtime_ns}")
    add(_release(_version(underlying, environment)))
    return digest.hexdigest()[:16]


def _shown(wrapper: str, environment: dict[str, str]) -> list[str]:
    """Find the command that a compiler wrapper of an MPI stands for."""
    return shlex.split(ask(wrapper, "-show", environment))


def _beneath(words: Sequence[str]) -> list[str]:
    """Find the C compiler that a wrapper calls, with those of its options that change code without MPI."""
    ours = read_build(engine_folder()).compile
    options = (word for word in words[1:] if word.startswith(_CODE_OPTIONS) and word not in ours)
    return [*(words[:1] or ["cc"]), *options]


def _libraries(words: Sequence[str]) -> list[Path]:
    """List the libraries of an MPI on a wrapper's link line: an upgrade in place must give a new engine."""
    folders = [word[2:] for word in words if word.startswith("-L")]
    folders += [match[1] for word in words if (match := re.match(r"(?:-Wl,)?(/.*)", word))]  # of -rpath
    names = [f"lib{word[2:]}.so" for word in words if re.match(r"-l(.*mpi|.*shmem|sma|simgrid)", word)]
    paths = (Path(folder, name) for folder in dict.fromkeys(folders) for name in names)
    return sorted({real_path(path) for path in paths if path.is_file()})
