"""The input of the checks of a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from steelyard.engines.mpi import Mpi
from steelyard.records.parts import Busy
from steelyard.system.kernel_settings import SystemSettings
from steelyard.system.machine import Machine


class MachineSnapshot(Struct, frozen=True):
    """This machine and what was found on it. `clocks`: from `gauge_clocks`; none without an engine."""

    machine: Machine
    mpis: Sequence[Mpi]
    clocks: Sequence[Mapping[str, Any]]
    engine_problem: str | None  # why there is no engine
    settings: SystemSettings = SystemSettings()
    busy: Sequence[Busy] = ()  # processes that ran during the looks
