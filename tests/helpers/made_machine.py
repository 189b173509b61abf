"""Made-up test cases of the plan `acceptance`: what a machine gives that is well, or has a fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from make_records import FakePoint, Series, steady, write_folder
from steelyard.judges.accept import Weighed
from steelyard.records.campaign_file import Placement
from steelyard.results.load import load
from steelyard.results.rows import rows_of

CORES, LAUNCHES = 8, 6  # of a host
PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
SLOW_CORE, SLOW_PAIR, SLOW_HOST, NOISY_CORE = 5, (1, 3), 3, 2
SIZES = (8, 16, 32, 64, 128, 256, 512, 1024)
RENDEZVOUS_NS = 3000.0  # what a message beyond the eager limit takes more
_QUANTA = 100

Scatter = Callable[[np.random.Generator], float]  # the logarithm of what a launch adds to a place
SCATTERS: dict[str, Scatter] = {
    "normal": lambda rng: 0.01 * rng.standard_normal(),
    "heavy tails": lambda rng: 0.005 * rng.standard_t(2),
    "modes": lambda rng: 0.18 * (rng.random() < 0.3) + 0.005 * rng.standard_normal(),
}


def machine(
    *,
    slow_core: float = 1.0,
    slow_link: float = 1.0,
    slow_host: float = 1.0,
    hosts: int = 1,
    lost: float = 0.0,
    mpi_ns: float = 300.0,
    eager: int = 4096,
    scatter: str = "normal",
) -> list[FakePoint]:
    """The test cases of a machine of `CORES` cores a host.

    One core of the first host, one pair, one host may take so many times as long; one core may lose a share
    of its time; MPI may be far from its floor, or wait for an answer beyond `eager` bytes.
    """
    added = SCATTERS[scatter]
    slow = np.ones(hosts * CORES)
    slow[SLOW_CORE] *= slow_core
    if hosts > 1:
        slow[SLOW_HOST * CORES : (SLOW_HOST + 1) * CORES] *= slow_host

    def paces(rng: np.random.Generator) -> tuple[float, ...]:
        return tuple(float(times * np.exp(added(rng))) for times in slow)

    def quanta(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
        took = 1e6 * (1 + 1e-4 * rng.random(_QUANTA))
        return np.asarray(np.where(np.arange(_QUANTA) % 10 == 0, took * (1 + 10 * lost), took))

    def sent(size: int) -> float:
        return mpi_ns + 0.1 * size + (RENDEZVOUS_NS if size > eager else 0.0)

    def linked(times: float) -> Series:
        def draw(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
            return steady(400.0 * times * float(np.exp(added(rng))), count=50, between=0.0)(rng, launch)

        return draw

    alone: dict[str, Any] = {"ranks": hosts * CORES, "mpi": None, "reps": 1}
    return [
        *(FakePoint("mpi.pingpong", steady(sent(size), count=100), bytes=size) for size in SIZES),
        FakePoint("shm.flag", steady(130.0, count=100), mpi=None),
        FakePoint(
            "mem.stream.triad", steady(4e6, count=20, spread=0.01), bytes=48 << 20, paces=paces, **alone
        ),
        FakePoint("noise.fwq", quanta, bytes=0, pace=(1.0,) * (hosts * CORES), **alone),
        FakePoint("npb.cg", steady(5e7, count=20), bytes=0, role="kernel", params={"class": "W"}, reps=1),
        *(
            FakePoint(
                "mpi.pingpong",
                linked(slow_link if pair == SLOW_PAIR else 1.0),
                placement=Placement(kind="shared-l3", cpus=pair, interrupts=()),
            )
            for pair in PAIRS
        ),
    ]


def weighed(folder: Path, points: Sequence[FakePoint], **given: Any) -> Weighed:
    """The folder of such test cases, read."""
    options: dict[str, Any] = {"launches": LAUNCHES, "name": "acceptance"}
    if max(point.ranks for point in points) > CORES:
        options |= {"cpus": lambda rank: str(rank % CORES), "hosts": lambda rank: f"node{rank // CORES}"}
    measured = load(write_folder(folder, points, **(options | given)))
    return Weighed(measured, rows_of(measured), folder.name)
