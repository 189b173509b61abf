"""The simulations: ops, machines, selections of algorithms; pure values."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.files import read_regular
from steelyard.engines.description import Description, Op

TRUTH = "truth"
SELECTORS = ("mpich", "ompi", "mvapich2", "impi")
# Algorithms of smpi/barrier in SimGrid 3.32, without selectors and the one for two ranks.
BARRIERS = (
    "default",
    "ompi_basic_linear",
    "ompi_tree",
    "ompi_bruck",
    "ompi_recursivedoubling",
    "ompi_doublering",
    "mpich_smp",
    "mvapich2_pair",
)
_OVERHEADS = ("root", "rank")  # overheads are no latencies: only those named are compared with the truth
_LIBRARY_BARRIER = ("library-barrier", "mpi-barrier")  # methods that call the library's barrier
COLLECTIVES = (
    "bcast",
    "scatter",
    "gather",
    "reduce",
    "allreduce",
    "allgather",
    "alltoall",
    "reduce_scatter",
    "reduce_scatter_block",
    "scan",
    "barrier",
)
# The selectors begin with an exchange of P^2 messages, too slow at 1024 ranks: there, algorithms are named.
BY_NAME = {"bcast": "binomial_tree", "reduce": "binomial", "allreduce": "rdb", "barrier": "ompi_bruck"}
_LEAST_RANKS = 2
_MANY = 1024
_SCAN_MOST = 64  # ranks, unless asked for by name: SMPI's scan sends P^2/2 messages at once
_PER_HOST = {60: 4}  # ranks on a host, if it is not one
# Ranks, no power of two: trees have branches of unlike depth.
_UNEVEN_QUICK, _UNEVEN_FULL = (10,), (5, 10, 18)
_TOPOLOGIES = ("fat-tree", "torus", "dragonfly")
_ASYMMETRIES = {"dragonfly": "as SimGrid routes a dragonfly"}
# Methods on an asymmetric machine without --paths: the engine's closure must see the asymmetry.
_BY_CLOSURE = ("epoch",)
_NOISE = {"jitter": 0.05, "detour_share": 2e-4, "detour_ns": 10000}  # so rare that a median stays a median
_SIZES_QUICK = (8, 65536)
_SIZES_FULL = (8, 1024, 65536, 1 << 20)
# In simulation a clock costs nothing, and `batch` would take one repetition; on a machine it takes so many.
_METHOD_PARAMS = {"batch": {"reps": 32}}
_NO_TIME_LIMIT = "most_seconds=86400"  # the most that the rule takes: simulated seconds cost nothing
# Samples without noise, where all are alike, and with noise; one of `batch` is 32 calls.
_COUNTS = {TRUTH: (4, 256), "batch": (2, 16)}
_COUNT = (16, 256)
# In these each rank sends to each, or SMPI's algorithm does so: many ranks and large blocks take minutes.
_DENSE = ("allgather", "alltoall", "scan", "reduce_scatter", "reduce_scatter_block")
_HEAVY = (*_DENSE, "reduce")  # Open MPI's large reductions are long chains of small messages
_MESSAGES_MOST = 1 << 16  # in a call: beyond, it is simulated for seconds, and a quarter of the calls must do
_HEAVY_QUICK = 16  # ranks beyond which the quick form has only the smallest size of these, and no scan


@dataclass(frozen=True, slots=True)
class SimulatedMachine:
    """A simulated machine: words for our own platform, or a file of the user's.

    `asymmetry` says in words which paths may take longer in one direction, None if none does. `told`: the
    engine gets --paths asymmetric, and states the guaranteed error of the clocks instead of that of the
    closure.
    """

    name: str
    words: Mapping[str, float | str] = field(default_factory=dict)
    file: Path | None = None
    noise: bool = False
    asymmetry: str | None = None
    told: bool = True

    @property
    def flat(self) -> bool:
        """Are all its hosts on one switch that is never the bottleneck?"""
        return self.file is None and self.words.get("topology", "flat") == "flat"

    @property
    def certain(self) -> bool:
        """Are only guaranteed errors of the clocks stated on it?"""
        return self.asymmetric and self.told

    @property
    def asymmetric(self) -> bool:
        """May some paths take longer in one direction? No exchange of messages sees it."""
        return self.asymmetry is not None


@dataclass(frozen=True, slots=True)
class Simulation:
    """One start of the simulator: an op of one or more sizes, measured with every method that suits it."""

    op: str
    ranks: int
    per_host: int
    machine: SimulatedMachine
    selector: str
    barrier: str | None
    sizes: tuple[int, ...]
    methods: tuple[str, ...]
    seed: int
    algorithms: tuple[str, ...] = ()

    @property
    def hosts(self) -> int:
        """The number of hosts of its ranks."""
        return -(-self.ranks // self.per_host)

    @property
    def title(self) -> str:
        """One line for the progress."""
        words = [self.op, f"{self.ranks} ranks", self.machine.name, self.selector]
        words += [f"{self.per_host} per host"] * (self.per_host > 1) + [f"barrier {self.barrier}"] * (
            self.barrier is not None
        )
        words += [f"asymmetric paths ({self.machine.asymmetry})"] * self.machine.asymmetric
        return ", ".join(words)


@dataclass(frozen=True, slots=True)
class Wishes:
    """The command line's choices; None: the form's default."""

    full: bool = False
    ranks: tuple[int, ...] | None = None
    ops: tuple[str, ...] | None = None  # names and patterns
    methods: tuple[str, ...] | None = None
    sizes: tuple[int, ...] | None = None
    selectors: tuple[str, ...] | None = None
    machine: SimulatedMachine | None = None
    seed: int = 1


def point_lines(simulation: Simulation) -> tuple[str, ...]:
    """Write the engine's points: for each size the truth, each method, and the truth again, in a row.

    If the library changes its algorithm in between, the two truths differ.
    """
    lines: list[str] = []
    crowd = _dense(simulation.op) and simulation.ranks**2 >= _MESSAGES_MOST
    for size in simulation.sizes:
        for method in (TRUTH, *simulation.methods, TRUTH):
            words = [f"point={len(lines)}", f"op={simulation.op}", f"method={method}", "rule=fixed"]
            count = _COUNTS.get(method, _COUNT)[simulation.machine.noise] // (4 if crowd else 1) or 1
            words += [f"count={count}", _NO_TIME_LIMIT] + [f"bytes={size}"] * (size > 0)
            words += [f"{key}={value}" for key, value in _METHOD_PARAMS.get(method, {}).items()]
            lines.append(" ".join(words))
    return tuple(lines)


def simulations(wishes: Wishes, description: Description) -> tuple[Simulation, ...]:
    """Make the matrix, the quick simulations first. `description` is that of the simulated engine.

    Raises InputError for an unknown op, method or selector, and for fewer than two ranks.
    """
    if min(wishes.ranks or (_LEAST_RANKS,)) < _LEAST_RANKS:
        raise InputError(
            f"a collective of one rank sends nothing to validate; give --ranks {_LEAST_RANKS} or more"
        )
    ops = _ops(wishes, description)
    known = {row.name for row in description.methods if row.available} - {TRUTH}
    for name in wishes.methods or ():
        if name not in known:
            raise InputError(
                f"there is no method '{name}' to validate; give one of {', '.join(sorted(known))}"
            )
    for name in wishes.selectors or ():
        if name not in (*SELECTORS, "default"):
            raise InputError(f"there is no selector '{name}'; give one of {', '.join(SELECTORS)}, default")
    cells = _full(wishes) if wishes.full else _quick(wishes)
    found = []
    for ranks, machine, selector, barrier, sizes in cells:
        for name, op in ops.items():
            base = name.rpartition(".")[2]
            slow = wishes.ops is None and base.removeprefix("i") == "scan" and ranks > _SCAN_MOST
            if slow or (ranks >= _MANY and base not in BY_NAME) or (barrier and not _uses_barrier(base, op)):
                continue
            heavy = not wishes.full and wishes.ops is None and ranks > _HEAVY_QUICK and base in _HEAVY
            if heavy and base == "scan":
                continue
            methods = tuple(
                method
                for method in sorted(op.methods, key=lambda name: name == "batch")  # the slowest last
                if method in known and method in (wishes.methods or known.difference(_OVERHEADS))
                if barrier is None or base == "barrier" or method in _LIBRARY_BARRIER
                if machine.told or method in _BY_CLOSURE
            )
            found.append(
                Simulation(
                    op=name,
                    ranks=ranks,
                    per_host=_PER_HOST.get(ranks, 1),
                    machine=machine,
                    selector=selector,
                    barrier=barrier,
                    sizes=(sizes[:1] if heavy else sizes) if op.sized else (0,),
                    methods=methods,
                    seed=wishes.seed,
                    algorithms=(f"smpi/{base}:{BY_NAME[base]}",) if ranks >= _MANY else (),
                )
            )
    found = [one for one in found if one.methods]
    if not found:
        raise InputError("no simulation is left; ask for fewer restrictions")
    return tuple(sorted(found, key=_cost))


def _cost(simulation: Simulation) -> float:
    """Estimate the relative cost of a simulation: messages, and the congestion of large ones."""
    messages = simulation.ranks * (simulation.ranks if _dense(simulation.op) else 8)
    return messages * len(simulation.sizes) * (8 if simulation.machine.noise else 1)


def _dense(op: str) -> bool:
    return op.rpartition(".")[2].removeprefix("i") in _DENSE


def _uses_barrier(base: str, op: Op) -> bool:
    """Does the library's barrier matter, for its own op, or a method that calls it?"""
    return base == "barrier" or any(method in op.methods for method in _LIBRARY_BARRIER)


