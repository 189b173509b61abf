"""Machines that are planted for the referee of commands, and what `accept` says of their places."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from planted_folders import steelyard

from make_records import FakePoint, steady, write_folder
from steelyard.judges.accept import NOT_WELL

SIZES = (32 << 20, 48 << 20)  # bytes of the two tests of cores
SCATTER = 0.01  # of launches


@dataclass(frozen=True, slots=True)
class Machine:
    """So many cores on each host, which differ lastingly by `lasting` (standard deviation) in each test.

    The first one, or the whole first of several hosts, takes `slow` times as long in the first test.
    `accused` is how a sentence names it; empty where there is nothing to find, or too little to find it by.
    """

    cores: int = 64
    hosts: int = 1
    lasting: float = 0.0
    slow: float = 1.0
    launches: int = 10
    accused: str = ""

    def paces(
        self, rng: np.random.Generator, *, is_slow: bool
    ) -> Callable[[np.random.Generator], tuple[float, ...]]:
        """How many times as long each rank takes in a launch; what lasts is drawn now."""
        ranks = self.cores * self.hosts
        own = self.lasting * rng.standard_normal(ranks)
        own[: 1 if self.hosts == 1 else self.cores] += math.log(self.slow) * is_slow
        return lambda draws: tuple(np.exp(own + SCATTER * draws.standard_normal(ranks)).tolist())


MACHINES = {
    "64 sound cores": Machine(),
    "64 sound cores that differ by 2 %": Machine(lasting=0.02),
    "64 cores, one 10 % slower": Machine(slow=1.1, accused="Core 0 "),
    "64 cores that differ by 2 %, one 25 % slower": Machine(lasting=0.02, slow=1.25, accused="Core 0 "),
    "four launches, one of 64 cores twice as slow": Machine(slow=2.0, launches=4),
    "8 sound hosts of 4 cores": Machine(cores=4, hosts=8),
    "8 hosts, one 12 % slower": Machine(cores=4, hosts=8, slow=1.12, accused="Host node0 "),
}


def write_machine(folder: Path, machine: Machine, rng: np.random.Generator) -> Path:
    """Write the folder of an acceptance that has two tests of all cores at once."""
    points = [
        FakePoint(
            "mem.stream.triad",
            steady(4e6, count=16, spread=0.01),
            bytes=size,
            ranks=machine.cores * machine.hosts,
            mpi=None,
            reps=1,
            paces=machine.paces(rng, is_slow=size == SIZES[0]),
        )
        for size in SIZES
    ]
    return write_folder(
        folder,
        points,
        launches=machine.launches,
        seed=int(rng.integers(1 << 31)),
        name="acceptance",
        plan={"name": "acceptance", "launches": machine.launches},
        cpus=lambda rank: str(rank % machine.cores),
        hosts=lambda rank: f"node{rank // machine.cores}",
    )


def accused(machine: Machine, rng: np.random.Generator) -> str:
    """What `accept` says against cores and hosts of a machine; empty for nothing."""
    with TemporaryDirectory() as folder:
        path = write_machine(Path(folder) / "x", machine, rng)
        topics = steelyard("accept", path, "--json").document["topics"]
    places = [one for one in topics if one["topic"] in ("cores", "hosts")]
    return " ".join(one["evidence"] for one in places if one["verdict"] == NOT_WELL)
