"""Checks of this machine before anything is measured."""

from collections.abc import Mapping
from typing import Any

import msgspec

from steelyard.base.diagnostic import Diagnostic, checks_of, diagnose
from steelyard.diagnostics.machine import installation as machine
from steelyard.diagnostics.machine import settings
from steelyard.diagnostics.machine.snapshot import MachineSnapshot
from steelyard.system.kernel_settings import SystemSettings
from steelyard.system.machine import Machine

__all__ = ["CHECKS", "MachineSnapshot", "examine", "examine_recorded"]

CHECKS = checks_of(machine, settings)
_OF_INSTALLATIONS = ("engine", "mpi", "mpicc", "compiler")  # installed here; records are of other machines
# Counted since the machine began: what happened while ranks ran is in the states of their launches.
_SINCE_IT_BEGAN = ("steal", "throttled", "too-hot")


def examine(snapshot: MachineSnapshot) -> tuple[Diagnostic, ...]:
    """Run all checks on this machine, the gravest finding first."""
    return diagnose(CHECKS, snapshot)


def examine_recorded(told: Mapping[str, Any], of_system: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """Run the checks on a machine and its settings from a results folder, without what the machine counted
    before it was measured.

    Raises msgspec.ValidationError if these are not whole.
    """
    snapshot = MachineSnapshot(
        msgspec.convert(told, Machine), (), (), None, msgspec.convert(of_system, SystemSettings, strict=False)
    )
    left_out = (*_OF_INSTALLATIONS, *_SINCE_IT_BEGAN)
    return diagnose((row for row in CHECKS if row.name not in left_out), snapshot)
