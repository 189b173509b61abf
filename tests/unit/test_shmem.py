"""OpenSHMEM libraries: found, chosen, and which engine an op goes to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from scripts import script
from steelyard.base.engine_kinds import engine_kind
from steelyard.base.errors import InputError
from steelyard.engines.build import mpi_engine
from steelyard.engines.description import Description, Method, Op, Ops, Rule
from steelyard.engines.known_bad_exits import ends_badly
from steelyard.engines.shmem import choose_shmem, find_shmems, names_shmem
from steelyard.plan.engine_needed import needs_mpi, needs_shmem
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve

_LAUNCHERS = {
    "oshmem": "echo 'oshrun (OpenRTE) 4.1.4'",
    "sos": "echo 'HYDRA build details:'; echo '    Version:                                 4.2'",
    "other": "echo 'slurm 22'",
}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two folders on PATH: an OpenSHMEM of each kind, the first without a compiler wrapper."""
    for name in ("oshmem", "sos"):
        script(tmp_path / name / "bin" / "oshrun", _LAUNCHERS[name])
    script(tmp_path / "sos" / "bin" / "oshcc", "true")
    monkeypatch.setenv("PATH", f"{tmp_path}/oshmem/bin:{tmp_path}/sos/bin")
    return tmp_path


def test_libraries_are_known_by_their_launchers(path: Path) -> None:
    oshmem, sos = find_shmems()
    assert (oshmem.name, oshmem.family, oshmem.kind, oshmem.mpicc) == (
        *("oshmem-4.1.4", "openmpi", "shmem"),
        None,
    )
    assert (sos.name, sos.family, sos.mpicc) == ("sos-4.2", "mpich", f"{path}/sos/bin/oshcc")
    assert [engine_kind(one.name) for one in (oshmem, sos)] == ["shmem", "shmem"]


@pytest.mark.parametrize(
    ("choice", "name"),
    [
        (None, "oshmem-4.1.4"),
        ("sos", "sos-4.2"),
        ("sos-4.2", "sos-4.2"),
        ("{path}/sos", "sos-4.2"),
        ("{path}/sos/bin/oshrun", "sos-4.2"),
        ("{path}/sos/bin/oshcc", "sos-4.2"),
    ],
)
def test_choices(path: Path, choice: str | None, name: str) -> None:
    assert choose_shmem(choice and choice.format(path=path)).name == name


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        (
            "oshmen",
            "no OpenSHMEM is named 'oshmen'; did you mean 'oshmem'.* Found: oshmem-4.1.4, sos-4.2",
        ),
        ("{path}/none", "'{path}/none' holds no oshrun or shmemrun; give the prefix"),
    ],
)
def test_bad_choices_say_what_to_do(path: Path, choice: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence.format(path=path)):
        choose_shmem(choice.format(path=path))


def test_without_a_library_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    script(tmp_path / "oshrun", _LAUNCHERS["other"])
    with pytest.raises(InputError, match="apt install openmpi-bin libopenmpi-dev; or give --shmem the path"):
        choose_shmem(None)


def test_a_library_without_its_wrapper_says_so(path: Path) -> None:
    with pytest.raises(InputError, match=re.escape(f"has no oshcc beside {path}/oshmem/bin/oshrun")):
        mpi_engine(choose_shmem("oshmem"))


@pytest.mark.parametrize(
    ("word", "is_shmem"),
    [
        *((name, True) for name in ("oshmem", "sos-1.5", "/usr/bin/oshcc", "x/oshrun")),
        *((name, False) for name in (None, "openmpi", "/usr/bin/mpicc")),
    ],
)
def test_words_of_openshmem(word: str | None, is_shmem: bool) -> None:
    assert names_shmem(word) is is_shmem


def test_a_library_that_always_ends_badly_is_known_by_its_release(path: Path) -> None:
    oshmem, sos = find_shmems()
    known = [ends_badly(one) for one in (oshmem, sos)]
    later, mpi = replace(oshmem, version="5.0.1"), replace(oshmem, kind="mpi")
    assert [*known, ends_badly(later), ends_badly(mpi), ends_badly(None)] == [True, *[False] * 4]


