"""An engine from its sources, by the flags of engine/build.json: a compiler on each core, then the linker.

Most sources know no MPI, no clock and not which engine they are in. They are one object, `common`, for all
engines of a compiler. The simulator has clocks, sleeps and process numbers of its own, which its compiler
puts in the place of the system's; so what calls those is compiled for each engine.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Literal

import msgspec

from steelyard import __version__
from steelyard.base.errors import InputError
from steelyard.system.process import run, signals_as_exceptions

Kind = Literal["mpi", "solo", "simgrid", "common"]
_SECONDS = 600.0  # for one file: far more than any takes
# For all files together, of a processor of 2022.
_CPU_SECONDS: dict[Kind, float] = {"common": 20.0, "solo": 1.0, "mpi": 5.0, "simgrid": 7.0}


class BuildRule(msgspec.Struct, frozen=True):
    """engine/build.json: which sources are not in which engine (patterns), the flags of all.

    `not_common` is in all engines, which have it each for itself. `libraries` are used where their headers
    are: names of pkg-config and a header of each.
    """

    not_common: tuple[str, ...]
    not_in_solo: tuple[str, ...]
    not_in_mpi: tuple[str, ...]
    libraries: dict[str, str]
    compile: tuple[str, ...]
    link: tuple[str, ...]


class Commands(msgspec.Struct, frozen=True):
    """All that makes an engine: a command for each source, which do not wait for each other, and the last."""

    compile: tuple[tuple[str, ...], ...]
    link: tuple[str, ...]


def read_build(folder: Path) -> BuildRule:
    """The rule and the flags by which every engine is built."""
    return msgspec.json.decode((folder / "build.json").read_bytes(), type=BuildRule)


def engine_sources(folder: Path, kind: Kind) -> tuple[Path, ...]:
    """The C files of an engine, or those in common, sorted: all but those of the other kind."""
    build = read_build(folder)
    not_in_mpi, not_in_solo = build.not_in_mpi, build.not_in_solo
    patterns = {"solo": not_in_solo, "common": (*not_in_mpi, *not_in_solo, *build.not_common)}
    others = {path for pattern in patterns.get(kind, not_in_mpi) for path in folder.glob(pattern)}
    return tuple(sorted(path for path in folder.rglob("*.c") if path not in others))


def build_commands(
    folder: Path,
    kind: Kind,
    compiler: Sequence[str],
    output: Path,
    common: Path | None = None,
    headers: Sequence[str] = (),
) -> Commands:
    """How an engine is built, with the object `common` where it is given, or that object itself.

    Object files lie beside `output`. The largest source comes first. `headers` are folders that the compiler
    is to look in, too.
    """
    build = read_build(folder)
    definitions = [f'-DSTEELYARD_VERSION="{__version__}"', f'-DSTEELYARD_FLAGS="{" ".join(build.compile)}"']
    if kind in ("mpi", "simgrid"):
        definitions.append("-DSTEELYARD_MPI=1")
    flags = (*compiler, *build.compile, *definitions, f"-I{folder}")
    flags += tuple(word for one in headers for word in ("-isystem", one))
    there = set(engine_sources(folder, "common")) if common else set[Path]()
    sources = [path for path in engine_sources(folder, kind) if path not in there]
    sources.sort(key=lambda path: -path.stat().st_size)
    objects = {
        path: str(output.parent / f"{'-'.join(path.relative_to(folder).with_suffix('').parts)}.o")
        for path in sources
    }
    parts = (*objects.values(), *([str(common)] if common else []))
    if kind == "common":
        link = (*compiler, "-r", "-nostdlib", *parts, "-o", str(output))
    else:
        link = (*compiler, *build.compile, *parts, "-o", str(output), *build.link)
    return Commands(
        compile=tuple((*flags, "-c", str(path), "-o", name) for path, name in objects.items()), link=link
    )


def build_seconds(kind: Kind) -> int:
    """About how long a build takes here."""
    return max(1, round(_CPU_SECONDS[kind] / _cores()))


def build_engine(commands: Commands, environment: Mapping[str, str], log: Path) -> None:
    """Build an engine; `log` has what was done and said. Raises InputError with the first error."""
    said: list[str] = []

    def step(argv: Sequence[str]) -> None:
        done = run(argv, env=environment, timeout=_SECONDS)
        said.append(f"$ {shlex.join(argv)}\n{done.out}{done.err}")
        if done.code != 0:
            raise InputError(
                f"the engine could not be built with {argv[0]}: {_reason(done.err)} (all in {log})"
            )

    workers = ThreadPoolExecutor(_cores())
    try:
        with signals_as_exceptions():
            for job in as_completed([workers.submit(step, argv) for argv in commands.compile]):
                job.result()
            step(commands.link)
    finally:
        workers.shutdown(cancel_futures=True)  # those that run take a second or two to end
        log.write_text("".join(said))


def _reason(err: str) -> str:
    """The line of a compiler's complaint that says what is wrong."""
    lines = err.strip().splitlines() or ["it said nothing"]
    return next((line for line in lines if "error" in line), lines[-1]).strip()


def _cores() -> int:
    return len(os.sched_getaffinity(0))
