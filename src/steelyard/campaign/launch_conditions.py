"""What this system gives to a launch as it begins: its settings, and whether they leave ranks enough room."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from steelyard.base.limits import little_shm
from steelyard.campaign.jobs import LaunchGroup
from steelyard.campaign.started_programs import LIBRARIES
from steelyard.system.kernel_settings import read_settings
from steelyard.system.machine import read_machine


def settings_now() -> dict[str, Any]:
    """Read the settings of this system, as far as it shows them."""
    machine = msgspec.to_builtins(read_machine())
    told = {name: machine[name] for name in ("governor", "smt", "thp", "cpu_quota", "load")}
    told |= msgspec.to_builtins(read_settings())
    told |= {name: os.environ.get(name) for name in LIBRARIES}
    return {name: value for name, value in told.items() if value is not None}


def little_shared_memory(group: LaunchGroup, room: object) -> str | None:
    """Write how little shared memory there is for the ranks of an MPI on this host; None if it is enough.

    `room` is `shm_bytes` of the settings.
    """
    return little_shm(room, group.ranks // (group.hosts or 1)) if group.mpi is not None else None


def room_notes(group: LaunchGroup) -> tuple[str, ...]:
    """Write what a launch should not begin without, for whoever waits for it."""
    little = little_shared_memory(group, read_settings().shm_bytes)
    if little is None:
        return ()
    more = "mount -o remount,size=1G /dev/shm (containers: --shm-size=1G) gives more"
    return (f"{little}: an MPI library may die of that, or send by sockets; {more}",)
