"""Compile an engine by the flags of engine/build.json: a compiler on each core, then the linker.

Most sources do not depend on an MPI, a clock or the engine's kind. They are one object, `common`, for all
engines of a compiler. The simulator's compiler replaces clocks, sleeps and process numbers of the system, so
files that call these are compiled for each engine.
"""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Literal

import msgspec

from steelyard import __version__
from steelyard.base.errors import InputError
from steelyard.system.process import run

Kind = Literal["mpi", "solo", "shmem", "simgrid", "common"]
_SECONDS = 600.0  # for one file: far more than any takes
# For all files together, on a processor of 2022.
_CPU_SECONDS: dict[Kind, float] = {"common": 20.0, "solo": 1.0, "mpi": 5.0, "shmem": 3.0, "simgrid": 7.0}
# What registry.c asks for.
_DEFINED: dict[Kind, tuple[str, ...]] = {
    "mpi": ("-DSTEELYARD_MPI=1",),
    "simgrid": ("-DSTEELYARD_MPI=1",),
    "shmem": ("-DSTEELYARD_SHMEM=1",),
}


class BuildRule(msgspec.Struct, frozen=True):
    """engine/build.json: the sources that only engines of some kinds have (patterns), the flags of all.

    `not_common` is in all engines, compiled for each. `libraries` are used if their headers are found: names
    of pkg-config and a header of each.
    """

    not_common: tuple[str, ...]
    only_in: dict[str, tuple[str, ...]]
    libraries: dict[str, str]
    compile: tuple[str, ...]
    link: tuple[str, ...]


class Commands(msgspec.Struct, frozen=True):
    """The commands that make an engine: one for each source, independent of each other, and the last one."""

    compile: tuple[tuple[str, ...], ...]
    link: tuple[str, ...]


def read_build(folder: Path) -> BuildRule:
    """Read the rule and the flags by which every engine is built."""
    return msgspec.json.decode((folder / "build.json").read_bytes(), type=BuildRule)


def engine_sources(folder: Path, kind: Kind) -> tuple[Path, ...]:
    """List the C files of an engine, or those in common, sorted: all but those of other kinds alone."""
    build = read_build(folder)
    own = {"simgrid": "mpi"}.get(kind, kind)

    def found(patterns: Iterable[str]) -> set[Path]:
        return {path for pattern in patterns for path in folder.glob(pattern)}

    others = found(itertools.chain(*build.only_in.values())) - found(build.only_in.get(own, ()))
    if kind == "common":
        others |= found(build.not_common)
    return tuple(sorted(path for path in folder.rglob("*.c") if path not in others))


def build_commands(
    folder: Path,
    kind: Kind,
    compiler: Sequence[str],
    output: Path,
    common: Path | None = None,
    headers: Sequence[str] = (),
    added: Sequence[str] = (),
) -> Commands:
    """Make the commands for an engine, with the object `common` if given, or for that object itself.

    Object files are beside `output`. The largest source comes first. `headers` are further folders for the
    compiler; `added` are options that change code and that the compiler, a wrapper, adds by itself.
    """
    build = read_build(folder)
    definitions = [f'-DSTEELYARD_VERSION="{__version__}"', f'-DSTEELYARD_FLAGS="{" ".join(build.compile)}"']
    definitions += [f'-DSTEELYARD_ADDED="{" ".join(added)}"'] if added else []
    definitions += _DEFINED.get(kind, ())
    flags = (*compiler, *build.compile, *definitions, f"-I{folder}")
    flags += tuple(word for header in headers for word in ("-isystem", header))
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
    """Estimate how long a build takes here."""
    return max(1, round(_CPU_SECONDS[kind] / _cores()))


def build_engine(commands: Commands, environment: Mapping[str, str], log: Path) -> None:
    """Build an engine; `log` has the commands and their output. Raises InputError with the first error."""
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
        for job in as_completed([workers.submit(step, argv) for argv in commands.compile]):
            job.result()
        step(commands.link)
    finally:
        workers.shutdown(cancel_futures=True)  # running ones take a second or two to end
        log.write_text("".join(said))


def _reason(err: str) -> str:
    """Find the line of a compiler's output with the error."""
    lines = err.strip().splitlines() or ["it said nothing"]
    return next((line for line in lines if "error" in line), lines[-1]).strip()


def _cores() -> int:
    return len(os.sched_getaffinity(0))
