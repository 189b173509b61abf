"""Jobs of a real Slurm on this machine: made by --batch, started by srun, cancelled, and gone on with."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pytest

import slurm as testbed
from steelyard.base.errors import InputError
from steelyard.engines.installed import scripts_folder
from steelyard.engines.mpi import choose_mpi
from steelyard.records.read import read_folder
from steelyard.system.machine import read_machine

pytestmark = pytest.mark.xdist_group("waits")

_SECONDS = 900.0  # for what takes some seconds on a quiet machine
_LAUNCHERS = {"openmpi": "srun-pmix", "mpich": "srun-pmi2"}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mapping[str, str]]:
    """The variables of a Slurm with two nodes, each with all cores of this machine."""
    if why := testbed.why_not():
        pytest.skip(why)
    cores = len(read_machine().cores)
    if cores < 2:
        pytest.skip("two ranks need two cores")
    with testbed.slurm(2, cores) as found:
        for name, value in found.items():
            monkeypatch.setenv(name, value)
        yield {**os.environ, **found}


def _fail_in(folders: list[Path]) -> None:
    with testbed.slurm(1, 1) as found:
        folders.append(Path(found["SLURM_CONF"]).parent)
        assert _using(folders[0])
        raise ZeroDivisionError


def _using(folder: Path) -> list[int]:
    """The processes that live with this configuration of Slurm, or with its key."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                told = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
                found += [int(entry.name)] if bytes(folder) in told else []
        except OSError:
            continue
    return found


@pytest.mark.further
def test_slurm_ends_with_a_failing_body() -> None:
    if why := testbed.why_not():
        pytest.skip(why)
    folders: list[Path] = []
    with pytest.raises(ZeroDivisionError):
        _fail_in(folders)
    assert _using(folders[0]) == []
    assert not folders[0].exists()


def _steelyard(out: Path, environment: Mapping[str, str], *words: str) -> subprocess.Popen[str]:
    command = [str(scripts_folder() / "steelyard"), "run", "mpi.pingpong", "--bytes=8", "--batch=slurm"]
    command += ["--rule=fixed", "--param=count=20", "--oversubscribe", f"--out={out}", "--time=10m", *words]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def _wait_for(path: Path, child: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + _SECONDS
    while not path.exists():
        assert time.monotonic() < deadline, f"there is no {path}"
        assert child.poll() is None, child.communicate()[0]
        time.sleep(0.1)


def _names() -> list[str]:
    names = []
    for name in ("openmpi", "mpich"):
        try:
            names.append(choose_mpi(name).name)
        except InputError:
            continue
    return names


def test_a_cancelled_job_is_told_and_the_same_command_goes_on(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    names = _names()
    if not names:
        pytest.skip("neither Open MPI nor MPICH was found")
    out = tmp_path / "out"
    mpis = [f"--mpi={name}" for name in names]

    child = _steelyard(out, environment, *mpis, "--hosts=1", "--launches=10000")
    _wait_for(out / "hosts-1/records", child)
    records = out / "hosts-1/records"
    deadline = time.monotonic() + _SECONDS
    while not any(run.end for file in read_folder(records.parent) for run in file.points):
        assert time.monotonic() < deadline, (out / "batch/hosts-1.log").read_text()
        time.sleep(0.2)
    job = msgspec.json.decode((out / "batch/hosts-1.json").read_bytes())["id"]
    subprocess.run(["scancel", job], env=environment, check=True)
    said = child.communicate(timeout=_SECONDS)[0]
    assert child.returncode == 3, said
    assert "the job for 1 host ended before it had measured all: CANCELLED" in said
    before = {file.name: file.read_bytes() for file in records.iterdir()}

    child = _steelyard(out, environment, *mpis, "--hosts=1,2", "--launches=1")
    said = child.communicate(timeout=_SECONDS)[0]
    assert child.returncode == 0, said + "".join(log.read_text() for log in out.glob("batch/*.log"))
    after = {file.name: file.read_bytes() for file in records.iterdir()}
    assert all(after[name].startswith(text) for name, text in before.items())  # nothing lost
    files = [file for hosts in ("1", "2") for file in read_folder(out / f"hosts-{hosts}")]
    assert {file.job.launcher for file in files} == {_LAUNCHERS[name.partition("-")[0]] for name in names}
    assert {file.job.hosts for file in files} <= {("n1",), ("n2",), ("n1", "n2")}
    done = [(file.job.job, run.index) for file in files for run in file.points if run.end]
    assert len(done) == len(set(done))  # nothing measured twice
    assert {job for job, _ in done if job.startswith("l01-")} == {
        f"l01-{name}-n2-h{hosts}" for name in names for hosts in (1, 2)
    }
    assert all(run.end is None or run.end.status == "ok" for file in files for run in file.points)
    assert (out / "report.html").is_file()
