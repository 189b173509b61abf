"""Printed commands that do not go on in a folder: they compare, confirm, wait, or run something else."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from advice import FOLDER, Advice, launches, raising, types
from commands import FIXED
from made_sweep import sweep_of
from make_records import FakePoint, steady, write_folder
from record_lines import unsealed
from scripts import script
from steelyard.campaign import batch as jobs
from steelyard.cli import batch, measure
from steelyard.engines.mpi import find_mpis
from steelyard.plan.suites import KERNELS
from steelyard.records.campaign_file import Placement
from steelyard.records.command_line import resumed
from steelyard.render.terminal import Paper
from steelyard.results.rows import results

_DAY_NS = 86_400 * 10**9


@types("cli/diff.py: rerun")
def test_two_folders_are_compared(advice: Advice) -> None:
    advice.measure("--launches", "2")
    said = advice.steelyard("rerun", FOLDER, "--out", "-again", "--yes")
    assert said.code == 0
    assert advice.type("cli/diff.py: rerun", said, "diff").code in (0, 1)


@types("judges/accept/reference.py: _other_variables")
def test_a_reference_with_other_variables_is_measured_again(advice: Advice) -> None:
    advice.measure()
    advice.measure("--env", "NO_SUCH=1", out="tuned")
    said = advice.steelyard("accept", FOLDER, "--reference", "tuned")
    assert "The variables differ" in " ".join(said.out.replace("#", "").split())
    assert "NO_SUCH=1" in said.out
    assert advice.type("judges/accept/reference.py: _other_variables", said, "rerun").code == 0


@types("judges/guidelines/tables.py: _notes")
def test_guidelines_of_too_few_launches_are_measured_in_more(advice: Advice) -> None:
    words = ("mpi.gather", "--bytes=8", "--mpi=embedded", "-n1")
    said = advice.steelyard("check", "guidelines", *words, "--launches=2", f"--out={FOLDER}")
    assert "launches at least" in " ".join(said.out.replace("#", "").split())
    again = advice.type("judges/guidelines/tables.py: _notes", said, "run")
    assert (again.code, "launch 3 of " in again.err) == (0, True)


@types("judges/accept/reference.py: _remedy")
def test_a_machine_is_compared_with_its_reference(advice: Advice, tmp_path: Path) -> None:
    """All takes twice as long as it did."""
    for name, took_ns in ((FOLDER, 1e3), ("-now", 2e3)):
        write_folder(tmp_path / name, [FakePoint("mpi.bcast", steady(took_ns))], launches=6)
    said = advice.steelyard("accept", "--reference", FOLDER, "--", "-now")
    assert said.code == 1
    compared = advice.type("judges/accept/reference.py: _remedy", said, "compare")
    assert (compared.code, "slower" in compared.out) == (1, True)
    assert advice.type("judges/accept/reference.py: _remedy", said, "diff").code == 0


@types("analyses/overview.py: _left_words")
def test_rows_that_a_terminal_leaves_out_are_shown(
    advice: Advice, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    points = [FakePoint("mpi.bcast", steady(1e3), bytes=8 << k) for k in range(9)]
    write_folder(tmp_path / FOLDER, points, launches=2)
    monkeypatch.setattr("steelyard.analyses.overview.MOST_CASES", 5)
    monkeypatch.setattr("steelyard.cli.show.paper", lambda: Paper(200, is_pipe=False))
    said = advice.steelyard("show", FOLDER)
    assert "4 of 9 test cases are not shown here, none that failed" in said.out
    again = advice.type("analyses/overview.py: _left_words", said, "show")
    assert (again.code, "2 KiB" in again.out, "not shown" in again.out) == (0, True, False)


@types("cli/plan_options.py: _check_arms")
def test_arms_of_two_factors_are_two_commands(advice: Advice) -> None:
    said = advice.steelyard("run", "self.empty", "--arms=env.A=1,2,env.B=3", "--out", FOLDER)
    assert (said.code, said.err.count(" --arms env.")) == (2, 2)
    again = advice.type("cli/plan_options.py: _check_arms", said, more="--dry-run")
    assert (again.code, "2 test cases" in again.out) == (0, True)


@types("cli/run.py: measure_and_show")
def test_arms_have_the_command_of_their_verdict(advice: Advice) -> None:
    said = advice.measure("--arms", "env.NOTHING_READS_THIS=a,b", "--launches", "2")
    assert advice.type("cli/run.py: measure_and_show", said, "compare").code in (0, 1)


@types("cli/tune.py: _left_words")
def test_what_a_budget_left_of_a_sweep_is_measured(
    advice: Advice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No MPI is needed: the sweep is made up, the second time with all its launches."""
    made = [sweep_of(tmp_path / str(count), 2e3, 2e3, launches=count, planned=7) for count in (1, 7)]
    monkeypatch.setattr(measure, "measured", lambda _plan, _folder: made.pop(0))
    said = advice.steelyard("tune", "mpi.bcast", "--time-budget", "9s")
    assert "the time budget left out 24 measurements of the sweep; to go on: " in said.err
    again = advice.type("cli/tune.py: _left_words", said, "tune")
    assert ("left out" in again.err, made) == (False, [])