def _ops(wishes: Wishes, description: Description) -> dict[str, Op]:
    """List the ops that are asked for, in the engine's order."""
    rows = {op.name: op for op in description.ops if op.class_ == "collective" and op.available}
    if wishes.ops is None:
        wanted = {f"mpi.{name}" for name in COLLECTIVES}
        return {name: op for name, op in rows.items() if name in wanted}
    for pattern in wishes.ops:
        if not any(fnmatchcase(name, pattern) for name in rows):
            raise InputError(f"no collective op is called '{pattern}'; see 'steelyard list'")
    return {name: op for name, op in rows.items() if any(fnmatchcase(name, one) for one in wishes.ops)}


_Cell = tuple[
    int, SimulatedMachine, str, str | None, tuple[int, ...]
]  # ranks, machine, selector, barrier, sizes


def _each(
    ranks: Sequence[int], selectors: Sequence[str], machine: SimulatedMachine, sizes: tuple[int, ...]
) -> Iterable[_Cell]:
    """Combine each number of ranks with each selector; very many ranks with named algorithms alone."""
    for count in ranks:
        for selector in selectors if count < _MANY else ("default",):
            yield count, machine, selector, None, sizes


def _quick(wishes: Wishes) -> Iterable[_Cell]:
    """Make the quick matrix: 16 and 60 ranks on a flat network, and 10 with small messages; with
    noise at 16.
    """
    ranks = wishes.ranks or (16, 60)
    sizes = wishes.sizes or _SIZES_QUICK
    selectors = wishes.selectors or ("mpich", "ompi")
    machine = wishes.machine or flat_machine()
    yield from _each(ranks, selectors, machine, sizes)
    for count, selector in itertools.product(() if wishes.ranks else _UNEVEN_QUICK, selectors[:1]):
        yield count, machine, selector, None, sizes[:1]
    if wishes.machine is None and min(ranks) < _MANY:
        yield min(ranks), flat_machine(wishes.seed), selectors[0], None, sizes[:1]


