"""Campaigns over virtual hosts that share no folder of the engine: `--stage`, pairs of hosts, lines for each.

`steelyard` itself runs in the first host; what stands in for a batch system are the variables of LSF.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import numpy as np
import pytest

import hosts as testbed
from hosts import Hosts, hosts
from steelyard.base.errors import InputError, MeasurementError
from steelyard.engines.build import mpi_engine
from steelyard.engines.mpi import choose_mpi, scripts_folder
from steelyard.models.host_matrix import host_matrices
from steelyard.records.read import read_folder
from steelyard.results.rows import results
from steelyard.system.machine import read_machine
from steelyard.system.process import Done, run

pytestmark = [pytest.mark.ours, pytest.mark.further]

_SECONDS = 120.0
# What mpiexec is told on the command line in testbed/hosts.py, as Open MPI 4 reads it from variables.
_OPENMPI = {
    "OMPI_MCA_oob_tcp_if_include": "eth0",
    "OMPI_MCA_btl": "tcp,self,vader",
    "OMPI_MCA_btl_tcp_if_include": "eth0",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def _steelyard(bed: Hosts, *words: str, **variables: str) -> Done:
    """In the first host, with an allocation of all hosts and a cache that the others do not see."""
    folder = Path(bed.agent).parent
    allocation = " ".join(f"{host.name} {len(read_machine().cores)}" for host in bed.hosts)
    given = {
        "LSB_MCPU_HOSTS": allocation,
        "OMPI_MCA_plm_rsh_agent": bed.agent,
        "STEELYARD_CACHE": f"{folder}/tmp/cache",
    }
    given |= _OPENMPI | variables
    line = [f"{name}={value}" for name, value in given.items()]
    command = ["env", *line, str(scripts_folder() / "steelyard"), *words]
    return run([*bed.on(bed.hosts[0]), shlex.join(command)], timeout=_SECONDS)


@pytest.fixture(autouse=True)
def _can_be() -> None:
    if why := testbed.why_not():
        pytest.skip(why)
    try:
        mpi = choose_mpi("openmpi")
    except InputError:
        pytest.skip("no openmpi MPI was found")
    if not mpi.version.startswith("4."):
        pytest.skip("the variables are those of Open MPI 4")
    if len(read_machine().cores) < 2:
        pytest.skip("two ranks over TCP want two cores")
    mpi_engine(mpi)


def _tried(bed: Hosts, *words: str, **variables: str) -> Done:
    """Others on the cores may hold up ranks over TCP for minutes, which says nothing."""
    try:
        return _steelyard(bed, *words, **variables)
    except MeasurementError:
        if (load := os.getloadavg()[0]) > len(read_machine().cores):
            pytest.skip(f"others use the cores (load {load:.0f})")
        raise


def test_hosts_that_do_not_see_the_engine(tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [
        "run",
        "mpi.pingpong",
        "--bytes=8",
        "--mpi=openmpi",
        "--launches=1",
        "--rule=fixed",
        "--param=count=3",
    ]
    words += ["--placement=hosts-each", "--clock=monotonic", f"--out={out}"]
    with hosts(2, (250, 750)) as bed:
        stage = f"{Path(bed.agent).parent}/tmp/stage"
        refused = _tried(bed, *words, "--stage=/proc/nowhere")
        assert refused.code == 2, refused.err
        assert "the engine could not be brought to the host h1 into /proc/nowhere" in refused.err
        done = _tried(bed, *words, f"--stage={stage}")
    assert done.code == 0, done.out + done.err
    assert f"to 2 hosts, into {stage}/steelyard-" in done.err
    files = {file.job.placement: file for file in read_folder(out)}
    assert set(files) == {"same-host h1,h1", "other-host h1,h2"}
    for file in files.values():
        assert file.launch is not None
        assert file.job.engine.startswith(stage)
        assert [place.host for place in file.launch.places] == (file.job.placement or "").split()[1].split(
            ","
        )
        assert not any(place.other_libraries for place in file.launch.places)
    assert "other_host" in done.out  # as a pipe has it


def _cells(ns: tuple[tuple[float, ...], ...]) -> list[tuple[int, int, float]]:
    return [(a, b, value) for a, row in enumerate(ns) for b, value in enumerate(row)]


def test_each_pair_of_hosts_in_rounds(tmp_path: Path) -> None:
    """Three hosts meet in three rounds of one launch, one of them waiting in each."""
    out = tmp_path / "out"
    words = [
        "run",
        "mpi.pattern.round_robin",
        "--hosts=3",
        "--ranks-per-host=1",
        "--param=round=*",
        "--bytes=8",
    ]
    words += ["--method=each", "--mpi=openmpi", "--launches=1", "--rule=fixed", "--param=count=20"]
    with hosts(3) as bed:
        unseen = _tried(bed, *words, f"--out={tmp_path / 'unseen'}")
        assert unseen.code == 3, unseen.err
        assert "cannot be run on h" in unseen.err
        assert "--stage brings the engine there" in unseen.err
        stage = f"--stage={Path(bed.agent).parent}/tmp/stage"
        done = _tried(bed, *words, stage, f"--out={out}")
    assert done.code == 0, done.out + done.err
    (file,) = read_folder(out)
    assert file.job.hosts == ("h1", "h2", "h3")
    (matrix,) = host_matrices(results(out))
    assert sorted(matrix.hosts) == ["h1", "h2", "h3"]
    assert all(np.isfinite(ns) or a == b or np.isfinite(matrix.ns[b][a]) for a, b, ns in _cells(matrix.ns))
    assert "from host to host" in done.out
    assert "From host to host" in (out / "report.html").read_text()
