from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

import steelyard.engines.mpi as module
from scripts import script
from steelyard.base.errors import InputError
from steelyard.engines.mpi import choose_mpi, find_mpis, mpi_environment
from steelyard.records.command_line import installing

_OPENMPI = "echo 'mpiexec (Open MPI) 5.0.11'"
_OLD_OPENMPI = "echo 'mpiexec.openmpi (OpenRTE) 4.1.4'; echo; echo 'Report bugs to http://www.open-mpi.org/'"
_MPICH = "echo 'HYDRA build details:'; echo '    Version:                                 4.0.2'"
_INTEL = "echo 'Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626 (id: b44796a)'"
_WRAPPERS = {
    "openmpi": 'test "$1" = --showme:version && echo "mpicc: Open MPI 4.1.4 (Language: C)"',
    "mpich": 'test "$1" = -v && echo "mpicc for MPICH version 4.0.2"',
    "intel": 'test "$1" = -v && echo "mpigcc for the Intel(R) MPI Library 2021.18 for Linux*"',
}


@pytest.fixture
def path(tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH, empty; no wheel in this environment, an empty cache."""
    folder = tmp_path / "usr" / "bin"
    folder.mkdir(parents=True)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    return folder


def _prefix(folder: Path, launcher: str, family: str, *, abi: bool = False) -> Path:
    script(folder / "bin" / "mpiexec", launcher)
    script(folder / "bin" / "mpicc", _WRAPPERS[family])
    (folder / "lib").mkdir()
    if abi:
        (folder / "lib" / "libmpi_abi.so.1").touch()
    return folder


def _debian(path: Path) -> None:
    """Both MPIs, as Debian names them; alternatives point to Open MPI."""
    for family, launcher in (("openmpi", _OLD_OPENMPI), ("mpich", _MPICH)):
        script(path / f"mpiexec.{family}", launcher)
        script(path / f"mpicc.{family}", _WRAPPERS[family])
    alternatives = path.parent / "alternatives"
    alternatives.mkdir()
    for name in ("mpiexec", "mpicc"):
        (alternatives / name).symlink_to(path / f"{name}.openmpi")
        (path / name).symlink_to(alternatives / name)


@pytest.mark.parametrize(
    ("launcher", "wrapper", "name"),
    [
        (_OPENMPI, "openmpi", "openmpi-5.0.11"),
        (_OLD_OPENMPI, "openmpi", "openmpi-4.1.4"),
        (_MPICH, "mpich", "mpich-4.0.2"),
        (_INTEL, "intel", "intel-2021.18.1"),
    ],
)
def test_launchers_are_told_apart(path: Path, launcher: str, wrapper: str, name: str) -> None:
    script(path / "mpiexec", launcher)
    script(path / "mpicc", _WRAPPERS[wrapper])
    (mpi,) = find_mpis()
    assert (mpi.name, mpi.origin) == (name, "path")
    assert mpi.mpicc == str(path / "mpicc")


def test_alternatives_are_resolved_and_nothing_is_listed_twice(path: Path) -> None:
    _debian(path)
    found = find_mpis()
    assert [(mpi.name, mpi.origin) for mpi in found] == [("openmpi-4.1.4", "path"), ("mpich-4.0.2", "debian")]
    assert [mpi.mpiexec for mpi in found] == [str(path / "mpiexec.openmpi"), str(path / "mpiexec.mpich")]
    assert [mpi.mpicc for mpi in found] == [str(path / "mpicc.openmpi"), str(path / "mpicc.mpich")]


def test_no_more_launchers_are_asked_than_it_takes(path: Path) -> None:
    _debian(path)
    script(path / "mpiexec.mpich", f"touch {path}/asked; {_MPICH}")
    assert choose_mpi(None).name == "openmpi-4.1.4"
    assert not (path / "asked").exists()


def test_a_program_of_any_name_is_no_mpi(path: Path) -> None:
    """A plan of somebody else may name it."""
    _debian(path)
    script(path / "deploy", f"touch {path}/deployed")
    with pytest.raises(
        InputError, match=rf"no MPI is named 'deploy'.* Or give a path, such as {path}/deploy, or"
    ):
        choose_mpi("deploy")
    assert not (path / "deployed").exists()


@pytest.mark.parametrize(
    ("choice", "name"),
    [
        (None, "openmpi-4.1.4"),
        ("openmpi", "openmpi-4.1.4"),
        ("mpich", "mpich-4.0.2"),
        ("mpich-4.0.2", "mpich-4.0.2"),
        ("mpiexec.mpich", "mpich-4.0.2"),
        ("{path}/mpicc.mpich", "mpich-4.0.2"),
        ("{path}/mpicc", "openmpi-4.1.4"),
        ("{path}/mpiexec", "openmpi-4.1.4"),
        ("{path}", "openmpi-4.1.4"),
    ],
)
def test_choices(path: Path, choice: str | None, name: str) -> None:
    _debian(path)
    mpi = choose_mpi(choice.format(path=path) if choice else None)
    assert mpi.name == name
    assert mpi.mpicc == str(path / f"mpicc.{mpi.family}")


def test_a_name_is_no_file_of_this_folder(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _debian(path)
    monkeypatch.chdir(path.parent)
    script(path.parent / "mpich", f"touch {path}/run; {_MPICH}")
    assert choose_mpi("mpich").mpiexec == str(path / "mpiexec.mpich")
    assert not (path / "run").exists()


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ("opnmpi", "did you mean 'openmpi'.* Found: openmpi-4.1.4, mpich-4.0.2"),
        ("/nowhere/mpicc", "'/nowhere/mpicc' does not exist"),
        ("{path}/..", "holds no bin/mpiexec"),
        ("{path}/other", "is no mpiexec of MPICH, Open MPI or Intel MPI"),
    ],
)
def test_bad_choices_say_what_to_do(path: Path, choice: str, sentence: str) -> None:
    _debian(path)
    script(path / "other", "echo other")
    if choice.endswith(".."):
        choice = str(path.parent.parent)
    with pytest.raises(InputError, match=sentence):
        choose_mpi(choice.format(path=path))


def test_folders_that_we_may_not_enter_are_passed_over(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = script(tmp_path / "closed" / "bin" / "mpiexec", _MPICH).parent
    script(path / "mpiexec", _OPENMPI)
    monkeypatch.setenv("PATH", f"{closed}{os.pathsep}{path}")
    closed.parent.chmod(0)
    try:
        if os.access(closed, os.X_OK):
            pytest.skip("root may enter any folder")
        assert choose_mpi(None).name == "openmpi-5.0.11"
    finally:
        closed.parent.chmod(0o755)


def test_no_mpi_at_all(path: Path) -> None:
    assert find_mpis() == ()
    with pytest.raises(InputError, match=re.escape(f"no MPI was found; type: {installing('mpi')}")):
        choose_mpi(None)


def test_a_wrapper_of_another_mpi_is_not_taken(path: Path) -> None:
    script(path / "mpiexec", _MPICH)
    script(path / "mpicc", _WRAPPERS["openmpi"])
    assert choose_mpi(None).mpicc is None


def test_a_wrapper_whose_launcher_is_of_another_mpi_is_refused(path: Path, tmp_path: Path) -> None:
    script(path / "mpiexec", _MPICH)
    lone = script(tmp_path / "lone" / "mpicc", _WRAPPERS["openmpi"])
    with pytest.raises(InputError, match=r"mpicc' is of openmpi but .*mpiexec on PATH, is of mpich"):
        choose_mpi(str(lone))


def test_a_wrapper_and_a_launcher_of_one_mpi_may_stand_apart(path: Path, tmp_path: Path) -> None:
    script(path / "mpiexec", _MPICH)
    lone = script(tmp_path / "lone" / "mpicc", _WRAPPERS["mpich"])
    assert choose_mpi(str(lone)).mpicc == str(lone)


def test_prefixes_and_the_cache(path: Path, own_cache: Path, tmp_path: Path) -> None:
    _prefix(own_cache / "mpi" / "openmpi-5.0.11", _OPENMPI, "openmpi")
    intel = _prefix(own_cache / "mpi" / "intel-2021.18.1", _INTEL, "intel", abi=True)
    given = _prefix(tmp_path / "opt", _MPICH, "mpich")
    assert [(mpi.name, mpi.abi, mpi.origin) for mpi in find_mpis()] == [
        ("intel-2021.18.1", True, "cache"),
        ("openmpi-5.0.11", False, "cache"),
    ]
    assert choose_mpi("impi").prefix == str(intel)
    assert choose_mpi("openmpi-pypi").name == "openmpi-5.0.11"  # from the cache, so nothing is installed
    assert choose_mpi(str(given)).origin == "given"
    assert mpi_environment(choose_mpi("intel")) == {
        "LD_LIBRARY_PATH": f"{intel}/lib",
        "I_MPI_ROOT": str(intel),
    }


def test_the_same_version_twice_has_two_names(path: Path, own_cache: Path) -> None:
    script(path / "mpiexec", _OPENMPI)
    prefix = _prefix(own_cache / "mpi" / "openmpi-5.0.11", _OPENMPI, "openmpi")
    assert [mpi.name for mpi in find_mpis()] == ["openmpi-5.0.11", f"openmpi-5.0.11@{prefix}"]


def test_the_environments_own_mpi_comes_after_the_systems(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(path / "mpiexec", _OLD_OPENMPI)
    venv = _prefix(tmp_path / "venv", _MPICH, "mpich", abi=True)
    monkeypatch.setattr(sys, "prefix", str(venv))
    monkeypatch.setattr(module, "scripts_folder", lambda: venv / "bin")
    monkeypatch.setenv("PATH", f"{venv / 'bin'}{os.pathsep}{path}")  # activated
    assert [(mpi.name, mpi.origin) for mpi in find_mpis()] == [
        ("openmpi-4.1.4", "path"),
        ("mpich-4.0.2", "embedded"),
    ]
    assert choose_mpi("embedded").abi


@pytest.mark.network
def test_a_wheel_is_installed_on_demand(own_cache: Path) -> None:
    mpi = choose_mpi("openmpi-pypi")
    assert mpi.origin == "cache"
    assert Path(mpi.mpiexec).is_relative_to(own_cache)
    assert choose_mpi("openmpi-pypi") == mpi