def _full(wishes: Wishes) -> Iterable[_Cell]:
    """Make the full matrix: every selector on the flat network; two of them on the others and with noise;
    barriers where they matter; 1024 ranks by named algorithms.
    """
    ranks = wishes.ranks or (2, 4, 16, 60, 64, 256, _MANY)
    sizes = wishes.sizes or _SIZES_FULL
    two_sizes = wishes.sizes or _SIZES_QUICK
    selectors = wishes.selectors or SELECTORS
    some = [count for count in ranks if 16 <= count <= 64] or [rank for rank in ranks[:1] if rank < _MANY]
    machine = wishes.machine or flat_machine()
    yield from _each((*ranks, *(() if wishes.ranks else _UNEVEN_FULL)), selectors, machine, sizes)
    for count, barrier in itertools.product(some, BARRIERS):
        yield count, machine, selectors[0], barrier, sizes[:1]
    if wishes.machine is not None:
        return
    others = [
        SimulatedMachine(name, {"topology": name}, asymmetry=_ASYMMETRIES.get(name)) for name in _TOPOLOGIES
    ]
    untold = [replace(one, name=f"{one.name} by closure", told=False) for one in others if one.asymmetric]
    for count, selector, other in itertools.product(
        some, selectors[:2], (*others, *untold, flat_machine(wishes.seed))
    ):
        yield count, other, selector, None, two_sizes


