"""Jobs of batch systems: commands and scripts, answers as they were recorded, and what nobody should say."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from commands import steelyard_of
from fake_jobs import fake_job
from steelyard.base.errors import InputError
from steelyard.campaign import batch
from steelyard.campaign.batch import host_counts, plan_for, read_options
from steelyard.cli.batch import is_batch, job_words
from steelyard.cli.run_options import RunOptions
from steelyard.engines.mpi import find_mpis
from steelyard.launch.batch_systems import BATCH_SYSTEMS, Wanted
from steelyard.plan.arguments import asked_plan
from steelyard.plan.host_pairs import with_hosts
from steelyard.plan.plan import Measure, Plan

_WANTED = Wanted(
    *("steelyard-run-2", 2, 4, 90, "/o/batch/hosts-2.sh", "/o/batch/hosts-2.log"),
    account="me",
    partition="big",
    words=("--qos=a b",),
)


# Slurm was also tried on a real system; the others follow the words of their manuals.
_SUBMITTED = (
    (
        "slurm",
        (
            "sbatch --parsable --job-name=steelyard-run-2 --nodes=2 --exclusive --time=90 "
            "--output=/o/batch/hosts-2.log --open-mode=append --account=me --partition=big '--qos=a b' "
            "/o/batch/hosts-2.sh"
        ),
    ),
    (
        "pbs",
        (
            "qsub -N steelyard-run-2 -l select=2:ncpus=4:mpiprocs=4 -l place=scatter:excl "
            "-l walltime=01:30:00 -j oe -o /o/batch/hosts-2.log -A me -q big '--qos=a b' "
            "/o/batch/hosts-2.sh"
        ),
    ),
    (
        "lsf",
        (
            "bsub -J steelyard-run-2 -n 8 -R 'span[ptile=4]' -x -W 90 -o /o/batch/hosts-2.log -P me "
            "-q big '--qos=a b' /bin/sh /o/batch/hosts-2.sh"
        ),
    ),
    (
        "flux",
        (
            "flux batch --job-name=steelyard-run-2 --nodes=2 --exclusive --time-limit=90m "
            "--output=/o/batch/hosts-2.log --bank=me --queue=big '--qos=a b' /o/batch/hosts-2.sh"
        ),
    ),
)


def test_each_batch_system_is_in_the_table() -> None:
    assert {name for name, _ in _SUBMITTED} == set(BATCH_SYSTEMS)


@pytest.mark.parametrize(("system", "line"), _SUBMITTED)
def test_the_command_that_submits(system: str, line: str) -> None:
    assert shlex.join(BATCH_SYSTEMS[system].submit(_WANTED)) == line


@pytest.mark.parametrize(
    ("system", "answer", "job"),
    [
        ("slurm", "4242\n", "4242"),
        ("slurm", "4242;cluster2\n", "4242"),
        ("slurm", "sbatch: a word from the site\n4242\n", "4242"),
        ("slurm", "sbatch: error: Batch job submission failed\n", None),
        ("pbs", "12.pbs-server.example.org\n", "12.pbs-server.example.org"),
        ("pbs", "qsub: Unknown queue\n", None),
        ("lsf", "Job <715> is submitted to queue <normal>.\n", "715"),
        ("lsf", "big: No such queue. Job not submitted.\n", None),
        ("flux", "\u0192A2b7Q\n", "\u0192A2b7Q"),
    ],
)
def test_the_name_of_a_job(system: str, answer: str, job: str | None) -> None:
    match = BATCH_SYSTEMS[system].job_id.search(answer)
    assert (match[1] if match else None) == job


@pytest.mark.parametrize(
    ("system", "answer", "phase", "words"),
    [
        ("slurm", "PENDING Resources\n", "pending", "PENDING (Resources)"),
        (
            "slurm",
            "PENDING Nodes required for job are DOWN, DRAINED or reserved\n",
            "pending",
            "PENDING (Nodes required for job are DOWN, DRAINED or reserved)",
        ),
        ("slurm", "RUNNING None\n", "running", "RUNNING"),
        ("slurm", "COMPLETING None\n", "running", "COMPLETING"),
        ("slurm", "CANCELLED None\n", "over", "CANCELLED"),
        ("slurm", "CANCELLED by 0\n", "over", "CANCELLED (by 0)"),
        ("slurm", "TIMEOUT TimeLimit\n", "over", "TIMEOUT (TimeLimit)"),
        ("slurm", "NODE_FAIL None\n", "over", "NODE_FAIL"),
        (
            "slurm",
            "JobId=7 JobName=x JobState=FAILED Reason=NonZeroExitCode\n",
            "over",
            "FAILED (NonZeroExitCode)",
        ),
        ("slurm", "", None, ""),
        ("pbs", "Job Id: 12.s\n    job_state = Q\n", "pending", "state Q"),
        ("pbs", "    job_state = R\n", "running", "state R"),
        ("pbs", "    job_state = F\n    Exit_status = 271\n", "over", "state F, exit status 271"),
        ("pbs", "qstat: Unknown Job Id 12\n", None, ""),
        ("lsf", "PEND -\n", "pending", "PEND"),
        ("lsf", "RUN -\n", "running", "RUN"),
        ("lsf", "EXIT TERM_RUNLIMIT: job killed\n", "over", "EXIT (TERM_RUNLIMIT: job killed)"),
        ("flux", "SCHED -\n", "pending", "SCHED"),
        ("flux", "RUN -\n", "running", "RUN"),
        ("flux", "INACTIVE CANCELED\n", "over", "CANCELED"),
    ],
)
def test_what_a_batch_system_says_of_a_job(system: str, answer: str, phase: str | None, words: str) -> None:
    state = BATCH_SYSTEMS[system].read(answer)
    assert (None, "") if state is None else (state.phase, state.words) == (phase, words)
    assert (state is None) == (phase is None)


_HOSTILE = ("a b", "$(touch x)", "`touch x`", "; touch x", "'\"\\", "\n touch x\n", "--", "*", "ö\u202e")


def test_nothing_reaches_a_shell_unquoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script is run by a real shell: its words arrive as they were, and nothing else happens."""
    there = tmp_path / "it's $(touch x)"
    there.mkdir()
    monkeypatch.chdir(there)
    (tmp_path / "out/batch").mkdir(parents=True)
    dump = ("/bin/sh", "-c", 'printf "%s\\0" "$PATH" "$@" > ../said; exit 3', "sh")
    job = fake_job(tmp_path / "out", (*dump, *_HOSTILE))
    done = subprocess.run(["/bin/sh", "-c", job.script], cwd="/", check=False)
    assert done.returncode == 3
    assert (tmp_path / "said").read_bytes().decode().split("\0")[:-1] == ["/bin:$(id)'", *_HOSTILE]
    assert (tmp_path / "out/batch/hosts-2.exit").read_text() == "3\n"
    assert [path.name for path in there.iterdir()] == []


