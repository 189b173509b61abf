"""`steelyard mpi`: the MPI implementations found, and engines for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from steelyard.cli.console import say, say_json, tell
from steelyard.cli.options import JsonOnly
from steelyard.engines.build import mpi_engine
from steelyard.engines.mpi import choose_mpi, find_mpis
from steelyard.engines.shmem import choose_shmem, find_shmems, names_shmem
from steelyard.records.command_line import installing


def list_mpis(options: JsonOnly) -> None:
    """List the MPI implementations found, the default first; then OpenSHMEM libraries."""
    from steelyard.diagnostics.machine.installation import mpi_line

    mpis = (*find_mpis(), *find_shmems())
    if options.json:
        say_json({"mpis": mpis})
        return
    for mpi in mpis:
        say(mpi_line(mpi))
    if not mpis:
        say(f"none; type: {installing('mpi')}, or load your system's MPI module")


@dataclass(frozen=True)
class BuildOptions:
    """The options of `steelyard mpi build`."""

    name: Annotated[str | None, typer.Argument(metavar="NAME|PATH", help="the default if not given")] = None


def build_engine(options: BuildOptions) -> None:
    """Find or build the engine for an MPI or OpenSHMEM, and print where it is."""
    library = choose_shmem(options.name) if names_shmem(options.name) else choose_mpi(options.name, tell)
    say(mpi_engine(library, tell).path)
