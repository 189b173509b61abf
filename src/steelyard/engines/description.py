"""The description of an engine (`steelyard-mpi describe`), typed: ops, methods, stop rules, clocks."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec
from msgspec import Struct

_COUNTS = ("", "bytes", "KiB")  # units of which there are whole numbers


class Param(Struct, frozen=True):
    """A parameter of an op, a method or a rule: a number within limits, or a choice of words."""

    name: str
    summary: str = ""
    unit: str = ""
    default: float | str = 0.0
    least: float = 0.0
    most: float = 0.0
    words: tuple[str, ...] = ()  # empty: it is a number
    word_bytes: tuple[
        int, ...
    ] = ()  # for types of data: the bytes of an element of each word; 0: it fits no size
    all: str | None = None  # the word of a bound by the test case's ranks, threads or bytes: plan/bounds.py

    @property
    def is_whole(self) -> bool:
        """Does it count something: a number that is no time or share, and whose bound is no fraction?"""
        return (
            not self.words
            and self.unit in _COUNTS
            and all(float(one).is_integer() for one in (self.default, self.least))
        )

    def fitting(self, size: int) -> str | None:
        """Choose a default word for a size: for types of data, one whose elements fill it.

        None: the default does, or nothing does.
        """
        sizes = dict(zip(self.words, self.word_bytes, strict=False))
        if not sizes or size % sizes[str(self.default)] == 0:
            return None
        return next((word for word, each in sizes.items() if each and size % each == 0), None)


class Work(Struct, frozen=True):
    """The operations of a repetition of an op that lasts: on one rank with the default parameters, and what
    multiplies them: two ranks; each word of a parameter, or a number twice as large.
    """

    usual: float
    two_ranks: float = 1.0
    factors: dict[str, tuple[float, ...]] = {}


class Op(Struct, frozen=True):
    """Something that can be repeated, timed and checked."""

    name: str
    class_: str = msgspec.field(name="class")  # local, p2p, collective
    sized: bool
    methods: tuple[str, ...]  # those that suit it
    default_method: str
    params: tuple[Param, ...]
    family: str = ""
    summary: str = ""
    library: str | None = None  # the shared library of the user that it comes from
    flow: str | None = None
    base: str = ""  # the name that its forms share: mpi.allreduce for mpi.iallreduce
    form: str = "blocking"  # or nonblocking, persistent
    role: str = "call"  # the kind of its value; docs/internals/op.md has the words
    layer: str | None = None  # what carries its messages, if it is compared with other layers
    default_bytes: str | None = None  # as for --bytes; None: it has no size
    min_ranks: int = 1
    max_ranks: int = 0  # 0: any number
    min_threads: int = 1
    max_threads: int = 1  # 0: any number
    thread_level: str | None = None  # of MPI, that it needs
    delays: str = "none"
    reference: str | None = None  # the op that does the same without what is measured
    report: str = "root"
    parts: int = 1  # operations in a repetition
    counters: tuple[str, ...] = ()
    lasts: bool = False  # a repetition may last minutes
    first: bool = False  # it is timed once, before all else, in a launch of its own
    loses: int = 0  # ranks that a launch starts besides, and that die in it
    work: Work | None = None
    available: bool = True
    why_not: str | None = None

    @property
    def defaults(self) -> dict[str, float | str]:
        """The defaults of its parameters."""
        return {row.name: row.default for row in self.params}


class Method(Struct, frozen=True):
    """How ranks start together, and what is timed."""

    name: str
    params: tuple[Param, ...]
    summary: str = ""
    nature: str | None = None  # why its value is not simply the operation's time
    of_collectives: bool = False  # only collectives have that nature
    bound: str | None = None  # lower, upper
    synchronised: bool = False  # it needs synchronised clocks
    min_ranks: int = 1
    available: bool = True
    why_not: str | None = None


class Rule(Struct, frozen=True):
    """When a test case ends."""

    name: str
    params: tuple[Param, ...]
    summary: str = ""


class DescribedClock(Struct, frozen=True):
    """A timer."""

    name: str
    summary: str
    available: bool
    why_not: str | None
    sound: bool | None
    doubt: str | None


class DescribedSync(Struct, frozen=True):
    """How clocks are synchronised."""

    name: str
    summary: str


class Build(Struct, frozen=True):
    """How an engine was built."""

    compiler: str = ""
    flags: str = ""
    openmp: int = 0  # the version's date, 201511; 0: without OpenMP


_UNTOLD = 2**63 - 1  # of an engine that was built before engines said it: their whole numbers end here


class EngineLimits(Struct, frozen=True):
    """The largest numbers that an engine can hold, on any machine."""

    ranks: int = _UNTOLD
    threads: int = _UNTOLD  # of a rank
    bytes: int = _UNTOLD  # of a size
    seed: int = _UNTOLD  # a launch adds its number to that of the campaign

    def within(self, other: EngineLimits) -> EngineLimits:
        """Return what both can hold."""
        return EngineLimits(
            *(min(getattr(self, name), getattr(other, name)) for name in self.__struct_fields__)
        )


class NotLoaded(Struct, frozen=True):
    """A library of ops that an engine refused, and why."""

    library: str
    why: str


class Description(Struct, frozen=True):
    """The description of an engine."""

    engine: str
    version: str
    ops: tuple[Op, ...]
    methods: tuple[Method, ...]
    stop_rules: tuple[Rule, ...]
    clocks: tuple[DescribedClock, ...] = ()
    sync_algorithms: tuple[DescribedSync, ...] = ()
    build: Build = Build()
    limits: EngineLimits = EngineLimits()
    not_loaded: tuple[NotLoaded, ...] = ()


class Named(Protocol):
    """A row of one of the tables."""

    @property
    def name(self) -> str:
        """Its name on the command line."""
        ...


_Row = TypeVar("_Row", bound=Named)


def by_name(rows: Iterable[_Row]) -> dict[str, _Row]:
    """Map the rows of a table by name."""
    return {row.name: row for row in rows}


class Ops(Struct, frozen=True, dict=True):
    """The abilities of the engines that take part, by name, and what all of them can hold."""

    solo: Mapping[str, Op]
    mpi: Mapping[str, Op]
    methods: Mapping[str, Method]
    rules: Mapping[str, Rule]
    limits: EngineLimits = EngineLimits()
    shmem: Mapping[str, Op] = {}
    not_loaded: tuple[NotLoaded, ...] = ()  # what no engine, or not each, could load

    @functools.cached_property
    def all(self) -> Mapping[str, Op]:
        """Every op once."""
        return {**self.shmem, **self.mpi, **self.solo}


def load_words(libraries: Sequence[str]) -> tuple[str, ...]:
    """Make the words by which an engine loads libraries of ops."""
    return ("--load", ":".join(libraries)) if libraries else ()


def ops_of(solo: Description, mpi: Description | None, shmem: Description | None = None) -> Ops:
    """Combine the descriptions of the solo engine, of an MPI's and of an OpenSHMEM's."""
    others = [one for one in (mpi, shmem) if one is not None]
    return Ops(
        solo=by_name(solo.ops),
        mpi=by_name(mpi.ops) if mpi else {},
        methods=by_name(solo.methods),
        rules=by_name(solo.stop_rules),
        limits=functools.reduce(EngineLimits.within, (other.limits for other in others), solo.limits),
        shmem=by_name(shmem.ops) if shmem else {},
        not_loaded=tuple(library for said in (*others, solo) for library in said.not_loaded),
    )
