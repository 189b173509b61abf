"""Ranks that srun starts on hosts of a test bed, whose clocks are 750 s apart; their messages go over TCP."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

import hosts as beds
import slurm as testbed
from steelyard.base.errors import InputError
from steelyard.engines.installed import scripts_folder
from steelyard.engines.mpi import choose_mpi
from steelyard.records.read import read_folder
from steelyard.system.machine import read_machine

pytestmark = pytest.mark.xdist_group("waits")

_SECONDS = 900.0  # for what takes some seconds on a quiet machine
_OFFSETS_S = (250, 1000)
# What carries the messages. A waiting rank gives way: what moves frames between hosts needs the cores, too.
_OVER_TCP = {
    "openmpi": {
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "tcp,self",
        "OMPI_MCA_btl_tcp_if_include": "eth0",
        "OMPI_MCA_mpi_yield_when_idle": "1",
    },
    "mpich": {"UCX_TLS": "tcp,self"},
}


@pytest.mark.further
def test_clocks_of_hosts_are_related_through_srun(tmp_path: Path) -> None:
    if why := testbed.why_not() or beds.why_not():
        pytest.skip(why)
    try:
        mpi = choose_mpi("openmpi")
    except InputError as error:
        pytest.skip(str(error))
    out = tmp_path / "out"
    words = ["run", "mpi.bcast", "--bytes=8", "--method=epoch", "--clock=monotonic", "--hosts=2"]
    words += ["--ranks-per-host=1", "--rule=fixed", "--param=count=20", "--launches=1", "--batch=slurm"]
    words += ["--launcher=srun-pmix", f"--mpi={mpi.name}", "--time=10m", f"--out={out}"]
    with (
        beds.hosts(2, _OFFSETS_S) as bed,
        testbed.slurm(2, len(read_machine().cores), bed=bed) as found,
    ):
        done = subprocess.run(
            [*bed.on(bed.hosts[0]), shlex.join([str(scripts_folder() / "steelyard"), *words])],
            env=os.environ | found | _OVER_TCP[mpi.family],
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        ahead = {host.name: host.offset_ns for host in bed.hosts}
    assert done.returncode == 0, done.stdout + done.stderr
    (job,) = read_folder(out / "hosts-2")
    assert job.job.launcher == "srun-pmix"
    assert job.launch is not None
    places = job.launch.places
    assert {place.host for place in places} == set(ahead)
    syncs = [sync for run in job.points for sync in run.syncs]
    assert syncs
    for sync in syncs:
        for place, offset, bound in zip(places, sync.offset_ns, sync.bound_ns, strict=True):
            apart = ahead[place.host] - ahead[places[0].host]
            apart -= place.clock_base_ns - places[0].clock_base_ns
            assert abs(offset - apart) <= bound
