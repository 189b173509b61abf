"""Which broadcasts are told apart: SMPI's algorithms, simulated, and the tree that is deduced of each.

    python benchmarks/trees.py [--ranks 5,16,33,64] [--jitter 0,0.02,0.1] [--launches 6]

A simulated launch measures one broadcast by `epoch`, on one switch, and one to a single rank: what a message
of that size takes. With --jitter each message is late by an exponential share of its latency, and
each launch has a seed of its own; without, launches would be alike, and there is one. Prints for each case
what was told of it: right, wrong, or that it cannot be told.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from steelyard.analyses.broadcast_algorithm.model import SeenTree, algorithms_of
from steelyard.analyses.broadcast_algorithm.trees import (
    BINARY,
    BINOMIAL,
    CHAIN,
    FLAT,
    PIPELINED,
    SCATTER_ALLGATHER,
)
from steelyard.base.units import format_bytes
from steelyard.records.kinds import LATENCY, MPI
from steelyard.results.facets import Windows
from steelyard.results.row import Row
from steelyard.results.rows import results
from steelyard.validate.design import SimulatedMachine, Simulation
from steelyard.validate.simulator import Simulator, find_simulator, simulate

_METHOD = "epoch"
_SHORT = 8  # bytes
_FEW = 5  # ranks
_SECONDS = 600.0  # far more than a simulation takes


@dataclass(frozen=True)
class Case:
    """An algorithm by SMPI's name: short messages are whole; long ones are cut, or scattered.

    `many_bytes` is the size for more ranks than five: the algorithm cuts no shorter ones there, or what a
    message takes does not tell it from a binomial tree.
    """

    algorithm: str
    bytes: int
    family: str
    many_bytes: int = 8

    def size(self, ranks: int) -> int:
        """Of the message."""
        return self.bytes if ranks <= _FEW else self.many_bytes


CASES = (
    Case("flattree", 8, FLAT),
    Case("NTSL", 8, CHAIN),
    Case("NTSB", 8, BINARY),
    Case("binomial_tree", 8, BINOMIAL),
    Case("ompi_pipeline", 131072, PIPELINED, 4 << 20),
    Case("scatter_LR_allgather", 131072, SCATTER_ALLGATHER, 1 << 20),
    Case("scatter_rdb_allgather", 131072, SCATTER_ALLGATHER, 1 << 20),
)


def seen_tree(simulator: Simulator, case: Case, ranks: int, launches: int = 1, jitter: float = 0) -> SeenTree:
    """What is told of a simulated broadcast. Raises RuntimeError where a simulation fails."""
    rows = [_simulated(simulator, case, ranks, seed + 1, jitter) for seed in range(launches)]
    bcasts, messages = zip(*rows, strict=True)
    together = tuple(replace(row.launches[0], launch=i + 1) for i, row in enumerate(bcasts))
    finishes = np.median([row.launches[0].finishes for row in bcasts], axis=0)
    windows = Windows(finishes_ns=tuple(finishes.tolist()))
    row = replace(bcasts[0], launches=together, facets=(windows,))
    (found,) = algorithms_of([row, *messages[0]])
    return found.sizes[0]


def _simulated(
    simulator: Simulator, case: Case, ranks: int, seed: int, jitter: float
) -> tuple[Row, tuple[Row, ...]]:
    """The rows of a broadcast, and of messages, a short one and one of its size, if that is long."""
    words: dict[str, float | str] = {"topology": "flat", "jitter": jitter, "seed": seed}
    machine = SimulatedMachine("flat", words, noise=jitter > 0)
    found = []
    size = case.size(ranks)
    starts: list[tuple[int, str, tuple[int, ...]]] = [(ranks, case.algorithm, (size,))]
    if size > _SHORT:  # by which ranks a short message goes is told without what it takes
        starts.append((2, "binomial_tree", (_SHORT, size)))
    for count, algorithm, sizes in starts:
        one = Simulation(
            op="mpi.bcast",
            ranks=count,
            per_host=1,
            machine=machine,
            selector="ompi",
            barrier=None,
            sizes=sizes,
            methods=(_METHOD,),
            seed=seed,
            algorithms=(f"smpi/bcast:{algorithm}",),
        )
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "records").mkdir()
            records = Path(folder) / "records" / "simulated.jsonl"
            ran = simulate(simulator, one, records, _SECONDS, threading.Event())
            if ran.why is not None:
                raise RuntimeError(f"{algorithm} on {count} ranks: {ran.why}")
            found += [row for row in results(Path(folder)) if row.method == _METHOD]
    bcast, *messages = found
    kind = {"op": "mpi.pingpong", "base": "mpi.pingpong", "layer": MPI, "role": LATENCY}
    return bcast, tuple(replace(message, **kind) for message in messages)


def _tell(case: Case, tree: SeenTree) -> str:
    if tree.family is None:
        return "cannot tell"
    return "right" if tree.family == case.family else f"wrong: {tree.family}"


def _lines(simulator: Simulator, ranks: Sequence[int], jitter: float, launches: int) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for count in ranks:
        for case in CASES:
            tree = seen_tree(simulator, case, count, launches if jitter else 1, jitter)
            told = _tell(case, tree)
            counts[told.partition(":")[0]] += 1
            between = f" ({', '.join(tree.between)})" if tree.between else ""
            missed = "" if tree.missed is None else f"{100 * tree.missed:.2f} %"
            name = f"{case.algorithm} {format_bytes(case.size(count))}"
            votes = f"{tree.votes}/{tree.launches}"
            yield f"{jitter:6g}  {count:5}  {name:32}  {told}{between}  {votes}  {missed}"
    yield f"jitter {jitter:g}: " + ", ".join(f"{count} {word}" for word, count in counts.items())


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", default="5,16,33,64")
    parser.add_argument("--jitter", default="0")
    parser.add_argument("--launches", type=int, default=6)
    given = parser.parse_args()
    simulator = find_simulator()
    for jitter in map(float, given.jitter.split(",")):
        for line in _lines(simulator, [int(one) for one in given.ranks.split(",")], jitter, given.launches):
            print(line, flush=True)


if __name__ == "__main__":
    main()
