"""`steelyard` itself in the first of several virtual hosts, under Open MPI 4 or a Hydra.

What stands in for a batch system are the variables of LSF.
"""

from __future__ import annotations

import os
import shlex

import pytest

import hosts as testbed
from hosts import Hosts
from points import mpi_or_skip
from steelyard.base.errors import MeasurementError
from steelyard.engines.build import mpi_engine
from steelyard.engines.installed import scripts_folder
from steelyard.system.machine import read_machine
from steelyard.system.process import Done, run

# What mpiexec is told on the command line in testbed/hosts.py, as Open MPI 4 reads it from variables.
_OPENMPI = {
    "OMPI_MCA_oob_tcp_if_include": "eth0",
    "OMPI_MCA_btl": "tcp,self,vader",
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def skip_without_hosts(*, hub: bool = False) -> None:
    """Skip, with the reason, where no bed can be made or Open MPI 4 is not here; build its engine."""
    if why := testbed.why_not(hub=hub):
        pytest.skip(why)
    mpi = mpi_or_skip("openmpi")
    if not mpi.version.startswith("4."):
        pytest.skip("the variables are those of Open MPI 4")
    if len(read_machine().cores) < 2:
        pytest.skip("two ranks over TCP want two cores")
    mpi_engine(mpi)


def steelyard_on(bed: Hosts, *words: str, seconds: float = 120.0, **variables: str) -> Done:
    """`steelyard` in the first host, with an allocation of all hosts."""
    command = shlex.join([str(scripts_folder() / "steelyard"), *words])
    return typed_on(bed, command, seconds=seconds, **variables)


def typed_on(bed: Hosts, command: str, seconds: float = 120.0, **variables: str) -> Done:
    """A command in the first host, with an allocation of all hosts.

    Others on the cores may hold up ranks over TCP for minutes, which says nothing: skips then.
    """
    allocation = " ".join(f"{host.name} {len(read_machine().cores)}" for host in bed.hosts)
    agents = {"OMPI_MCA_plm_rsh_agent": bed.agent, "HYDRA_LAUNCHER": "rsh", "HYDRA_LAUNCHER_EXEC": bed.agent}
    given = {"LSB_MCPU_HOSTS": allocation} | agents | _OPENMPI | variables
    line = [f"{name}={value}" for name, value in given.items()]
    try:
        return run([*bed.on(bed.hosts[0]), f"{shlex.join(['env', *line])} {command}"], timeout=seconds)
    except MeasurementError:
        if (load := os.getloadavg()[0]) > len(read_machine().cores):
            pytest.skip(f"others use the cores (load {load:.0f})")
        raise
