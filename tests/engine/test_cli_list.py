"""`steelyard list`: what can be measured, in which MPI, and with which parameters."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import steelyard.cli.list as list_module
from commands import Steelyard, steelyard_of
from steelyard.base.errors import InputError
from steelyard.cli.families import FAMILIES, LAST
from steelyard.engines import build
from steelyard.engines.mpi import find_mpis


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    return steelyard_of(capsys, monkeypatch)


def test_list(steelyard: Steelyard) -> None:
    document = steelyard("list", "--json").document
    names = {op["name"] for op in document["ops"]}
    assert names >= {"self.empty", "self.clock", "self.spin", "pthread.mutex", "omp.barrier"}
    assert all(op.keys() >= {"name", "family", "summary", "available", "why_not"} for op in document["ops"])
    assert all(op["available"] == (op["why_not"] is None) for op in document["ops"])
    assert {method["name"] for method in document["methods"]} >= {"batch", "barrier"}
    assert {rule["name"] for rule in document["stop_rules"]} >= {"median", "fixed"}
    assert document["sync_algorithms"][0]["name"] == "tree"
    assert "quick" in {plan["name"] for plan in document["plans"]}
    said = steelyard("list")
    assert said.code == 0
    listed = [words[0] for words in map(str.split, said.out.splitlines()) if words]
    assert set(listed) >= {"self.", "pthread.", "omp.", "batch", "median", "quick"}
    assert said.out.splitlines().index("plans") < 32  # the index is a screen, the instrument its last line
    assert listed.index("omp.") < listed.index("self.") < listed.index("quick")
    every = steelyard("list", "*").out.split()
    assert set(every) >= {"self.empty", "self.clock", "pthread.mutex", "omp.barrier", "batch", "median"}
    if find_mpis():
        assert names >= {"mpi.pingpong", "mpi.iallreduce", "mpi.bcast_init"}
        assert said.err == ""


@pytest.mark.skipif(not any(mpi.abi for mpi in find_mpis()), reason="no MPI whose engine was made beforehand")
def test_what_can_be_measured_is_listed_without_a_compiler(
    steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One engine that is there is asked, whatever MPI comes first; a named MPI is asked itself."""

    def never(*_: object) -> None:
        raise AssertionError("an engine is built")

    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path))
    monkeypatch.setattr(build, "build_engine", never)
    said = steelyard("list", "mpi.pingpong")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("mpi.pingpong: ")


