"""The command line as its users meet it: commands, exit codes, what stands on stdout and on stderr."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import steelyard.cli as module
from conftest import script
from steelyard import __version__
from steelyard.cli import main
from steelyard.engine import Engine, solo_engine
from steelyard.errors import InputError
from steelyard.machine import read_machine
from steelyard.mpi import Mpi, find_mpis
from steelyard.plan import Measure, Plan

_FIXED = ("--rule", "fixed", "--param", "count=2", "--launches", "1")


@dataclass(frozen=True, slots=True)
class Said:
    """What a command said, and its exit code."""

    code: object
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Stdout, which is one JSON document and nothing else."""
        return json.loads(self.out)


Steelyard = Callable[..., Said]


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    """Run a command line in this process."""

    def call(*words: str | Path) -> Said:
        monkeypatch.setattr(sys, "argv", ["steelyard", *map(str, words)])
        with pytest.raises(SystemExit) as raised:
            main()
        return Said(raised.value.code or 0, *capsys.readouterr())

    return call


def _bytes(folder: Path) -> dict[str, bytes | None]:
    """Every file and folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


# ---- bad input ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one may stumble over: a file, other files, results of another plan or version, broken plans."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "a-file").write_text("precious")
    script(folder / "foreign" / "notes.txt", "precious")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["steelyard", "run", "self.empty", *_FIXED, "--out", str(folder / "mine")])
        with pytest.raises(SystemExit):
            main()
    for name in ("old", "old-records"):
        for path in (folder / "mine" / "campaign.json", *(folder / "mine" / "records").iterdir()):
            copy = folder / name / path.relative_to(folder / "mine")
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    campaign = folder / "old" / "campaign.json"
    campaign.write_text(json.dumps(json.loads(campaign.read_text()) | {"schema": 2}))
    (records,) = (folder / "old-records" / "records").iterdir()
    records.write_bytes(records.read_bytes().replace(b'"schema":1', b'"schema":2'))
    (folder / "top.toml").write_text("launchs = 2\n[[measure]]\nops = ['self.empty']\n")
    (folder / "inner.toml").write_text("[[measure]]\nopps = ['self.empty']\n")
    (folder / "broken.toml").write_text("launches =\n")
    return folder


_TOO_MANY = str(len(read_machine().cores) + 1)
# Command, and what its one sentence on stderr says: what, where, what to do.
_BAD: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("run self.emty", ("no op 'self.emty'", "did you mean 'self.empty'?", "'steelyard list'")),
    ("run omp.barrier --threads many", ("'many' is no number of threads", "write")),
    (f"run omp.barrier --threads {_TOO_MANY}", ("threads are more than the", "add --oversubscribe")),
    ("run self.empty --bytes 8", ("self.empty has no size", "leave --bytes away")),
    ("run self.empty --out a-file", ("'a-file' is a file", "give --out a name that is free")),
    ("run self.empty --out a-file/x", ("'a-file/x' cannot be written", "give --out another place")),
    ("run self.empty --out foreign", ("'foreign' holds other files", "give --out a name that is free")),
    (
        "run self.empty --out old",
        ("old/campaign.json is of format 2, not 1", "use the steelyard that wrote it"),
    ),
    ("run self.clock --out mine", ("'mine' holds another campaign", "give --out another name")),
    ("run self.empty --out mine --yield none", ("'mine' holds another campaign", "never overwritten")),
    ("run top.toml", ("top.toml: it has no key 'launchs'", "did you mean 'launches'?")),
    ("run inner.toml", ("inner.toml: a [[measure]] has no key 'opps'", "did you mean 'ops'?")),
    ("run broken.toml", ("broken.toml is no TOML", "line 1")),
    ("run none.toml", ("no plan none.toml", "'steelyard list' names")),
    ("run quick --bytes 8 --param a=1", ("--bytes and --param cannot be given with a plan", "quick.toml")),
    ("run quick self.empty", ("self.empty cannot be given with a plan",)),
    ("run self.empty --param window", ("--param window is not of the form name=number",)),
    ("run self.spin --param ms=1", ("parameter 'ms'", "did you mean 'ns'?")),
    ("run self.spin --param ns=1", ("ns of self.spin must be from 200 to", "not 1")),
    ("run self.empty --method bath", ("no method 'bath'", "did you mean 'batch'?")),
    ("run self.empty --rule medium", ("no stop rule 'medium'", "did you mean 'median'?")),
    ("run self.empty --clock sundial", ("no clock 'sundial'", "give one of monotonic")),
    ("run self.empty --yield maybe", ("--yield is 'real' or 'none'",)),
    ("run self.empty --hang-after soon", ("'soon' is not a duration", "write 90s")),
    ("run self.empty --time-budget soon", ("'soon' is not a duration", "write 90s")),
    ("run self.empty --mpi no/such", ("'no/such' does not exist", "give the prefix of an MPI")),
    ("run self.empty --mpi zzz", ("no MPI is named 'zzz'", "Or give a path")),
    ("run self.empty --mpi ./a-file", ("a-file' is no mpiexec",)),
    ("show nowhere", ("no results folder 'nowhere'", "give one that 'steelyard run' wrote")),
    ("show foreign", ("foreign holds no records", "give a folder that steelyard run wrote")),
    ("show old-records", ("is of records format 2", "use the version of steelyard that wrote it")),
    ("report nowhere", ("no results folder 'nowhere'", "give one")),
    ("report mine -o foreign", ("foreign is a folder", "give the name of a file")),
    ("report mine -o no/where.html", ("'no/where.html' cannot be written", "give -o another place")),
    ("mpi build zzz", ("no MPI is named 'zzz'", "Or give a path")),
)
_BAD_WITH_MPI: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("run mpi.pingpon -n 2", ("no op 'mpi.pingpon'", "did you mean 'mpi.pingpong'?", "'steelyard list'")),
    ("run zzz*", ("no op 'zzz*'; 'steelyard list' names all",)),
    ("run mpi.pingpong -n 2 --bytes 8q", ("'8q' is not a size", "write bytes as 8, 1Ki")),
    ("run mpi.pingpong -n 2 --bytes 8..4", ("'8..4' runs downwards", "write the smaller size first")),
    ("run mpi.pingpong -n 1", ("mpi.pingpong needs 2 ranks, not 1", "give -n 2")),
    ("run mpi.barrier -n none", ("'none' is no number of ranks", "write whole numbers")),
    (
        f"run mpi.barrier -n {_TOO_MANY}",
        (f"{_TOO_MANY} ranks are more than the", "ask for fewer, or add --oversub"),
    ),
    ("run mpi.barrier --threads 2", ("mpi.barrier runs in one thread", "leave --threads away")),
)


def _refused(steelyard: Steelyard, place: Path, command: Sequence[str], words: tuple[str, ...]) -> None:
    before = _bytes(place)
    said = steelyard(*command)
    assert said.code == 2
    assert said.out == ""
    assert said.err.startswith("steelyard: ")
    assert said.err.count("\n") == 1
    assert [word for word in words if word not in said.err] == []
    assert _bytes(place) == before


@pytest.mark.parametrize(("command", "words"), _BAD, ids=[command for command, _ in _BAD])
def test_bad_input(
    steelyard: Steelyard, place: Path, monkeypatch: pytest.MonkeyPatch, command: str, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(place)
    _refused(steelyard, place, command.split(), words)


@pytest.mark.parametrize(("command", "words"), _BAD_WITH_MPI, ids=[command for command, _ in _BAD_WITH_MPI])
def test_bad_input_for_an_mpi(
    steelyard: Steelyard, place: Path, monkeypatch: pytest.MonkeyPatch, command: str, words: tuple[str, ...]
) -> None:
    if not find_mpis():
        pytest.skip("no MPI was found")
    monkeypatch.chdir(place)
    _refused(steelyard, place, command.split(), words)


def test_results_with_records_of_another_version_are_left_alone(
    steelyard: Steelyard, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    before = _bytes(place)
    said = steelyard("run", "self.empty", *_FIXED, "--out", "old-records")
    assert said.code == 2
    assert "is of records format 2" in said.err
    after = _bytes(place)
    assert {name: after[name] for name in before} == before
    (place / "old-records" / ".lock").unlink(missing_ok=True)


@pytest.mark.parametrize(
    "command", ["run", "run self.empty --launches 0", "run self.empty --nope", "weigh", "show"]
)
def test_usage(steelyard: Steelyard, command: str) -> None:
    said = steelyard(*command.split())
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Usage: steelyard ")


def test_a_missing_compiler(
    steelyard: Steelyard, own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpi = next((found for found in find_mpis() if found.mpicc is not None and not found.abi), None)
    if mpi is None or mpi.mpicc is None:
        pytest.skip("there is no MPI for which an engine is built on demand")
    solo = solo_engine()
    monkeypatch.setattr(module, "solo_engine", lambda: solo)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CC", raising=False)
    _refused(
        steelyard,
        tmp_path,
        [
            "run",
            "mpi.barrier",
            "-n",
            "2",
            "--oversubscribe",
            "--mpi",
            mpi.mpicc,
            "--out",
            str(tmp_path / "out"),
        ],
        ("compiler", "install gcc"),
    )


# ---- what the commands say ---------------------------------------------------------------------------------


def test_run_measures_resumes_and_ends_with_where_the_results_are(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = ("run", "self.empty", "self.clock", *_FIXED, "--param", "count=2", "--out", out)
    said = steelyard(*command)
    assert said.code == 0
    assert "launch 1 of 1: l01-solo-n1, 2 points" in said.err
    assert "self.clock" in said.out
    assert f"results: {out}" in said.out
    assert f"report:  {out / 'report.html'}" in said.out
    assert {path.name for path in out.iterdir()} >= {
        "campaign.json", "records", "results.json", "results.csv", "report.html",
    }  # fmt: skip
    before = {name: data for name, data in _bytes(out).items() if name.startswith(("records/", "campaign"))}
    again = steelyard(*command)
    assert again.code == 0
    assert "launch 1" not in again.err
    assert {
        name: data for name, data in _bytes(out).items() if name in before or name.startswith("records/")
    } == before


def test_json_is_one_document_and_progress_goes_to_stderr(steelyard: Steelyard, tmp_path: Path) -> None:
    said = steelyard(
        "run",
        "self.empty",
        "self.spin",
        *_FIXED,
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
        "run", "self.fail", "self.empty", *_FIXED, "--param", "kind=3", "--out", tmp_path / "o", "--json"
    )
    assert said.code == 3
    failed, good = said.document["points"]
    assert (failed["status"], failed["why"]) == (
        "failed",
        "wrong: rank 0: self.fail was asked for a wrong answer",
    )
    assert (good["status"], good["verified"]) == ("ok", True)


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
    said = steelyard("run", "self.empty", *_FIXED, "--json")
    (folder,) = (tmp_path / "results").iterdir()
    assert said.document["out"] == f"results/{folder.name}"


_ROW_KEYS = {
    *("op", "method", "bytes", "ranks", "threads", "placement", "mpi", "launch_count", "count", "rejected"),
    *("unit", "median", "ci_low", "ci_high", "ci_level", "min", "p90", "p99", "max", "bandwidth", "flag"),
    *("clock_error_ns", "skew_ns", "slowest_rank", "verified", "status", "why"),
}


def test_show(steelyard: Steelyard, place: Path) -> None:
    table = steelyard("show", place / "mine")
    assert (table.code, table.err) == (0, "")
    assert "self.empty" in table.out
    (row,) = steelyard("show", place / "mine", "--json").document["points"]
    assert row.keys() >= _ROW_KEYS
    (flat,) = csv.DictReader(io.StringIO(steelyard("show", place / "mine", "--csv").out))
    assert flat.keys() >= _ROW_KEYS
    assert (flat["op"], flat["status"], float(flat["median"])) == ("self.empty", "ok", row["median"])


def test_report(steelyard: Steelyard, place: Path, tmp_path: Path) -> None:
    said = steelyard("report", place / "mine", "-o", tmp_path / "r.html")
    assert (said.code, said.err, said.out) == (0, "", f"{tmp_path / 'r.html'}\n")
    assert "self.empty" in (tmp_path / "r.html").read_text()
    assert steelyard("report", place / "mine").out == f"{place / 'mine' / 'report.html'}\n"


def test_list(steelyard: Steelyard) -> None:
    document = steelyard("list", "--json").document
    names = {op["name"] for op in document["ops"]}
    assert names >= {"self.empty", "self.clock", "self.spin", "pthread.mutex", "omp.barrier"}
    assert all(op.keys() >= {"name", "family", "summary", "available", "why_not"} for op in document["ops"])
    assert all(op["available"] == (op["why_not"] is None) for op in document["ops"])
    assert {method["name"] for method in document["methods"]} >= {"batch", "barrier"}
    assert {rule["name"] for rule in document["stop_rules"]} >= {"median", "fixed"}
    assert "quick" in {plan["name"] for plan in document["plans"]}
    said = steelyard("list")
    assert said.code == 0
    listed = {words[0] for words in map(str.split, said.out.splitlines()) if words}
    assert listed >= names | {"batch", "median", "quick"}
    if find_mpis():
        assert names >= {"mpi.pingpong", "mpi.iallreduce", "mpi.bcast_init"}
        assert said.err == ""


def test_list_without_an_mpi_says_so(steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(choice: str | None) -> None:
        raise InputError("no MPI was found; pip install one")

    monkeypatch.setattr(module, "choose_mpi", none)
    said = steelyard("list")
    assert said.code == 0
    assert "self.empty" in said.out
    assert "mpi." not in said.out
    assert said.err == "no mpi.* ops: no MPI was found; pip install one\n"


def test_doctor(steelyard: Steelyard) -> None:
    document = steelyard("doctor", "--json").document
    assert document["machine"]["cores"] == [list(core) for core in read_machine().cores]
    assert document["clock"].keys() >= {"name", "cost_ns", "tick_ns"}
    assert [mpi["name"] for mpi in document["mpis"]] == [mpi.name for mpi in find_mpis()]
    assert all(mpi.keys() >= {"name", "version", "mpicc", "mpiexec"} for mpi in document["mpis"])
    assert all(doubt.keys() >= {"what", "evidence", "remedy", "severity"} for doubt in document["doubts"])
    said = steelyard("doctor")
    assert (said.code, said.err) == (0, "")
    assert {line.split()[0] for line in said.out.splitlines() if line} >= {
        "host",
        "cpu",
        "caches",
        "memory",
        "clock",
    }
    for doubt in document["doubts"]:
        changes = doubt["what"] in ("other work on this machine", "a coarse clock")
        assert changes or doubt["remedy"] in said.out


def test_mpi_list(steelyard: Steelyard) -> None:
    said = steelyard("mpi", "list", "--json")
    assert [mpi["name"] for mpi in said.document["mpis"]] == [mpi.name for mpi in find_mpis()]
    lines = steelyard("mpi", "list").out.splitlines()
    assert len(lines) == max(1, len(find_mpis()))
    assert all(mpi.mpiexec in line for mpi, line in zip(find_mpis(), lines, strict=False))


def test_mpi_list_without_any(steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_mpis", lambda: ())
    assert steelyard("mpi", "list", "--json").document == {"mpis": []}
    said = steelyard("mpi", "list")
    assert (said.code, said.out) == (
        0,
        "none; pip install 'steelyard[mpi]', or load your system's MPI module\n",
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

    def choose(prefix: str | None) -> Mpi:
        return Mpi("mpich-5.0.2", "mpich", "5.0.2", None, f"{prefix}/bin/mpiexec", prefix, True, "given")

    monkeypatch.setattr(module, "choose_mpi", choose)
    monkeypatch.setattr(module, "mpi_engine", lambda mpi: Engine(solo_engine().path, "mpi", mpi))
    plan = Plan(measure=(Measure(ops=("self.empty",)),), mpi=("/a", "/b", "/a"))
    engines, _ = module._engines(plan)
    assert [name for name in engines if name] == ["mpich-5.0.2", "mpich-5.0.2@/b"]


def test_version(steelyard: Steelyard) -> None:
    assert steelyard("--version") == Said(0, f"steelyard {__version__}\n", "")