@types("cli/check.py: _with_command")
def test_what_is_suspected_is_confirmed(advice: Advice, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five nights, and tonight three times as slow, with a variable that was not set before."""
    advice.measure("--launches", "2", out="before")
    for number in range(5):
        _as_of(Path("before"), Path(f"nights/{number}"), 5 - number)
    with monkeypatch.context() as tonight:
        tonight.setenv("LD_LIBRARY_PATH", "/nowhere")
        advice.measure("--launches", "2", out="nights/5")
    _slowed(Path("nights/5"))
    said = advice.steelyard("check", "--history", "nights", "--launches", "8")
    assert said.code == 1
    told = advice.type("cli/check.py: _with_command", said, "check")
    assert told.code in (0, 1), told.err  # an environment moves the stack, which a short test case may feel
    assert "confirmed" in told.out


def _as_of(night: Path, copy: Path, days: int) -> None:
    """The same night, so many days before."""
    shutil.copytree(night, copy)
    for path in (copy / "records").glob("*.jsonl"):
        lines = [json.loads(line) for line in unsealed(path.read_text()).splitlines()]
        for line in lines:
            if line["record"] == "launch":
                line["start_unix_ns"] -= days * _DAY_NS
        _rewrite(path, lines)


def _slowed(night: Path) -> None:
    for path in (night / "records").glob("*.jsonl"):
        lines = [json.loads(line) for line in unsealed(path.read_text()).splitlines()]
        for line in lines:
            if line["record"] == "obs":
                both = zip(line["start_ns"], line["stop_ns"], strict=True)
                line["stop_ns"] = [
                    [begin + 3 * (end - begin) for begin, end in zip(*each, strict=True)] for each in both
                ]
        _rewrite(path, lines)


def _rewrite(path: Path, lines: list[dict[str, Any]]) -> None:
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


@types("cli/batch.py: run_batch", "cli/batch.py: _wait")
def test_jobs_are_waited_for_and_submitted_again(
    advice: Advice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stands in for the batch system runs the script at once."""
    out = tmp_path / "jobs"
    for name in ("_LOOK_SECONDS", "_SETTLE_SECONDS"):
        monkeypatch.setattr(jobs, name, 0.02)
    monkeypatch.setattr(jobs, "_ASK_SECONDS", (0.02, 0.1))
    last = 'for script; do :; done; echo 1; sh "$script" >&2'
    script(tmp_path / "bin" / "sbatch", "echo 1")
    script(tmp_path / "bin" / "scontrol", "echo JobState=FAILED")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    words = ("--batch", "slurm", "--env", "API_TOKEN=hunter2", "--", "self.empty")
    said = advice.steelyard("run", *FIXED, "--out", out, *words)
    assert said.code == 3
    with monkeypatch.context() as stopped:
        stopped.setattr(batch, "watch", raising(KeyboardInterrupt))
        waits = advice.steelyard("run", *FIXED, "--out", out, *words)
    script(tmp_path / "bin" / "scancel", f'echo "$@" > {tmp_path}/ended')
    (ends,) = re.findall("'(scancel [^']*)' ends them", waits.err)
    assert subprocess.run(shlex.split(ends)).returncode == 0
    assert (tmp_path / "ended").read_text() == "1\n"
    monkeypatch.setenv("API_TOKEN", "hunter2")
    script(tmp_path / "bin" / "sbatch", last)
    script(tmp_path / "bin" / "scontrol", "echo JobState=COMPLETED ExitCode=0:0")
    assert advice.type("cli/batch.py: run_batch", said).code == 0
    (folder,) = out.glob("hosts-*")
    assert [row.launch_count for row in results(folder)] == [1]
    goes_on = advice.steelyard(*shlex.split(resumed(folder, launches="2"))[1:])
    assert goes_on.code == 0, "in a job, for there may be no allocation"
    assert [row.launch_count for row in results(folder)] == [2]
    again = advice.type("cli/batch.py: _wait", waits)
    assert again.code == 0
    assert "all was measured before" in again.err


@types("cli/under_launcher.py: _sentence")
def test_a_command_that_ranks_were_told_is_told_once(advice: Advice, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as started:
        started.setenv("PMI_RANK", "0")
        started.setenv("PMI_SIZE", "2")
        said = advice.steelyard("run", *FIXED, "--dry-run", "--", "self.empty")
    assert said.code == 2
    told = advice.type("cli/under_launcher.py: _sentence", said)
    assert told.code == 0, told.err


@types("cli/main.py: _meant", "plan/arguments.py: asked_plan", "plan/arguments.py: _check_words")
def test_what_is_typed_at_a_first_try_is_answered_by_what_runs(advice: Advice) -> None:
    """An op and a test of another suite in the place of a command, and of an op."""
    for place, words in (
        ("cli/main.py: _meant", ("self.empty", "--param", "count=2", "--rule", "fixed")),
        ("plan/arguments.py: asked_plan", ("run", "epcc_for", "--like", "epcc_barrier")),
        ("plan/arguments.py: _check_words", ("run", "epcc_barrier")),
    ):
        said = advice.steelyard(*words)
        assert said.code == 2
        assert advice.type(place, said, more="--dry-run").code == 0


@pytest.mark.usefixtures("an_mpi")
@types("cli/suite_command.py: suite_command")
def test_a_command_line_of_another_suite_is_answered_by_one_of_ours(advice: Advice) -> None:
    place = "cli/suite_command.py: suite_command"
    for words in (
        "epcc_barrier",
        "osu_latency -m 8:1024 -i 100 -x 9",
        "run osu_bw -W 32 -m :100 --mpi embedded",
        "run --like 'osu_put_latency -w create -s fence'",
        "mpirun -np 2 -x A=b --bind-to core ./IMB-MPI1 PingPong Allreduce -npmin 2 -msglog 2:5 -iter 9",
    ):
        said = advice.steelyard(*shlex.split(words))
        assert said.code == 2
        again = advice.type(place, said, more="--dry-run")
        assert again.code == 0, again.err


@pytest.mark.usefixtures("an_mpi")
@types("plan/like.py: _named_tests", "plan/resolve.py: _check_used")
def test_what_suits_is_listed(advice: Advice) -> None:
    for place, words in (
        ("plan/like.py: _named_tests", ("--like", "OMB")),
        ("plan/resolve.py: _check_used", ("self.empty", "self.clock", "--method", "barrier,window")),
    ):
        said = advice.steelyard("run", *words)
        assert said.code == 2
        assert advice.type(place, said, "list").code == 0


@types("cli/list.py: _plan_details", "cli/list.py: list_what_there_is")
def test_what_a_list_names_can_be_run(advice: Advice) -> None:
    for place, name in (("_plan_details", "quick"), ("list_what_there_is", "epcc_barrier")):
        said = advice.steelyard("list", name)
        assert advice.type(f"cli/list.py: {place}", said, more="--dry-run").code == 0


@pytest.fixture
def an_mpi() -> None:
    """Something for ops of MPI to be planned with."""
    if not find_mpis():
        pytest.skip("no MPI was found")


@pytest.mark.usefixtures("an_mpi")
@types("judges/accept/places.py: _measured_alone")
def test_a_slow_pair_is_measured_alone(advice: Advice, tmp_path: Path) -> None:
    """Results of a machine of which CPUs 0 and 1 are farther from each other than other pairs of four."""
    pairs = itertools.combinations(range(4), 2)
    points = [
        FakePoint(
            "mpi.pingpong",
            steady(900.0 if pair == (0, 1) else 400.0, count=50),
            mpi=find_mpis()[-1].name,
            placement=Placement(kind="shared-l3", cpus=pair, interrupts=()),
        )
        for pair in pairs
    ]
    write_folder(tmp_path / FOLDER, points, launches=6)
    said = advice.steelyard("accept", FOLDER)
    assert said.code == 1
    assert f"--mpi {find_mpis()[-1].name}" in " ".join(said.out.split())
    assert advice.type("judges/accept/places.py: _measured_alone", said, more="--dry-run").code == 0


@pytest.mark.usefixtures("an_mpi")
@types("export/suite_text.py: _nothing")
def test_what_a_suite_would_print_is_measured(advice: Advice, tmp_path: Path) -> None:
    write_folder(tmp_path / "x", [FakePoint("mpi.pingpong", steady(9.0), params={"buffer": "apart"})])
    said = advice.steelyard("export", "x", "--to", "netpipe")
    assert said.code == 2
    assert advice.type("export/suite_text.py: _nothing", said, more="--dry-run").code == 0


@types("plan/suites/__init__.py:")
@pytest.mark.parametrize("word", KERNELS)
def test_a_suite_of_kernels_is_run(advice: Advice, word: str) -> None:
    said = advice.steelyard("run", "--like", word)
    assert said.code == 2
    advice.made["plan/suites/__init__.py:"] = list(KERNELS.values())  # made when it was imported
    assert advice.type("plan/suites/__init__.py:", said, more="--dry-run").code == 0


@types("judges/compare/verdicts.py: _why_not")
def test_what_failed_in_a_rival_is_measured_again(advice: Advice) -> None:
    """Both launches of one folder are damaged."""
    for out in ("before", FOLDER):
        advice.measure("--launches", "2", out=out)
    for path in Path(FOLDER, "records").iterdir():
        path.write_bytes(path.read_bytes().replace(b'"count":2', b'"count":3'))
    said = advice.steelyard("compare", "before", FOLDER)
    assert said.code == 2
    assert advice.type("judges/compare/verdicts.py: _why_not", said).code == 0
    assert launches() == [2, 2]