def test_list_without_an_mpi_says_so(steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(choice: str | None, tell: object) -> None:
        raise InputError("no MPI was found; pip install one")

    monkeypatch.setattr(list_module, "choose_mpi", none)
    said = steelyard("list")
    assert said.code == 0
    assert "self." in said.out
    assert "mpi." not in said.out
    assert said.err == "no mpi.* ops: no MPI was found; pip install one\n"


def test_each_family_of_the_index_is_what_list_takes(steelyard: Steelyard) -> None:
    document = steelyard("list", "--json").document
    families = {op["family"] for op in document["ops"]}
    assert families <= {family.name for family in (*FAMILIES, LAST)}
    for family in (*FAMILIES, LAST):
        own = {op["name"] for op in document["ops"] if op["family"] == family.name}
        asked = steelyard("list", family.word, "--json").document if own else {"ops": []}
        assert own <= {op["name"] for op in asked["ops"]}, family


def test_the_tests_of_other_suites_are_listed(steelyard: Steelyard) -> None:
    said = steelyard("list", "osu_*")
    lines = dict(re.findall(r"^  (\S+) +(\S+)", said.out, re.MULTILINE))
    assert said.code == 0
    assert (lines["osu_latency"], lines["osu_bw"]) == ("mpi.pingpong", "mpi.bandwidth")
    assert "PingPong" not in said.out


@pytest.mark.parametrize("program", ["IMB-MPI1", "imb-mpi1"])
def test_a_program_of_another_suite_lists_its_tests(steelyard: Steelyard, program: str) -> None:
    said = steelyard("list", program)
    lines = dict(re.findall(r"^  (\S+) +(\S+)", said.out, re.MULTILINE))
    assert (said.code, lines["PingPong"], lines["Allreduce"]) == (0, "mpi.pingpong", "mpi.allreduce")
    assert "osu_latency" not in lines


def test_a_plan_says_what_it_measures_and_where_its_file_is(steelyard: Steelyard) -> None:
    said = steelyard("list", "quick")
    rows = {line.split()[0]: line.split()[1:] for line in said.out.splitlines()[1:]}
    assert rows["run"] == ["steelyard", "run", "quick"]
    assert {"mpi.pingpong,", "self.empty,"} <= set(rows["ops"])
    assert Path(rows["file"][0].rstrip(",")).is_file()


def test_list_takes_a_part_of_names_and_says_the_forms_of_an_op_in_one_line(
    steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # a pipe, whose lines are not folded
    if not find_mpis():
        pytest.skip("no MPI was found")
    lines = steelyard("list", "allreduce").out.splitlines()
    (line,) = [line for line in lines if line.startswith("  mpi.allreduce ")]
    assert "the sum over all ranks at every rank" in line
    assert "iallreduce" in line
    assert "allreduce_init" in line
    assert not [line for line in lines if "mpi.bcast" in line or "methods" in line]


def test_list_of_one_op_says_all_that_it_takes(steelyard: Steelyard) -> None:
    if not find_mpis():
        pytest.skip("no MPI was found")
    said = steelyard("list", "mpi.reduce").out
    for words in (
        *("osu_reduce", "Reduce", "MPI_Reduce", "root=0", "operator=sum", "sum, prod", "epoch (default)"),
        *("8..1Mi", "docs/reference/ops.md#coll", "mpi.ireduce (nonblocking)"),
    ):
        assert words in said
    assert "[0 to 1000000]" in said
    theirs = steelyard("list", "osu_reduce").out
    assert theirs.endswith("\n" + said)
    here = " ".join(theirs.removesuffix(said).split())
    assert here.startswith("osu_reduce: mpi.reduce type=int8")
    assert here.endswith("; to run it: steelyard run --like osu_reduce")


def test_list_gives_a_name_wider_than_its_column_a_line_of_its_own(
    steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    if not find_mpis():
        pytest.skip("no MPI was found")
    lines = steelyard("list", "mpi.mock.*").out.splitlines()
    assert "  mpi.mock.allreduce_by_reduce_bcast" in lines
    starts = {len(line) - len(line.lstrip()) for line in lines if line.startswith("    ")}
    assert len(starts) == 1, starts


@pytest.mark.parametrize(
    ("title", "has"), [("methods", "epoch"), ("rules", "median"), ("plans", "quick"), ("ops", "mpi.bcast")]
)
def test_each_kind_of_thing_is_listed_by_its_title(steelyard: Steelyard, title: str, has: str) -> None:
    said = steelyard("list", title)
    assert re.search(rf"^  {re.escape(has)}\b", said.out, re.MULTILINE)
    assert said.code == 0


def test_list_of_a_method_says_its_parameters(steelyard: Steelyard) -> None:
    said = steelyard("list", "median").out
    assert said.startswith("median: ")
    assert "tolerance=0.02" in said
    assert "1e-6 to 10" in said
    assert "[128 to 1e8]" in said
    assert "batch:" not in said


def test_list_says_which_mpi_lacks_what(steelyard: Steelyard) -> None:
    names = {mpi.name: mpi.origin for mpi in find_mpis()}
    if "openmpi-4.1.4" not in names or "embedded" not in names.values():
        pytest.skip("there is no Open MPI 4.1.4 beside an embedded MPI")
    (embedded,) = [name for name, origin in names.items() if origin == "embedded"]
    both = steelyard("list", "mpi.allreduce_init", "--mpi", f"openmpi-4.1.4,{embedded}", "--json").document
    (row,) = both["ops"]
    assert (row["available"], row["available_with"]) == (False, [embedded])
    one = steelyard("list", "mpi.allreduce_init", "--mpi", embedded).out
    assert "MPI 4.0" not in one
    other = steelyard("list", "allreduce", "--mpi", "openmpi-4.1.4").out
    assert "allreduce_init*" in other
    assert "* not in openmpi-4.1.4: needs MPI 4.0" in other


def test_list_in_json_has_parameters(steelyard: Steelyard) -> None:
    (row,) = steelyard("list", "self.spin", "--json").document["ops"]
    (param,) = [param for param in row["params"] if param["name"] == "ns"]
    assert param["least"] == 200