def test_a_prefix_without_an_mpi_is_one_of_openshmem(path: Path) -> None:
    assert names_shmem(f"{path}/sos")
    script(path / "sos" / "bin" / "mpiexec", "true")
    assert not names_shmem(f"{path}/sos")
    assert not names_shmem(f"{path}/none")


# ---- plans -------------------------------------------------------------------------------------------------


def _op(name: str, kind: str) -> Op:
    return Op(name, kind, sized=False, methods=("batch",), default_method="batch", params=())


_SPIN, _PUT, _MPI_PUT = _op("self.spin", "local"), _op("shmem.put", "p2p"), _op("mpi.put", "p2p")
_OPS = Ops(
    solo={"self.spin": _SPIN},
    mpi={"self.spin": _SPIN, "mpi.put": _MPI_PUT},
    methods={"batch": Method("batch", ())},
    rules={"fixed": Rule("fixed", ())},
    shmem={"self.spin": _SPIN, "shmem.put": _PUT},
)


def _libraries(op: str, engine: str | None = None, ranks: int = 2) -> set[str | None]:
    measure = Measure(ops=(op,), engine=engine, ranks=(ranks,))
    points = resolve(Plan(measure=(measure,)), _OPS, ["openmpi-4.1.4", "oshmem-4.1.4"], 2)
    return {point.mpi for point in points}


@pytest.mark.parametrize(
    ("op", "engine", "ranks", "library"),
    [
        ("shmem.put", None, 2, "oshmem-4.1.4"),
        ("shmem.put", "shmem", 2, "oshmem-4.1.4"),
        ("mpi.put", None, 2, "openmpi-4.1.4"),
        ("self.spin", None, 1, None),
        ("self.spin", None, 2, "openmpi-4.1.4"),
        ("self.spin", "shmem", 2, "oshmem-4.1.4"),
        ("self.spin", "solo", 2, None),
    ],
)
def test_each_op_goes_to_its_library(op: str, engine: str | None, ranks: int, library: str | None) -> None:
    assert _libraries(op, engine, ranks) == {library}


@pytest.mark.parametrize(
    ("op", "engine", "sentence"),
    [
        ("mpi.put", "shmem", "mpi.put cannot run without MPI; leave --engine shmem out"),
        ("shmem.put", "mpi", "shmem.put cannot run without OpenSHMEM; leave --engine mpi out"),
        ("shmem.put", "solo", "shmem.put cannot run without OpenSHMEM; leave --engine solo out"),
        ("mpi.put", "solo", "mpi.put cannot run without MPI; leave --engine solo out"),
    ],
)
def test_ops_of_another_library_are_refused(op: str, engine: str, sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        _libraries(op, engine)


@pytest.mark.parametrize(
    ("ops", "engine", "needed"),
    [
        (("shmem.put",), None, True),
        (("mpi.put", "shmem.*"), None, True),
        (("self.spin",), "shmem", True),
        (("mpi.put", "*put"), None, False),
    ],
)
def test_what_needs_an_openshmem(ops: tuple[str, ...], engine: str | None, needed: bool) -> None:
    assert needs_shmem(Plan(measure=(Measure(ops=ops, engine=engine),))) is needed


def test_arms_of_libraries_are_of_one_kind() -> None:
    plan = Plan(measure=(Measure(ops=("shmem.put", "mpi.put")),), arms={"shmem": ("oshmem-4.1.4", "sos-1.5")})
    points = resolve(plan, _OPS, ["openmpi-4.1.4", "oshmem-4.1.4", "sos-1.5"], 2)
    assert {(point.op, point.arm) for point in points} == {
        ("shmem.put", "oshmem-4.1.4"),
        ("shmem.put", "sos-1.5"),
        ("mpi.put", None),
    }


@pytest.mark.parametrize(("op", "needed"), [("mpi.put", True), ("self.spin", False), ("shmem.put", False)])
def test_an_op_of_mpi_is_known_where_an_openshmem_is_asked_for(op: str, needed: bool) -> None:
    solo = Description("solo", "1", (_SPIN,), (), ())
    assert needs_mpi(Plan(measure=(Measure(ops=(op,), engine="shmem"),)), solo) is needed
