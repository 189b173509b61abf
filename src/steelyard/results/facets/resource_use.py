"""What ranks use while an operation is measured: CPU time, context switches, events, energy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steelyard.results.combined import Combined, middle
from steelyard.results.load import PointLaunch
from steelyard.results.row import Facet

_CPU = ("user_ns", "system_ns")
_LEAST_NS = 20e6  # of samples in a launch: a kernel that counts in ticks says little of less


class ResourceUse(Facet, frozen=True, kw_only=True):
    """Middles over launches, of the time in which samples were taken, rejected ones too, and between them.

    `cpu_share` is the CPU time of a rank over the time that passed, in the mean over ranks, `rank_cpu_shares`
    that of each; all threads count, so it may exceed 1. `system_share` is the part of it inside the kernel.
    None where launches took less than 20 ms. The others are of an operation, in the mean over ranks:
    `cpu_ns`; `switches` to wait, `preemptions` for another process and `yields` of the CPU, and
    `rank_switches` of each rank; `cycles`, `instructions`, `cache_misses` and `tlb_misses` outside the
    kernel. `energy_j` is a host's, of an operation, with all that ran there. None where the machine does not
    let one read them.
    """

    cpu_share: float | None = None
    rank_cpu_shares: tuple[float, ...] = ()
    system_share: float | None = None
    cpu_ns: float | None = None
    switches: float | None = None
    rank_switches: tuple[float, ...] = ()
    preemptions: float | None = None
    yields: float | None = None
    cycles: float | None = None
    instructions: float | None = None
    cache_misses: float | None = None
    tlb_misses: float | None = None
    energy_j: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> ResourceUse | None:
        """None where records do not have it: where timestamps of ranks are not kept, and in simulation."""
        launches = [launch for launch in combined.launches if launch.taken.used and launch.taken.operations]
        if not launches:
            return None
        timed = [launch for launch in launches if launch.taken.used.keys() >= {*_CPU}]
        cpu_times = [np.sum([launch.taken.used[name] for name in _CPU], axis=0) for launch in timed]
        shares = [
            cpu_ns / launch.taken.used["took_ns"]
            for launch, cpu_ns in zip(timed, cpu_times, strict=True)
            if "took_ns" in launch.taken.used and launch.taken.used["took_ns"].min() > _LEAST_NS
        ]
        system = [
            float(launch.taken.used["system_ns"].sum() / max(1, cpu_ns.sum()))
            for launch, cpu_ns in zip(timed, cpu_times, strict=True)
        ]
        slept = [
            launch.taken.used["voluntary"] / _operations(launch)
            for launch in launches
            if "voluntary" in launch.taken.used
        ]
        energy = _each(launches, "energy_uj")
        return cls(
            cpu_share=middle([float(share.mean()) for share in shares]),
            rank_cpu_shares=tuple(np.median(shares, axis=0).tolist()) if shares else (),
            system_share=middle(system) if shares else None,
            cpu_ns=middle(
                [
                    float(cpu_ns.mean()) / _operations(launch)
                    for launch, cpu_ns in zip(timed, cpu_times, strict=True)
                ]
            ),
            switches=middle(_each(launches, "voluntary")),
            rank_switches=tuple(np.median(slept, axis=0).tolist()) if slept else (),
            preemptions=middle(_each(launches, "involuntary")),
            yields=middle(_each(launches, "yields")),
            cycles=middle(_each(launches, "cycles")),
            instructions=middle(_each(launches, "instructions")),
            cache_misses=middle(_each(launches, "cache_misses")),
            tlb_misses=middle(_each(launches, "tlb_misses")),
            energy_j=None if not energy else (middle(energy) or 0.0) / 1e6,
        )


def _operations(launch: PointLaunch) -> float:
    """Count those of a rank: where pairs exchange messages at once, it takes part in those of its pair."""
    return launch.taken.operations / launch.taken.pairs


def _each(launches: Sequence[PointLaunch], name: str) -> list[float]:
    """Divide what a launch used by its operations, in the mean over ranks."""
    used = [(launch.taken.used.get(name), _operations(launch)) for launch in launches]
    return [float(amounts.mean()) / operations for amounts, operations in used if amounts is not None]
