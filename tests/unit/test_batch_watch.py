"""Jobs of a batch system are watched: two programs in its place, and a clock of our own."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from fake_jobs import fake_job
from steelyard.base.errors import InputError
from steelyard.campaign import batch
from steelyard.campaign.batch import BatchJob
from steelyard.cli.batch import submitted
from steelyard.launch.batch_systems import BATCH_SYSTEMS


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with sbatch and squeue that say what stands in files beside them, and with nothing else."""
    for name in ("sbatch", "squeue"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\nread -r line < {tmp_path / name} || exit 1\necho "$line"\n')
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def _watched(job: BatchJob, steps: list[tuple[Path, str]]) -> tuple[list[batch.JobEnded], list[str]]:
    """Watch a job while at each second another of the files is written."""
    now, told = [0.0], list[str]()

    def sleep(seconds: float) -> None:
        if int(now[0] + seconds) > int(now[0]) and steps:
            path, text = steps.pop(0)
            path.write_text(text)
        now[0] += seconds
        assert now[0] < 1000, "it waits for ever"

    ended = batch.watch(BATCH_SYSTEMS["slurm"], {"7": job}, told.append, lambda: now[0], sleep)
    return list(ended), told


def test_a_job_is_submitted_once_and_watched(slurm: Path) -> None:
    job = fake_job(slurm / "out")
    (slurm / "sbatch").write_text("7\n")
    (slurm / "squeue").write_text("PENDING Priority\n")
    assert batch.submit(BATCH_SYSTEMS["slurm"], job) == "7"
    (slurm / "sbatch").write_text("8\n")
    assert (
        batch.submit(BATCH_SYSTEMS["slurm"], job) == "7"
    )  # it is still there: taken up, not submitted again
    exit_file = job.file("exit")
    ended, told = _watched(job, [(slurm / "squeue", "RUNNING None\n")] * 8 + [(exit_file, "0\n")])
    assert [(one.code, one.job) for one in ended] == [(0, job)]
    assert told == ["job 7 for 2 hosts: PENDING (Priority)", "job 7 for 2 hosts: RUNNING"]
    assert batch.is_measured(job, 10)
    assert not batch.is_measured(fake_job(slurm / "out", ("true", "--launches=20")), 20)


@pytest.mark.parametrize(
    ("says", "words"),
    [("CANCELLED by 0\n", "CANCELLED (by 0)"), ("", "the batch system does not know it any more")],
)
def test_a_job_that_is_gone_is_noticed(says: str, words: str, slurm: Path) -> None:
    job = fake_job(slurm / "out")
    (slurm / "sbatch").write_text("7\n")
    (slurm / "squeue").write_text(says)
    batch.submit(BATCH_SYSTEMS["slurm"], job)
    ended, _ = _watched(job, [])
    assert [(one.code, one.words) for one in ended] == [(None, words)]
    assert not batch.is_measured(job, 10)
    (slurm / "sbatch").write_text("8\n")
    assert batch.submit(BATCH_SYSTEMS["slurm"], job) == "8"  # the same command submits it again


def test_silence_of_the_batch_system_is_no_end(slurm: Path) -> None:
    """Its server restarts: for a minute it says nothing."""
    job = fake_job(slurm / "out")
    (slurm / "sbatch").write_text("7\n")
    (slurm / "squeue").write_text("")
    batch.submit(BATCH_SYSTEMS["slurm"], job)
    steps = [(slurm / "squeue", "")] * 60 + [(slurm / "squeue", "RUNNING None\n")] * 90
    ended, told = _watched(job, [*steps, (job.file("exit"), "3\n")])
    assert [one.code for one in ended] == [3]
    assert told == ["job 7 for 2 hosts: RUNNING"]


def test_a_queue_that_rejects(slurm: Path) -> None:
    job = fake_job(slurm / "out")
    (slurm / "sbatch").write_text("sbatch: error: invalid partition\x1b[2J specified: big\n")
    with pytest.raises(InputError, match=r"sbatch took no job for 2 hosts: .*invalid partition") as raised:
        batch.submit(BATCH_SYSTEMS["slurm"], job)
    assert "\x1b" not in str(raised.value)
    assert list(Path(job.wanted.script).parent.iterdir()) == [], "no job runs the script"


def test_jobs_that_were_taken_before_one_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "sbatch"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\ncase "$*" in *--nodes=8*) echo too many >&2; exit 1;; esac\necho 7\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    few = fake_job(tmp_path / "out")
    many = msgspec.structs.replace(few, wanted=msgspec.structs.replace(few.wanted, hosts=8))
    slurm = BATCH_SYSTEMS["slurm"]
    with pytest.raises(InputError, match=r"for 8 hosts: too many$"):
        submitted(slurm, [many])
    with pytest.raises(
        InputError, match=r"for 8 hosts: too many; 1 job before it will run: 'scancel 7' ends"
    ):
        submitted(slurm, [few, many])


def test_a_batch_system_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="there is no bsub on PATH"):
        batch.check_submits(BATCH_SYSTEMS["lsf"], fake_job(tmp_path))