@pytest.mark.parametrize("word", ["mine\udcff.toml", "\udce9"])
def test_a_script_is_utf8(word: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a line that is not UTF-8: .*\\udc"):
        fake_job(tmp_path, ("steelyard", "run", word))


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("slurm", "-p long --hold -x n3 -C 'a&b' --comment='x y' -n4"),
        ("pbs", "-W umask=22 -h -l software=x"),
        ("lsf", "-M 4 -H -R 'select[mem>1000] span[ptile=2]' -app big"),
        ("flux", "-S a.b=c -x --queue=big"),
    ],
)
def test_words_of_options_reach_the_batch_system_as_they_are(system: str, words: str) -> None:
    row = BATCH_SYSTEMS[system]
    given = read_options(row, None, None, None, (words,)).words
    assert given == tuple(shlex.split(words))
    submitted = row.submit(msgspec.structs.replace(_WANTED, words=given))
    assert any(submitted[at : at + len(given)] == given for at in range(len(submitted)))


@pytest.mark.parametrize(
    ("system", "words"),
    [
        ("slurm", "date"),
        ("slurm", "-p long --qos=high date"),
        ("slurm", "--hold date"),  # takes no value
        ("slurm", "-H date"),
        ("slurm", "--partition date"),  # takes one, and no list of ours says so
        ("slurm", "-p -x date"),  # -x is a value here
        ("slurm", "-- date"),
        ("slurm", "-"),
        ("pbs", "-h date"),
        ("lsf", "-R 'select[mem>1000]' '; date'"),
        ("lsf", "-Ip date"),
        ("flux", "-x date"),
    ],
)
def test_no_word_is_run_in_place_of_the_job(system: str, words: str) -> None:
    with pytest.raises(InputError, match=f"is no option of {system} and the value of none, and could be run"):
        read_options(BATCH_SYSTEMS[system], None, None, None, (words,))


def test_a_job_is_given_the_command_line_again() -> None:
    options = RunOptions(
        what=["mpi.bcast", "-x"],
        ranks="4",
        bytes_="0,8",
        class_="S",
        param=["a=$(id)", "b=2"],
        launches=3,
        hosts="1,2",
        oversubscribe=True,
        yield_="none",
        batch="slurm",
        account="me",
        dry_run=True,
        json=True,
        out=Path("o"),
        retry="failed",
    )
    program, *words = job_words(options, 2, Path("/o/hosts-2"))
    assert Path(program).name == "steelyard"
    expected = (
        "run --ranks=4 --bytes=0,8 --class=S --param=a=$(id) --param=b=2 --launches=3 --oversubscribe "
        "--yield=none --retry=failed --hosts=2 --out=/o/hosts-2 -- mpi.bcast -x"
    )
    assert words == expected.split()


