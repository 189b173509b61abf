"""The command line as its users meet it: what stands on stdout and on stderr, and exit codes."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sys
from pathlib import Path

import pytest

import steelyard.campaign.jobs as jobs
import steelyard.cli.mpi as mpi_module
from campaigns import bytes_of
from commands import FIXED, Said, Steelyard, steelyard_of
from make_records import FakePoint, steady, write_folder
from steelyard import __version__
from steelyard.cli.main import main
from steelyard.cli.option_tables import commands
from steelyard.engines.build import Engine, solo_engine
from steelyard.engines.mpi import Mpi, find_mpis
from steelyard.engines.shmem import find_shmems
from steelyard.plan.plan import Measure, Plan
from steelyard.records.command_line import installing
from steelyard.system.machine import read_machine


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    return steelyard_of(capsys, monkeypatch)


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder."""
    folder = tmp_path_factory.mktemp("place") / "mine"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["steelyard", "run", "self.empty", *FIXED, "--out", str(folder)])
        with pytest.raises(SystemExit):
            main()
    return folder


def test_run_measures_resumes_and_ends_with_where_the_results_are(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = ("run", "self.empty", "self.clock", *FIXED, "--param", "count=2", "--out", out)
    said = steelyard(*command)
    assert said.code == 0
    assert "launch 1 of 1: 1 rank, 2 test cases" in said.err
    assert "self.clock" in said.out
    assert f"\n# results: {out}\n" in said.out
    lines = [line.split() for line in said.out.splitlines() if not line.startswith("#")]
    assert [fields[0] for fields in lines] == ["self.empty", "self.clock"]
    assert f"report:  {out / 'report.html'}" in said.out
    assert {path.name for path in out.iterdir()} >= {
        "campaign.json", "records", "results.json", "results.csv", "report.html",
    }  # fmt: skip
    before = {name: data for name, data in bytes_of(out).items() if name.startswith(("records/", "campaign"))}
    again = steelyard(*command)
    assert again.code == 0
    assert "launch 1 of 1" not in again.err
    assert {
        name: data for name, data in bytes_of(out).items() if name in before or name.startswith("records/")
    } == before


def test_json_is_one_document_and_progress_goes_to_stderr(steelyard: Steelyard, tmp_path: Path) -> None:
    said = steelyard(
        "run",
        "self.empty",
        "self.spin",
        *FIXED,
        "--param",
        "ns=1000,2000",
        "--out",
        tmp_path / "o",
        "--json",
    )
    assert said.code == 0
    assert said.document["schema"] == 1
    assert said.document["out"] == str(tmp_path / "o")
    assert [(row["op"], row["params"], row["status"]) for row in said.document["points"]] == [
        ("self.empty", {}, "ok"),
        ("self.spin", {"ns": 1000}, "ok"),
        ("self.spin", {"ns": 2000}, "ok"),
    ]
    assert json.loads((tmp_path / "o" / "results.json").read_text()) == said.document
    assert "results: " in said.err


def test_a_failed_point_ends_with_3_and_is_in_the_results(steelyard: Steelyard, tmp_path: Path) -> None:
    said = steelyard(
        "run", "self.fail", "self.empty", *FIXED, "--param", "kind=3", "--out", tmp_path / "o", "--json"
    )
    assert said.code == 3
    failed, good = said.document["points"]
    assert (failed["status"], failed["why"]) == (
        "failed",
        "wrong: rank 0: self.fail was asked for a wrong answer",
    )
    assert (good["status"], good["verified"]) == ("ok", True)


def test_nothing_measured_is_no_success(steelyard: Steelyard, tmp_path: Path) -> None:
    command = ("run", "self.fail", *FIXED, "--param", "kind=5", "--json", "--out")
    said = steelyard(*command, tmp_path / "o")
    assert [row["status"] for row in said.document["points"]] == ["skipped"]
    assert said.code == 3
    assert "nothing was measured; the lines above say why" in said.err


def test_a_plan_from_a_file_and_changes_to_it(steelyard: Steelyard, tmp_path: Path) -> None:
    plan = tmp_path / "mine.toml"
    plan.write_text(
        "launches = 7\n[[measure]]\nops = ['self.empty']\nrule = 'fixed'\nparams = { count = 2 }\n"
    )
    said = steelyard("run", plan, "--launches", "2", "--out", tmp_path / "o", "--json")
    (row,) = said.document["points"]
    assert (said.code, row["launch_count"], row["count"]) == (0, 2, 4)


def test_without_out_a_folder_below_results_is_made(
    steelyard: Steelyard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = steelyard("run", "self.empty", *FIXED, "--json")
    (folder,) = (tmp_path / "results").iterdir()
    assert said.document["out"] == f"results/{folder.name}"


_ROW_KEYS = {
    *("op", "method", "bytes", "ranks", "threads", "placement", "mpi", "launch_count", "count", "rejected"),
    *("unit", "median", "ci_low", "ci_high", "ci_level", "min", "p90", "p99", "max", "bandwidth", "flag"),
    *("clock_error_ns", "clock_bound_ns", "skew_ns", "slowest_rank", "verified", "status", "why"),
}


def test_how_clocks_are_synchronised_reaches_the_engine(steelyard: Steelyard, tmp_path: Path) -> None:
    out, how = tmp_path / "out", ("--sync", "hca3", "--paths", "asymmetric")
    assert steelyard("run", "self.empty", *FIXED, "--out", out, *how).code == 0
    (path,) = (out / "records").glob("*.jsonl")
    command = json.loads(path.read_text().splitlines()[0])["command"]
    assert command[command.index("--sync") :][:4] == list(how)


def test_show(steelyard: Steelyard, mine: Path) -> None:
    table = steelyard("show", mine)
    assert table.code == 0
    assert "warning" not in table.out  # what is doubtful is no part of the answer
    assert "± says nothing about further launches" in " ".join(table.out.replace("#", "").split())
    assert "self.empty" in table.out
    (row,) = steelyard("show", mine, "--json").document["points"]
    assert row.keys() >= _ROW_KEYS
    (flat,) = csv.DictReader(io.StringIO(steelyard("show", mine, "--csv").out))
    assert flat.keys() >= _ROW_KEYS
    assert (flat["op"], flat["status"], float(flat["median"])) == ("self.empty", "ok", row["median"])


def test_several_folders_are_one_document(steelyard: Steelyard, mine: Path, tmp_path: Path) -> None:
    other = shutil.copytree(mine, tmp_path / "other")
    assert len(steelyard("show", mine, other, "--json").document) == 2
    lines = list(csv.DictReader(io.StringIO(steelyard("show", mine, other, "--csv").out)))
    assert [line["folder"] for line in lines] == [str(mine), str(other)]
    said = steelyard("export", mine, "--to", "csv", "--out", tmp_path / "rows.csv")
    assert (said.code, said.out, said.err) == (0, "", "")
    assert (tmp_path / "rows.csv").read_text() == steelyard("show", mine, "--csv").out


def test_plot(steelyard: Steelyard, mine: Path, tmp_path: Path) -> None:
    said = steelyard("plot", mine)
    assert (said.code, said.out) == (0, f"{mine / 'figure-self.empty-time.svg'}\n")
    assert (mine / "figure-self.empty-time.svg").read_text().startswith("<?xml")
    assert steelyard("plot", mine, "--out", tmp_path / "one.svg").out == f"{tmp_path / 'one.svg'}\n"


def test_the_file_that_is_named_is_written_however_many_figures_there_are(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    fakes = [
        FakePoint("mpi.pingpong", steady(1e3 + size), bytes=size, mpi=mpi)
        for size in (8, 64)
        for mpi in ("openmpi-4.1.4", "mpich-4.0.2")
    ]
    write_folder(tmp_path / "two", fakes, launches=6)
    said = steelyard("plot", tmp_path / "two", "--out", tmp_path / "latency.svg")
    names = ("latency.svg", "latency-mpi.pingpong-ratio.svg")
    assert said.out.splitlines() == [str(tmp_path / name) for name in names]
    assert all((tmp_path / name).is_file() for name in names)


def test_run_to_a_format_prints_nothing_else(steelyard: Steelyard, tmp_path: Path) -> None:
    said = steelyard("run", "self.empty", *FIXED, "--out", tmp_path / "o", "--to", "csv")
    assert said.out == (tmp_path / "o" / "results.csv").read_text()
    assert "results: " in said.err


def test_report(steelyard: Steelyard, mine: Path, tmp_path: Path) -> None:
    said = steelyard("report", mine, "-o", tmp_path / "r.html")
    assert (said.code, said.err, said.out) == (0, "", f"{tmp_path / 'r.html'}\n")
    assert "self.empty" in (tmp_path / "r.html").read_text()
    assert steelyard("report", mine).out == f"{mine / 'report.html'}\n"


@pytest.mark.parametrize("command", commands())
def test_help_is_for_people(steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """It has no types of Python, fits 80 columns, and no line's end divides a name."""
    monkeypatch.setenv("COLUMNS", "80")
    said = steelyard(*command.split(), "--help")
    assert (said.code, said.err) == (0, "")
    assert not re.search(r"<\w|\[x>|\[required", said.out)
    for line in said.out.splitlines():
        assert len(line) <= 80
        assert not re.search(r"\w-$", line)


@pytest.mark.parametrize(
    ("words", "here"),
    [
        ("--like osu_latency -m 1:1024", "type: steelyard run --like osu_latency --bytes 1..1024"),
        ("mpi.bcast -np 4", "there is no -np here: the number of ranks is -n 4, or several: -n 2,4"),
        ("mpi.bcast --batch slurm --account -x", "--account '-x' is no name; give letters"),
        ("mpi.bcast --partition b -m 8", "there is no -m here: sizes are"),
        ("mpi.bcast --json -x 8", "there is no -x here: warm-up ends"),
        ("mpi.bcast --sizes 8 --nprocs 2", "there is no --sizes and no --nprocs here: sizes are --bytes "),
        (
            "mpi.bcast --runs 3",
            "there is no --runs here: each start of the program is a launch: --launches",
        ),
        ("mpi.bcast -o x", "there is no -o here: the results folder is --out DIR"),
        ("--like osu_latency -x 100 -i 1000", "for -x, warm-up ends when samples no longer become faster;"),
        ("mpi.bcast --env -x", "--env -x is no"),
        ("-- -x", "there is no op '-x'"),
        (
            "--like osu_bw --bytes 1:2Ki",
            "'1:2Ki' is not a size; write bytes as 8, 1Ki, 4Mi or 2kB, a range as 1..2Ki",
        ),
    ],
)
def test_options_of_other_suites_are_answered(steelyard: Steelyard, words: str, here: str) -> None:
    said = steelyard("run", *words.split())
    assert (said.code, said.out) == (2, "")
    assert here in said.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            "osu_latency -m 1:64",
            "'osu_latency' is a test of another suite; type: steelyard run --like osu_latency",
        ),
        ("pingpong", "'PingPong' is a test of another suite; type: steelyard run --like PingPong"),
        ("mpi.bcast -n 2", "'mpi.bcast' is no command; type: steelyard run mpi.bcast -n 2"),
        ("quick", "'quick' is no command; type: steelyard run quick"),
        ("measure mpi.bcast -n 2", "'measure' is no command; type: steelyard run mpi.bcast -n 2"),
        ("help", "'help' is no command; type: steelyard -h"),
        ("help run", "'help' is no command; type: steelyard run -h"),
        ("run help", "there is no op 'help'; type: steelyard run -h"),
        (
            "run quick.toml -n 2",
            "there is no file quick.toml; a plan of that name ships: write quick in its place",
        ),
        ("run openmpi", "'openmpi' is an MPI and no op; type: steelyard run quick --mpi openmpi"),
        ("run MPI_Allreduce", "there is no op 'MPI_Allreduce'; type: steelyard run mpi.allreduce, or for"),
        (
            "run osu_latency",
            "'osu_latency' is a test of another suite and no op; type: steelyard run --like osu_latency",
        ),
        (
            "run allreduce",
            "there is no op 'allreduce'; type: steelyard run mpi.allreduce, or for another suite",
        ),
        ("run triad", "there is no op 'triad'; did you mean 'mem.stream.triad'?"),
        ("run stream", "'stream' is a suite whose programs are ops here; type: steelyard run 'mem.*'"),
        ("run IMB-MPI1", "'IMB-MPI1' is a suite of "),
        ("run --like IMB-MPI1 PingPong", "type: steelyard run --like PingPong"),
        ("run --like osu_bw osu_bibw", "type: steelyard run --like osu_bw --like osu_bibw"),
        ("run --like osu_bw mpi.bcast", "--like names what is run; leave mpi.bcast out"),
    ],
)
def test_what_is_typed_at_a_first_try_is_answered_by_what_to_type(
    steelyard: Steelyard, words: str, told: str
) -> None:
    said = steelyard(*words.split())
    assert (said.code, said.out) == (2, "")
    assert told in said.err.replace("\n  ", " ")


def test_show_has_what_another_suite_would_print(steelyard: Steelyard, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "o", [FakePoint("mpi.pingpong", steady(500.0), bytes=8)])
    said = steelyard("show", folder, "--like", "osu_latency")
    assert said.code == 0
    assert "osu_latency, as it would print it" in said.out
    assert re.search(r"^ +8 +0\.[45]\d\b", said.out, re.MULTILINE)
    assert "no row is of osu_bw" in steelyard("show", folder, "--like", "osu_bw").err
    assert steelyard("show", folder, "--like", "nothing").code == 2


def test_doctor(steelyard: Steelyard) -> None:
    document = steelyard("doctor", "--json").document
    assert document["machine"]["cores"] == [list(core) for core in read_machine().cores]
    assert document["clock"].keys() >= {"name", "cost_ns", "tick_ns"}
    assert document["clock"] in document["clocks"]
    assert all(clock.keys() >= {"name", "available", "why_not", "sound"} for clock in document["clocks"])
    assert [mpi["name"] for mpi in document["mpis"]] == [mpi.name for mpi in find_mpis()]
    assert all(mpi.keys() >= {"name", "version", "mpicc", "mpiexec"} for mpi in document["mpis"])
    keys = {"name", "severity", "what", "evidence", "why", "remedy", "cause"}
    assert all(one.keys() == keys for one in document["doubts"])
    said = steelyard("doctor")
    assert (said.code, said.err) == (0, "")
    assert {line.split()[0] for line in said.out.splitlines() if line} >= {
        "host",
        "cpu",
        "caches",
        "memory",
        "clock",
    }
    words = " ".join(said.out.split())  # paragraphs are wrapped
    for one in document["doubts"]:
        changes = one["name"] in ("processes", "not-isolated", "autogroup")  # with what runs just now
        assert changes or f"{one['severity']}: {one['what']}. {one['evidence']} {one['remedy']}" in words


def test_mpi_list(steelyard: Steelyard) -> None:
    said = steelyard("mpi", "list", "--json")
    there = (*find_mpis(), *find_shmems())
    assert [mpi["name"] for mpi in said.document["mpis"]] == [mpi.name for mpi in there]
    lines = steelyard("mpi", "list").out.splitlines()
    assert len(lines) == max(1, len(there))
    assert all(mpi.mpiexec in line for mpi, line in zip(there, lines, strict=False))


def test_mpi_list_without_any(steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi_module, "find_mpis", lambda: ())
    monkeypatch.setattr(mpi_module, "find_shmems", lambda: ())
    assert steelyard("mpi", "list", "--json").document == {"mpis": []}
    said = steelyard("mpi", "list")
    assert (said.code, said.out) == (
        0,
        f"none; type: {installing('mpi')}, or load your system's MPI module\n",
    )


def test_mpi_build_prints_where_the_engine_is(steelyard: Steelyard) -> None:
    if not find_mpis():
        pytest.skip("no MPI was found")
    said = steelyard("mpi", "build")
    assert (said.code, said.out.count("\n")) == (0, 1)
    assert Path(said.out.strip()).name == "steelyard-mpi"
    assert Path(said.out.strip()).is_file()


def test_two_builds_of_one_version_are_two_mpis(monkeypatch: pytest.MonkeyPatch) -> None:
    """To compare an MPI with the same version of it, built otherwise, is what many come for."""

    def choose(prefix: str | None, _tell: object) -> Mpi:
        return Mpi("mpich-5.0.2", "mpich", "5.0.2", None, f"{prefix}/bin/mpiexec", prefix, True, "given")

    monkeypatch.setattr(jobs, "choose_mpi", choose)
    monkeypatch.setattr(jobs, "mpi_engine", lambda mpi, tell: Engine(solo_engine().path, "mpi", mpi))
    plan = Plan(measure=(Measure(ops=("self.empty",)),), mpi=("/a", "/b", "/a"))
    engines = jobs.setup_for(plan, read_machine()).engines
    assert [name for name in engines if name] == ["mpich-5.0.2@/a", "mpich-5.0.2@/b"]


def test_version(steelyard: Steelyard) -> None:
    assert steelyard("--version") == Said(0, f"steelyard {__version__}\n", "")
