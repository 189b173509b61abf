"""The input of the checks of a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from steelyard.base.errors import SteelyardError
from steelyard.base.heartbeat import Tell
from steelyard.engines.build import solo_engine
from steelyard.engines.clocks import gauge_clocks
from steelyard.engines.mpi import Mpi, find_mpis
from steelyard.engines.shmem import find_shmems
from steelyard.records.parts import Busy
from steelyard.system.kernel_settings import SystemSettings, read_settings
from steelyard.system.machine import Machine, read_machine


class MachineSnapshot(Struct, frozen=True):
    """This machine and what was found on it. `clocks`: from `gauge_clocks`; none without an engine.

    `shmems` are OpenSHMEM libraries.
    """

    machine: Machine
    mpis: Sequence[Mpi]
    clocks: Sequence[Mapping[str, Any]]
    engine_problem: str | None  # why there is no engine
    settings: SystemSettings = SystemSettings()
    busy: Sequence[Busy] = ()  # processes that ran during the looks
    shmems: Sequence[Mpi] = ()


def take_snapshot(tell: Tell) -> MachineSnapshot:
    """Look at this machine, its libraries and, with the engine, its clocks; not at others' processes.

    `tell` hears of an engine that is built first.
    """
    clocks, problem = list[dict[str, Any]](), None
    try:
        clocks = gauge_clocks(solo_engine(tell))
    except SteelyardError as error:
        problem = str(error)
    return MachineSnapshot(
        read_machine(), find_mpis(), clocks, problem, read_settings(), shmems=find_shmems()
    )
