"""Environment Modules and a container as they are installed: what ranks have of them, and what records say.

Stand-ins for both, and what must never reach a shell, are in tests/unit/test_modules.py.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from commands import FIXED, Steelyard, steelyard_of
from steelyard.base.errors import InputError
from steelyard.engines.mpi import Mpi, choose_mpi
from steelyard.records.job_file import JobFile
from steelyard.records.read import read_folder
from steelyard.records.schema import Launch

_INIT = Path("/usr/share/modules/init/bash")
_INSIDE = "inside"  # the name of the host inside the container
_CONTAINER = f"bwrap --dev-bind / / --unshare-uts --hostname {_INSIDE}"


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    return steelyard_of(capsys, monkeypatch)


def _modulefile(folder: Path, name: str, *lines: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True)
    path.write_text("\n".join(("#%Module1.0", *lines, "")))


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mpi:
    """The MPI of this environment, which a module alone brings to PATH; another sets a variable of UCX."""
    if not _INIT.is_file():
        pytest.skip("there are no Environment Modules; apt-get install environment-modules brings them")
    try:
        mpi = choose_mpi("embedded")
    except InputError as error:
        pytest.skip(str(error))
    for name in ("BASH_FUNC_module%%", "MODULESHOME", "LMOD_PKG", "LOADEDMODULES", "_LMFILES_", "UCX_TLS"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "modulefiles"
    _modulefile(folder, "own/1", f"prepend-path PATH {Path(mpi.mpiexec).parent}")
    _modulefile(folder, "layer/2", "setenv UCX_TLS tcp,self")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("MODULEPATH", str(folder))
    return mpi


def _starts(folder: Path) -> list[tuple[JobFile, Launch]]:
    """The launches, all test cases of which were measured and are right."""
    files = read_folder(folder)
    ends = [run.end for file in files for run in file.points]
    assert all(end is not None and end.status == "ok" and end.verified for end in ends)
    return [(file, file.launch) for file in files if file.launch is not None]


def test_launches_with_modules(steelyard: Steelyard, tmp_path: Path, wheel: Mpi) -> None:
    """The MPI is a module's, and another module is loaded for every other launch."""
    words = (
        "mpi.pingpong",
        "--bytes",
        "8",
        "--mpi",
        "module:own/1",
        "--modules",
        "-",
        "--modules",
        "layer/2",
    )
    said = steelyard("run", *words, *FIXED, "--oversubscribe", "--out", tmp_path / "out")
    assert said.code == 0, said.err
    starts = _starts(tmp_path / "out")
    assert {(file.job.mpi.name, file.job.mpi.mpiexec) for file, _ in starts if file.job.mpi} == {
        (wheel.name, wheel.mpiexec)
    }
    found = {file.job.environment.get("LOADEDMODULES"): launch.environment for file, launch in starts}
    assert {modules: seen.get("UCX_TLS") for modules, seen in found.items()} == {
        "own/1": None,
        "own/1:layer/2": "tcp,self",
    }
    missing = steelyard("run", *words[:-1], "layer/3", *FIXED, "--out", tmp_path / "missing")
    assert missing.code == 2
    assert "'module load own/1 layer/3' failed: " in missing.err
    assert "Unable to locate a modulefile for 'layer/3'" in missing.err


def _why_no_container() -> str | None:
    if shutil.which("bwrap") is None:
        return "there is no bwrap; apt-get install bubblewrap brings it"
    done = subprocess.run([*_CONTAINER.split(), "true"], capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"bwrap cannot make a container here: {done.stderr.strip()}"


def test_launches_in_a_container(steelyard: Steelyard, tmp_path: Path, one_mpi: Mpi) -> None:
    """Of two arms one is inside, where the host has another name; both are compared."""
    if why := _why_no_container():
        pytest.skip(why)
    out = tmp_path / "out"
    words = ("mpi.pingpong", "--bytes", "8", "--mpi", one_mpi.mpiexec, "--arms", f"wrapper=-;{_CONTAINER}")
    said = steelyard("run", *words, *FIXED[:-1], "2", "--oversubscribe", "--out", out)
    assert said.code == 0, said.err
    hosts = [{place.host == _INSIDE for place in launch.places} for _, launch in _starts(out)]
    assert sorted(hosts, key=max) == [{False}] * 2 + [{True}] * 2
    compared = steelyard("compare", out)
    assert compared.code in (0, 1), compared.err
    assert _CONTAINER in compared.out
