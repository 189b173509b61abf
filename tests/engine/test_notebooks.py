"""The notebooks of the documentation, executed from their tops in an empty folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from further import further
from pages import ROOT
from steelyard.engines.mpi import find_mpis

_FOLDER = ROOT / "docs" / "notebooks"
_EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(notebook, timeout=600).execute()
nbformat.write(notebook, "executed.ipynb")
"""
# Notebook -> the families of MPIs that it needs, and words of its output.
_NOTEBOOKS = {
    "first_look": ((), ("<table>", "measured: pthread.create", "self.spin", "6)")),
    "two_mpis": (("openmpi", "mpich"), ("<table>", "against", "time_low_ns")),
    "model_from_samples": (("",), ("ns/byte", "value_ns")),
}


def test_each_notebook_is_executed() -> None:
    if not _FOLDER.is_dir():
        pytest.skip("no docs beside this package")
    assert {path.stem for path in _FOLDER.glob("*.ipynb")} == _NOTEBOOKS.keys()


def test_no_output_is_kept_in_a_notebook() -> None:
    for path in _FOLDER.glob("*.ipynb"):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells), path


@pytest.mark.parametrize("name", ["first_look", further("two_mpis"), further("model_from_samples")])
def test_a_notebook_runs_from_its_top(name: str, tmp_path: Path) -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    families, words = _NOTEBOOKS[name]
    known = [mpi.family for mpi in find_mpis()]
    if lacking := [family for family in families if not any(family in one for one in known)]:
        pytest.skip(f"no {lacking[0] or 'MPI'} is here")
    path = _FOLDER / f"{name}.ipynb"
    argv = [sys.executable, "-c", _EXECUTE, str(path)]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    cells = json.loads((tmp_path / "executed.ipynb").read_text(encoding="utf-8"))["cells"]
    said = "".join(_texts([cell.get("outputs", []) for cell in cells]))
    for word in words:
        assert word in said


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    return [text for one in value for text in _texts(one)] if isinstance(value, list) else [str(value)]
