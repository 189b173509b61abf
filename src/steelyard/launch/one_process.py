"""One process on one host, started by the launcher of ranks, for what must be done on each host."""

from __future__ import annotations

import os

from msgspec import Struct

from steelyard.base.errors import InputError
from steelyard.engines.build import Engine, engine_environment
from steelyard.launch.launcher_choice import choose_launcher
from steelyard.launch.launchers import Start
from steelyard.system.allocation import Allocation


class OneProcess(Struct, frozen=True):
    """Start `[*argv_prefix, PROGRAM, ...]` with os.environ | environment; it reads the launcher's input."""

    argv_prefix: tuple[str, ...]
    environment: dict[str, str]


def plan_process(
    engine: Engine, launcher: str | None, allocation: Allocation | None, host: str | None
) -> OneProcess:
    """Plan an unbound process on a host of the allocation (None: where a launcher puts it).

    Raises InputError if the launcher cannot be used, or the engine has no MPI.
    """
    if engine.mpi is None:
        raise InputError(
            "an engine without MPI runs here, without a launcher; leave --launcher and --hosts out"
        )
    chosen = choose_launcher(launcher, engine.mpi, allocation)
    start = Start(ranks=1, hosts=(host,) if host is not None else ())
    environment = engine_environment(engine) | dict(chosen.free.environment)
    if os.geteuid() == 0:
        environment |= chosen.as_root
    program = (chosen.program or engine.mpi.mpiexec, *chosen.verb)
    return OneProcess((*program, *chosen.free.argv, *chosen.counted(start)), environment)
