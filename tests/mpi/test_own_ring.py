"""An op of the user that calls MPI: measured, wrong, and refused by an engine of another MPI or of none."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from commands import FIXED, steelyard_of
from own_libraries import EXAMPLES, build_library
from points import measure
from steelyard.base.errors import InputError
from steelyard.engines.build import describe, mpi_engine, solo_engine
from steelyard.engines.description import load_words
from steelyard.engines.mpi import Mpi, choose_mpi
from steelyard.records.schema import End
from steelyard.system.process import run


def _ring(mpi: Mpi, folder: Path) -> Path:
    """The example, by the compiler of the library that the engine of this MPI uses."""
    if mpi.mpicc is None:
        pytest.skip(f"{mpi.name} has no mpicc")
    mpicc = shutil.which(f"{mpi.mpicc}_abi") if mpi.abi else mpi.mpicc
    if mpicc is None:
        pytest.skip(f"{mpi.name} has no mpicc_abi")
    return build_library(mpicc, EXAMPLES / "ring.c", folder / "libring.so")


def test_it_is_measured_by_what_is_typed(
    one_mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    _ring(one_mpi, tmp_path)
    axes = ("-n", "2,3", "--bytes", "0,5", "--oversubscribe", "--mpi", one_mpi.name)
    said = steelyard_of(capsys, monkeypatch)("run", "./libring.so", *axes, *FIXED, "--out", "out")
    assert said.code == 0, said.err
    rows = json.loads((tmp_path / "out" / "results.json").read_bytes())["points"]
    assert {(row["op"], row["ranks"], row["bytes"]) for row in rows} == {
        ("ring.pass", ranks, size) for ranks in (2, 3) for size in (0, 5)
    }
    assert all(row["status"] == "ok" and row["verified"] for row in rows)


def test_its_wrong_answer_is_found_on_each_rank(one_mpi: Mpi, tmp_path: Path) -> None:
    words = load_words((str(_ring(one_mpi, tmp_path)),))
    lines = ["op=ring.pass bytes=5", *(f"op=ring.pass bytes=5 plant={rank}" for rank in (0, 1))]
    records = measure(mpi_engine(one_mpi), 2, 1, lines, tmp_path / "r.jsonl", words=words)
    right, *wrong = (record for record in records if isinstance(record, End))
    assert (right.status, right.verified) == ("ok", True)
    assert all("byte 0 after step 2 is" in str(end.why) for end in wrong)
    assert [f"rank {rank}" in str(end.why) for rank, end in enumerate(wrong)] == [True, True]


def test_engines_of_another_mpi_and_of_none_refuse_it(one_mpi: Mpi, tmp_path: Path) -> None:
    """Else it would call one library with the handles of the other."""
    library = str(_ring(one_mpi, tmp_path))
    (none,) = describe(solo_engine(), libraries=(library,)).not_loaded
    assert none.why.endswith("and this engine has no MPI") or "cannot be loaded" in none.why
    try:
        other = choose_mpi("embedded")
    except InputError:
        other = one_mpi
    if other.abi == one_mpi.abi:
        pytest.skip("there is no second MPI")
    (refused,) = describe(mpi_engine(other), libraries=(library,)).not_loaded
    assert "is compiled for Open MPI, and this engine for the standard ABI of MPI; compile it" in refused.why


@pytest.mark.further
def test_the_example_with_mpi4py_sums_as_c_does(
    one_mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the Python of the compiler's headers finds mpi4py, such as by PYTHONPATH."""
    if run(["python3", "-c", "import mpi4py"], timeout=600).code != 0:
        pytest.skip("python3 has no mpi4py")
    if (config := shutil.which("python3-config")) is None or one_mpi.mpicc is None:
        pytest.skip("no python3-config or no mpicc: install python3-dev")
    words = run([config, "--includes", "--embed", "--ldflags"], timeout=600).out.split()
    build_library(one_mpi.mpicc, EXAMPLES / "mpi4py.c", tmp_path / "libmpi4py.so", *words)
    monkeypatch.chdir(tmp_path)
    axes = ("-n", "2", "--mpi", one_mpi.name)
    said = steelyard_of(capsys, monkeypatch)("run", "./libmpi4py.so", *axes, *FIXED, "--out", "out")
    assert said.code == 0, said.err
    rows = json.loads((tmp_path / "out" / "results.json").read_bytes())["points"]
    assert {row["op"] for row in rows} == {"python.allreduce", "python.allreduce_c"}
    assert all(row["status"] == "ok" and row["verified"] for row in rows)