def flat_machine(noise_seed: int | None = None) -> SimulatedMachine:
    """Make a machine with all hosts on one switch; with a seed: noisy."""
    if noise_seed is None:
        return SimulatedMachine("flat", {"topology": "flat"})
    return SimulatedMachine("flat with noise", {"topology": "flat", **_NOISE, "seed": noise_seed}, noise=True)


def user_machine(text: str) -> SimulatedMachine:
    """Read --platform: a file for SimGrid, XML or compiled, or words for our own platform.

    Raises InputError.
    """
    path = Path(text).absolute()
    if path.is_file():
        return _file_machine(path)
    if "=" not in text:
        raise InputError(f"there is no platform '{text}'; give an XML file or a compiled one for SimGrid")
    pairs = [word.partition("=") for word in text.split()]
    if any(not name or not value for name, _, value in pairs):
        raise InputError(f"--platform '{text}' is not of the form 'topology=torus latency_ns=1000'")
    words: dict[str, float | str] = {name: value for name, _, value in pairs}
    noisy = any(name in words for name in ("jitter", "detour_share", "tick_ns"))
    asymmetry = f"asymmetry={words['asymmetry']}" if "asymmetry" in words else None
    return SimulatedMachine(text, words, noise=noisy, asymmetry=asymmetry)


def _file_machine(path: Path) -> SimulatedMachine:
    """Check a file for SimGrid, which recognises a compiled one by its name. Raises InputError."""
    if path.suffix == ".so":  # its effects on messages beyond their routes are not visible from outside
        return SimulatedMachine(path.name, file=path, noise=True)
    if b"<platform" not in read_regular(path):
        raise InputError(
            f"'{path}' is no platform file: it has no <platform>; give XML or a compiled '.so' for SimGrid"
        )
    return SimulatedMachine(path.name, file=path)


def simulated_words(machine: SimulatedMachine, hosts: int) -> str:
    """Write the input of our platform, STEELYARD_PLATFORM."""
    return " ".join(f"{key}={value}" for key, value in {**machine.words, "hosts": hosts}.items())


def place_ranks(hosts: Sequence[str], ranks: int, per_host: int) -> tuple[str, ...]:
    """Choose a host for each rank: the first `per_host` ranks on the first host, and so on.

    Raises InputError if the platform is too small.
    """
    needed = -(-ranks // per_host)
    if needed > len(hosts):
        raise InputError(
            f"the platform has {len(hosts)} hosts and {ranks} ranks with {per_host} on each need {needed}; "
            "give fewer --ranks or a larger platform"
        )
    return tuple(hosts[rank // per_host] for rank in range(ranks))
