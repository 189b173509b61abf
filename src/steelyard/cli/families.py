"""The families of ops, in the order in which people look for them: the index of `steelyard list`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from steelyard.engines.description import Op
from steelyard.rows.op_order import place_of


@dataclass(frozen=True, slots=True)
class Family:
    """`name` is that of the engine, `word` what `steelyard list` takes for it."""

    name: str
    word: str
    summary: str


FAMILIES = (
    Family("p2p", "p2p", "messages between two ranks"),
    Family("coll", "coll", "collectives"),
    Family("one-sided", "one-sided", "puts, gets and accumulates"),
    Family("overlap", "mpi.overlap.", "communication hidden behind work"),
    Family("mt", "mpi.mt.", "messages of several threads at once"),
    Family("partitioned", "mpi.part.", "partitioned messages (MPI 4)"),
    Family("neighbour", "neighbour", "neighbourhood collectives"),
    Family("halo", "mpi.halo.", "exchanges of halos on a grid"),
    Family("pattern", "mpi.pattern.", "many pairs of ranks at once"),
    Family("type", "type", "derived datatypes and packing"),
    Family("windows", "windows", "windows and their synchronisation"),
    Family("management", "management", "communicators, their memory, what is paid once"),
    Family("mock", "mpi.mock.", "collectives composed of other calls"),
    Family("mpi-io", "mpi.io.", "files by MPI-IO"),
    Family("openshmem", "shmem.", "OpenSHMEM's calls"),
    Family("omp", "omp.", "OpenMP's constructs"),
    Family("pthread", "pthread.", "Pthreads' calls"),
    Family("atomic", "atomic.", "atomic instructions"),
    Family("file", "file.", "files without MPI"),
    Family("cpu", "cpu.", "arithmetic of a core"),
    Family("memory", "mem.", "STREAM and copies in memory"),
    Family("floor", "shm.,sock.,ofi.,ucx.", "messages without MPI"),
    Family("npb", "npb.", "NAS Parallel Benchmarks"),
    Family("app", "app.", "proxy applications"),
    Family("noise", "noise.", "time that the system takes from a core"),
)
LAST = Family("self", "self.", "the instrument itself, its timer and its loop")
_PLACES = {family.name: i for i, family in enumerate(FAMILIES)} | {LAST.name: len(FAMILIES) + 1}


def in_order(ops: Sequence[Op]) -> list[Op]:
    """Sort ops by their families; a family that the table does not know comes before the instrument."""
    return sorted(ops, key=lambda op: _PLACES.get(op.family, len(FAMILIES)))


def index_rows(ops: Sequence[Op]) -> Iterator[tuple[str, str]]:
    """List what to ask for and what it has: `p2p`, `12 messages between two ranks, such as mpi.pingpong`.

    The word itself is an example where names begin with it.
    """
    by_family: dict[str, list[Op]] = {}
    for op in in_order(ops):
        by_family.setdefault(op.family, []).append(op)
    known = {family.name: family for family in (*FAMILIES, LAST)}
    for name, own in by_family.items():
        family = known.get(name, Family(name, name, name))
        first = min((op.name for op in own), key=place_of)
        example = "" if first.startswith(family.word) else f", such as {first}"
        yield family.word, f"{len(own):3} {family.summary}{example}"