@pytest.mark.parametrize(
    ("given", "minutes"),
    [
        ({"time_budget": "10m", "launches": 100}, 15),
        ({"time_budget": "10m", "spread": "2h"}, 135),
        ({"launches": 1}, 6),
        ({"launches": 1000}, 58),  # a thousand times 1.05 s, maybe three times that, and five minutes
    ],
)
def test_the_limit_is_from_the_estimate(given: dict[str, object], minutes: int, tmp_path: Path) -> None:
    measure = Measure(ops=("mpi.bcast",), hosts=2, ranks_per_host=1, bytes=8)
    plan = msgspec.structs.replace(Plan(measure=(measure,)), **given)
    assert fake_job(tmp_path, plan=plan).wanted.minutes == minutes
    assert fake_job(tmp_path, plan=plan, time="90s").wanted.minutes == 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"account": "a b"}, "--account 'a b' is no name"),
        ({"account": "-x"}, "--account '-x' is no name"),
        ({"partition": "big\n#SBATCH --uid=0"}, "--partition 'big"),
        ({"partition": ""}, "--partition '' is no name"),
        ({"limit": "soon"}, "'soon' is not a duration"),
        ({"limit": "0s"}, "--time 0s is no time"),
        ({"words": ("--comment='x",)}, "has a quote without its end"),
        ({"words": ("--comment=x\ny",)}, "has control characters"),
    ],
)
def test_words_that_no_batch_system_gets(given: dict[str, object], words: str) -> None:
    defaults: dict[str, object] = {"account": None, "partition": None, "limit": None, "words": ()}
    with pytest.raises(InputError, match=words) as raised:
        read_options(BATCH_SYSTEMS["slurm"], **(defaults | given))  # type: ignore[arg-type]
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["a b", "x%j", "a'b", "x:y", "a\nb"])
def test_folders_that_batch_systems_would_change(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="letters that batch systems replace"):
        fake_job(tmp_path / name)


def test_why_a_job_ended_is_quoted_from_its_log(tmp_path: Path) -> None:
    job = fake_job(tmp_path)
    assert batch.reason_of(job) == ""
    job.file("log").parent.mkdir()
    job.file("log").write_bytes(
        b"steelyard: an earlier job\nsteelyard: no \x1b[31m MPI \xff\nslurmstepd: bye\n"
    )
    assert batch.reason_of(job) == "no \\x1b[31m MPI \ufffd"


def test_options_of_jobs_need_a_batch_system() -> None:
    assert not is_batch(RunOptions())
    with pytest.raises(InputError, match="--time is for jobs of a batch system"):
        is_batch(RunOptions(time="2h"))
    with pytest.raises(InputError, match="--batch is 'slurm' or 'pbs'"):
        is_batch(RunOptions(batch="slrum"))


def test_a_job_for_each_number_of_hosts() -> None:
    measures = (Measure(ops=("mpi.bcast",), hosts="1,4"), Measure(ops=("mpi.barrier",), hosts=2))
    plan = Plan(measure=(*measures, Measure(ops=("mpi.pingpong",))))
    assert host_counts(plan) == (1, 2, 4)
    assert host_counts(Plan(measure=measures[:1])) == (1, 4)
    assert [one.ops[0] for one in plan_for(plan, 2).measure] == ["mpi.barrier", "mpi.pingpong"]
    many = Measure(ops=("mpi.bcast",), hosts=tuple(range(1, 4098)))
    with pytest.raises(
        InputError, match="--batch makes at most 4096 jobs, not 4097; give fewer with --hosts"
    ):
        host_counts(Plan(measure=(many,)))


@pytest.mark.skipif(not find_mpis(), reason="no MPI was found")
def test_the_jobs_of_a_command_are_one_plan(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them has few test cases."""
    steelyard = steelyard_of(capsys, monkeypatch)
    asked = ("run", "mpi.pingpong", "--bytes", "1,2,4", "--hosts", "1,2,4,8", "--batch", "slurm", "--dry-run")
    monkeypatch.setattr("steelyard.base.product.MOST_TEST_CASES", 12)
    assert steelyard(*asked).code == 0
    monkeypatch.setattr("steelyard.base.product.MOST_TEST_CASES", 11)
    said = steelyard(*asked)
    assert (said.code, said.out) == (2, "")
    assert "a plan has at most 11 test cases" in said.err


@pytest.mark.parametrize(
    ("keys", "counts"),
    [
        ({}, (1, 2, 4)),
        ({"ranks_per_host": 2}, (1, 2, 4)),  # says nothing of hosts
        ({"hosts": "2,8"}, (2,)),
        ({"placement": "0,1"}, (1,)),
        ({"placement": "hosts-all"}, (2, 4)),
        ({"placement": "n1,n2;n3,n4"}, (2, 4)),
        ({"engine": "solo"}, (1,)),
    ],
)
def test_numbers_of_hosts_that_a_measure_is_for(keys: dict[str, Any], counts: tuple[int, ...]) -> None:
    found = with_hosts(Measure(ops=("mpi.pingpong",), **keys), (1, 2, 4))
    assert found is not None
    assert found.hosts == counts


def test_the_plan_of_hosts_is_for_any_number_of_them() -> None:
    axes = {"ranks": None, "hosts": "8", "ranks_per_host": "1"}
    plan = asked_plan(["hosts"], [], axes, None, [])
    assert [(one.hosts, one.ranks_per_host) for one in plan.measure] == 2 * [((8,), "1")]
