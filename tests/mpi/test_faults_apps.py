"""One byte of one message or put of an application's halo is wrong: it is found, and said.

By the application's own verification, also where the answer is hardly off. What is wrong in sums over ranks
shows in its bits, which are those of no other run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from further import further
from kernels import check_kernels, ends_of, kernel_lines
from points import engine_of, measure
from preloaded import build_preloaded, fault_words
from steelyard.base.errors import InputError
from steelyard.engines.build import Engine
from steelyard.engines.mpi import choose_mpi

pytestmark = pytest.mark.xdist_group("waits")

_SOURCE = Path(__file__).parent.parent / "data" / "faults.c"
_FIRST, _MIDDLE, _LAST = 6, 3, 0  # bytes of a number: exponent and first digits; 7th digit; last bits
_HPCCG = "app.hpccg nx=5 ny=4 nz=3 iterations=60"
_FEW = "app.hpccg nx=5 ny=4 nz=3 iterations=8"  # after which the solution is hardly known
_FACE = 5 * 4 * 8  # bytes of the halo of a brick of 5 x 4 x 3 cells
_MINIFE = "app.minife nx=6 ny=5 nz=9 iterations=40 grid=line"
_NODES = 7 * 6 * 8  # bytes of the halo of 7 x 6 nodes
_MINIMD = "app.minimd nx=4 ny=4 nz=4 steps=20"
_FREE = 8 * (2 * 7 + 3)  # where in them a node is whose temperature nobody holds
_NUMBER = 8  # bytes of the message that says how many atoms come
_MET = "app.minimd: "  # what a rank has met on its way, and not what has come of it
_ANY = -1
# An application, the bytes of the messages that count, which of them is spoiled, where, and what is said.
_APPS = {
    "hpccg": (_HPCCG, _FACE, 7, _FIRST, "after 60 iterations A times the error of x is off from"),
    "hpccg, few steps": (_FEW, _FACE, 5, _MIDDLE, "after 8 iterations A times the error of x is off from"),
    "minife": (_MINIFE, _NODES, 7, _FREE + _FIRST, "A times the error of x is off from the residual by"),
    "minife, a held node": (_MINIFE, _NODES, 7, _LAST, "from each other is not what was sent"),
    "minimd": (_MINIMD, _ANY, 200, _FIRST, _MET),
    "numbers": (_MINIMD, _NUMBER, 30, 0, _MET),
}
_WAYS = (
    *(("nonblocking", "MPI_Isend"), ("fence", "MPI_Put"), ("flush", "MPI_Put"), ("pscw", "MPI_Put")),
    *(("lock", "MPI_Put"), ("blocking", "MPI_Sendrecv"), ("persistent", "MPI_Startall")),
    ("neighbour", "MPI_Neighbor_alltoallw"),
)
_FIRST_WAYS = {"hpccg": 3, "minife": 3, "minimd": 3}  # the others are further
_SPOILED = [
    (app, *way) if place < _FIRST_WAYS.get(app, 1) else further(app, *way)
    for app in _APPS
    for place, way in enumerate(_WAYS)
]
_MOVERS = "threads=2 movers=2"
_BY_THREADS = tuple(  # two threads that move, in one window or communicator or one each
    (f"{back} {_MOVERS} {'windows' if call == 'MPI_Put' else 'comms'}={whose}", call)
    for back, call in (*_WAYS[:5], ("persistent", "MPI_Startall"))
    for whose in ("one", "thread")
)
_WHOLE = {"hpccg": _HPCCG, "minife": _MINIFE, "minimd": _MINIMD}
_SPOILED_BY_THREADS = [
    (app, *way) if place == 1 else further(app, *way)
    for app in _WHOLE
    for place, way in enumerate(_BY_THREADS)
]
_TOGETHER = 5  # which call is spoiled where one carries the messages of all neighbours


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> tuple[Engine, Path]:
    """An engine and the library to preload."""
    return _faulty("openmpi", tmp_path_factory)


@pytest.fixture(scope="module")
def faulty_of_mpi_4(tmp_path_factory: pytest.TempPathFactory) -> tuple[Engine, Path]:
    """Those of an MPI that has partitioned messages."""
    return _faulty("embedded", tmp_path_factory)


def _faulty(choice: str, folders: pytest.TempPathFactory) -> tuple[Engine, Path]:
    try:
        engine = engine_of(choose_mpi(choice))
    except InputError as error:
        pytest.skip(str(error))
    return engine, build_preloaded(engine, _SOURCE, folders.mktemp("faults"))


def _before(library: Path, call: str, kind: str, **more: int) -> tuple[str, ...]:
    return ("env", f"FAULTS={fault_words(call, kind, rank=0, **more)}", f"LD_PRELOAD={library}")


@pytest.mark.parametrize(("app", "backend", "call"), _SPOILED)
def test_one_wrong_byte_of_one_message_is_a_wrong_answer(
    faulty: tuple[Engine, Path], tmp_path: Path, app: str, backend: str, call: str
) -> None:
    engine, library = faulty
    case, size, which, byte, why = _APPS[app]
    lines = kernel_lines([f"{case} backend={backend}"])
    at = _TOGETHER if call == "MPI_Neighbor_alltoallw" else which
    before = _before(library, call, "corrupt", at=at, bytes=size, byte=byte)
    (end,) = ends_of(measure(engine, 2, 1, lines, tmp_path / "out.jsonl", before))
    assert end.status == "failed"
    assert (end.why or "").startswith("wrong: rank ")
    assert why in (end.why or "")


@pytest.mark.parametrize("app", ["hpccg", further("minife"), further("minimd")])
def test_one_wrong_byte_of_a_partitioned_message_is_a_wrong_answer(
    faulty_of_mpi_4: tuple[Engine, Path], tmp_path: Path, app: str
) -> None:
    engine, library = faulty_of_mpi_4
    lines = kernel_lines([f"{_WHOLE[app]} backend=partitioned"])
    before = _before(library, "MPI_Startall", "corrupt", at=7, byte=_FIRST)
    (end,) = ends_of(measure(engine, 2, 1, lines, tmp_path / "out.jsonl", before))
    assert end.status == "failed"
    assert (end.why or "").startswith("wrong: rank ")


@pytest.mark.parametrize(("app", "backend", "call"), _SPOILED_BY_THREADS)
def test_one_wrong_byte_that_a_thread_moves_is_a_wrong_answer(
    faulty: tuple[Engine, Path], tmp_path: Path, app: str, backend: str, call: str
) -> None:
    """Messages are cut, so that each thread has a piece: the 27th piece is spoiled, whoever moves it."""
    engine, library = faulty
    lines = kernel_lines([f"{_WHOLE[app]} backend={backend}"])
    before = _before(library, call, "corrupt", at=27, byte=_FIRST)
    (end,) = ends_of(measure(engine, 2, 2, lines, tmp_path / "out.jsonl", before))
    assert end.status == "failed"
    assert (end.why or "").startswith("wrong: rank ")


def test_without_a_fault_they_are_right(faulty: tuple[Engine, Path], tmp_path: Path) -> None:
    engine, library = faulty
    cases = [f"{case} backend={backend}" for case, *_ in _APPS.values() for backend, _ in _WAYS]
    before = _before(library, "MPI_Put", "none")
    check_kernels(measure(engine, 2, 1, kernel_lines(cases), tmp_path / "out.jsonl", before), cases)


def test_a_run_with_other_bits_than_the_first_is_wrong(faulty: tuple[Engine, Path], tmp_path: Path) -> None:
    """The last bits of a sum over ranks hardly change the answer: it is what conjugate gradients promise."""
    engine, library = faulty
    before = _before(library, "MPI_Allreduce", "corrupt", at=7, bytes=8, byte=_LAST)
    (end,) = ends_of(measure(engine, 2, 1, kernel_lines([_HPCCG]), tmp_path / "out.jsonl", before))
    assert end.status == "failed"
    assert "differs in its bits from that of the first one" in (end.why or "")


def test_an_exchange_that_is_always_wrong_is_wrong_and_the_others_are_right(
    faulty: tuple[Engine, Path], tmp_path: Path
) -> None:
    """The last bits of a number of each put: no run has a right answer that this one's differs from."""
    engine, library = faulty
    ways = ("nonblocking", "fence", "persistent", "flush", "blocking")
    lines = kernel_lines([f"{_HPCCG} backend={way}" for way in ways])
    before = _before(library, "MPI_Put", "corrupt", bytes=_FACE, byte=_LAST, every=1)
    ends = ends_of(measure(engine, 2, 1, lines, tmp_path / "out.jsonl", before))
    assert [end.status for end in ends] == ["ok", "failed", "ok", "failed", "ok"]
    for end in (ends[1], ends[3]):
        assert "what ranks have fetched from each other is not what was sent" in (end.why or "")
