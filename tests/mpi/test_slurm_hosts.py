"""What a real Slurm of one machine does to jobs: nodes by their switches, limits, drained nodes, requeues."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
import pytest

import slurm as testbed
from steelyard.base.errors import InputError
from steelyard.engines.installed import scripts_folder
from steelyard.engines.mpi import choose_mpi
from steelyard.records.job_file import JobFile
from steelyard.records.read import read_folder
from steelyard.system.machine import read_machine

pytestmark = [pytest.mark.xdist_group("waits"), pytest.mark.further]

_SECONDS = 900.0  # for what takes some seconds on a quiet machine


@contextlib.contextmanager
def _slurm(nodes: int, switches: int = 0) -> Iterator[Mapping[str, str]]:
    """The environment of a Slurm each of whose nodes has all cores of this machine."""
    if why := testbed.why_not():
        pytest.skip(why)
    cores = len(read_machine().cores)
    if cores < 2:
        pytest.skip("two ranks need two cores")
    with testbed.slurm(nodes, cores, switches) as found:
        yield {**os.environ, **found}


def _mpi() -> str:
    for name in ("openmpi", "mpich"):
        try:
            return choose_mpi(name).name
        except InputError:
            continue
    pytest.skip("neither Open MPI nor MPICH was found")


class _Run:
    """`steelyard run --batch slurm` under way, into a folder; in a `with`, at whose end it is gone."""

    def __init__(self, out: Path, environment: Mapping[str, str], *words: str) -> None:
        command = [str(scripts_folder() / "steelyard"), "run", "mpi.pingpong", "--bytes=8", "--batch=slurm"]
        command += ["--rule=fixed", "--param=count=20", "--oversubscribe", f"--mpi={_mpi()}", f"--out={out}"]
        self.out, self._environment = out, environment
        self._log = out.with_suffix(".said")
        with self._log.open("wb") as log:
            self._child = subprocess.Popen([*command, *words], env=environment, stdout=log, stderr=log)

    def __enter__(self) -> _Run:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.wait()

    @property
    def said(self) -> str:
        """What it has said so far, and its jobs."""
        logs = (log.read_text() for log in self.out.glob("batch/*.log"))
        return "\n".join([self._log.read_text(), *logs])

    def ended(self) -> int:
        """Its exit code, when it has ended."""
        return self._child.wait(_SECONDS)

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _SECONDS
        while not is_so():
            assert time.monotonic() < deadline, self.said
            assert self._child.poll() is None, self.said
            time.sleep(0.1)

    def job(self, hosts: int) -> str:
        """The name that Slurm gave a job."""
        path = self.out / f"batch/hosts-{hosts}.json"
        self.wait_until(path.exists)
        return str(msgspec.json.decode(path.read_bytes())["id"])

    def ask(self, *argv: str) -> str:
        done = subprocess.run(
            argv, env=self._environment, check=True, capture_output=True, text=True, timeout=_SECONDS
        )
        return done.stdout

    def files(self, hosts: int) -> list[JobFile]:
        return list(read_folder(self.out / f"hosts-{hosts}"))

    def has_ends(self, hosts: int, count: int = 1) -> bool:
        """Have so many test cases ended?"""
        folder = self.out / f"hosts-{hosts}"
        return folder.is_dir() and len(_ends(self.files(hosts))) >= count


def _ends(files: list[JobFile]) -> list[tuple[str, int]]:
    return [(file.job.job, run.index) for file in files for run in file.points if run.end]


def _whole(files: list[JobFile], launches: int) -> None:
    """Each launch is there once, and well."""
    ends = _ends(files)
    assert len(ends) == len(set(ends)) == launches
    assert all(run.end is None or run.end.status == "ok" for file in files for run in file.points)


def test_pairs_of_four_nodes_by_their_switches(tmp_path: Path) -> None:
    words = ("--hosts=4", "--placement=hosts-each;n4,n2", "--launches=1", "--time=10m")
    with _slurm(4, switches=2) as environment, _Run(tmp_path / "out", environment, *words) as run:
        assert run.ended() == 0, run.said
    files = run.files(4)
    _whole(files, 4)
    assert {file.job.placement: file.job.hosts for file in files} == {
        "same-host n1,n1": ("n1",),
        "same-switch n1,n2": ("n1", "n2"),
        "other-switch n1,n3": ("n1", "n3"),
        "other-switch n4,n2": ("n4", "n2"),
    }
    # nodes of this Slurm are one machine, which the ranks tell and a check says
    assert "anks are on other hosts than asked for" in run.said
    assert "same_switch" in run.said  # as a file has it
    assert (tmp_path / "out" / "report.html").is_file()


def test_a_drained_node_is_waited_for_and_told(tmp_path: Path) -> None:
    words = ("--hosts=2", "--launches=1", "--time=10m")
    with _slurm(2) as environment:
        argv = ["scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=test"]
        subprocess.run(argv, env=environment, check=True)
        with _Run(tmp_path / "out", environment, *words) as run:
            job = run.job(2)
            run.wait_until(lambda: f"job {job} for 2 hosts: PENDING (" in run.said)
            assert not (tmp_path / "out" / "hosts-2").exists()
            run.ask("scontrol", "update", "NodeName=n2", "State=RESUME")
            assert run.ended() == 0, run.said
    _whole(run.files(2), 1)


def test_a_requeued_job_goes_on_where_it_was(tmp_path: Path) -> None:
    words = ("--hosts=1", "--launches=12", "--time=10m")
    with _slurm(1) as environment, _Run(tmp_path / "out", environment, *words) as run:
        job = run.job(1)
        run.wait_until(lambda: run.has_ends(1, 2))
        before = {path.name: path.read_bytes() for path in (run.out / "hosts-1/records").iterdir()}
        run.ask("scontrol", "requeue", job)
        assert run.ended() == 0, run.said
    after = {path.name: path.read_bytes() for path in (run.out / "hosts-1/records").iterdir()}
    assert all(after[name].startswith(text) for name, text in before.items())
    _whole(run.files(1), 12)
    assert run.said.count(f"job {job} of slurm for 1 host") == 1  # one job, that was started twice


def test_a_job_at_its_limit_is_told_and_the_same_command_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with _slurm(1) as environment:
        with _Run(out, environment, "--hosts=1", "--launches=10000", "--time=1m") as run:
            assert run.ended() == 3, run.said
            assert "before it had measured all: " in run.said
            assert "to go on: steelyard run " in run.said
        ends = _ends(run.files(1))
        assert ends
        assert len(ends) == len(set(ends))
        launches = len(ends) + 2
        with _Run(out, environment, "--hosts=1", f"--launches={launches}", "--time=10m") as run:
            assert run.ended() == 0, run.said
    _whole(run.files(1), launches)


def test_a_job_that_asks_for_more_than_there_is_is_refused_in_a_sentence(tmp_path: Path) -> None:
    words = ("--hosts=3", "--launches=1")
    with _slurm(1) as environment, _Run(tmp_path / "out", environment, *words) as run:
        assert run.ended() == 2, run.said
    (line,) = (line for line in run.said.splitlines() if "sbatch took no job for 3 hosts" in line)
    assert "Batch job submission failed" in line
    assert not (tmp_path / "out" / "hosts-3").exists()
