"""Kernels: their answers are the published ones, on any number of ranks and threads; a plant is caught.

To add a kernel: a row in `_CASES`, one in `_REFUSED` if there is something that it cannot take on two ranks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kernels import check_kernels, ends_of, kernel_lines
from points import engine_of, measure, points_of
from preloaded import build_preloaded
from steelyard.engines.mpi import Mpi, choose_mpi
from steelyard.records.schema import Phases, Point

# A point, and on how many ranks of a real MPI. More ranks or threads than cores take turns, which spin: few
# of them, and of CG, which waits thousands of times, only what cannot be simulated or is different there.
_ONE_SIDED = ("fence", "pscw", "lock", "flush")
_HALOS = ("mg", "bt", "lu", "sp")
_BRICKS = "nx=3 ny=4 nz=2 iterations=20 grid=box"
_MOVED = (  # on two ranks, where a message is cut, and on four, where neighbours are shared out
    (2, "backend=nonblocking comms=thread"),
    (2, "backend=fence windows=thread"),
    (2, "backend=lock windows=one"),
    (2, "backend=flush windows=thread"),
    (4, "backend=persistent comms=one"),
    (4, "backend=blocking comms=thread"),
    (4, "backend=neighbour comms=thread"),
    (4, "backend=fence windows=one"),
    (4, "backend=pscw windows=thread"),
    (4, "backend=lock windows=thread"),
    (4, "backend=flush windows=one"),
)
_CASES = (
    ("npb.ep class=S threads=2", 3),
    ("npb.is class=S", 3),
    ("npb.is class=S backend=icollective threads=2", 2),
    ("npb.is class=S backend=nonblocking", 3),
    ("npb.is class=S backend=blocking", 2),
    ("npb.is class=W", 2),
    ("npb.cg class=S backend=neighbour", 2),
    ("npb.cg class=S backend=icollective rows=2", 2),
    ("npb.mg class=S threads=2", 3),
    ("npb.mg class=S backend=blocking", 2),
    ("npb.mg class=S backend=persistent", 2),
    ("npb.mg class=S backend=neighbour", 2),
    ("npb.mg class=W", 2),
    ("npb.ft class=S threads=2", 3),
    ("npb.ft class=S backend=nonblocking", 3),
    ("npb.ft class=S backend=blocking", 2),
    ("npb.ft class=S backend=persistent", 2),
    ("npb.ft class=S backend=icollective", 2),
    ("npb.ft class=W", 2),
    ("npb.bt class=S threads=2", 2),
    ("npb.sp class=S backend=neighbour", 2),
    ("npb.sp class=S backend=blocking threads=2", 2),
    ("npb.lu class=S planes=4 threads=2", 2),
    ("npb.lu class=S backend=neighbour planes=100", 2),
    ("npb.lu class=S backend=persistent", 3),
    ("app.hpccg nx=9 ny=7 nz=5", 3),
    ("app.hpccg nx=9 ny=7 nz=5 grid=box backend=neighbour threads=2", 2),
    ("app.hpccg nx=9 ny=7 nz=5 backend=blocking", 2),
    ("app.hpccg nx=9 ny=7 nz=5 backend=persistent", 2),
    *((f"app.hpccg {_BRICKS} {moved} threads=2 movers=2", ranks) for ranks, moved in _MOVED),
    ("app.minife nx=9 ny=7 nz=5 iterations=20 backend=fence", 2),
    ("app.minife nx=9 ny=7 nz=5 iterations=20 backend=flush threads=2 movers=2 windows=thread", 2),
    ("app.minimd nx=8 ny=8 nz=8 steps=20 backend=pscw", 2),
    ("app.minimd nx=8 ny=8 nz=8 steps=20 backend=lock threads=2 movers=2 windows=thread", 2),
    *((f"npb.{name} class=S backend={back}", 2) for name, back in zip(_HALOS, _ONE_SIDED, strict=True)),
    *((f"app.hpccg {_BRICKS} backend={back}", ranks) for ranks in (1, 4) for back in _ONE_SIDED),
    *((f"app.hpccg {_BRICKS} backend={back}", ranks) for ranks in (3, 7) for back in _ONE_SIDED[::2]),
    *((f"app.hpccg {_BRICKS} backend={back}", 8) for back in _ONE_SIDED[1::2]),
    ("app.minife nx=9 ny=7 nz=5 iterations=20", 3),
    ("app.minife nx=9 ny=7 nz=5 grid=line imbalance=20 backend=neighbour threads=2 iterations=20", 2),
    ("app.minife nx=9 ny=7 nz=5 backend=blocking", 2),
    ("app.minife nx=9 ny=7 nz=5 backend=persistent", 2),
    ("app.minimd nx=8 ny=8 nz=8", 3),
    ("app.minimd nx=8 ny=8 nz=8 lists=full backend=blocking threads=2", 2),
    ("app.minimd potential=eam nx=8 ny=8 nz=8 backend=persistent threads=2", 2),
    ("app.minimd potential=eam nx=5 ny=4 nz=4 lists=full backend=neighbour steps=40", 2),
)
_PLANTED = (
    *(f"npb.{name} class=S" for name in ("ep", "is", "cg", "mg", "ft", "bt", "sp", "lu")),
    "app.hpccg nx=9 ny=7 nz=5",
    "app.minife nx=9 ny=7 nz=5",
    "app.minimd nx=4 ny=4 nz=4 steps=5",
    "app.minimd potential=eam nx=4 ny=4 nz=4 steps=5 lists=full",
)
_REFUSED = (
    ("npb.cg class=S rows=3", "2 ranks do not make 3 rows; choose a rows that divides them, or 0"),
    ("npb.is class=E", "GiB are free; choose a smaller problem or more hosts"),
    ("app.hpccg nx=1000 ny=1000 nz=1000", "GiB are free; choose a smaller problem or more hosts"),
    ("app.hpccg movers=2", "movers=2 needs as many threads in each rank, which has 1; give --threads 2"),
    ("app.hpccg windows=thread", "windows=thread is not for backend=nonblocking, which has no such thing"),
    ("app.hpccg comms=thread backend=fence", "which has no such thing; give windows=thread"),
    ("app.hpccg nx=1100 ny=1000 nz=1000", "choose nx, ny, nz whose product is at most 1073741823"),
    ("app.minife nx=900", "GiB are free; choose a smaller problem or more hosts"),
    (
        "app.minife nx=3000",
        "app.minife numbers the nodes of a rank in 32 bits: 1.35e+10 of them are too many",
    ),
    ("app.minife nx=5 ny=1", "app.minife needs two elements along each axis at least"),
    ("app.minife nx=12 imbalance=130", "leaves 1 of 2 ranks without a layer of nodes, of which there are 13"),
    ("app.minimd nx=600 ny=600 nz=600", "GiB are free; choose a smaller problem or more hosts"),
    ("app.minimd nx=1000 ny=1000 nz=1000", "takes up to 2147483648 in all: 4000000000 are too many"),
    ("app.minimd nx=3 ny=3 nz=3", "a brick of 1.67 cells a side"),
)


def _cases_for(mpi: Mpi, ranks: int) -> list[str]:
    """All under Open MPI, every third under others, which spin: most of what is tested is ours."""
    cases = [case for case, wanted in _CASES if wanted == ranks]
    return cases if mpi.family == "openmpi" else cases[mpi.abi :: 3]


@pytest.mark.parametrize("ranks", sorted({ranks for _, ranks in _CASES}))
def test_kernels_give_the_published_answers(tmp_path: Path, mpi: Mpi, ranks: int) -> None:
    engine = engine_of(mpi)
    cases = _cases_for(mpi, ranks)
    threads = 2 if any("threads" in case for case in cases) else 1
    lines = points_of(mpi, ranks, kernel_lines(cases))
    records = measure(engine, ranks, threads, lines, tmp_path / "out.jsonl")
    check_kernels(records, cases)
    assert sum(isinstance(one, Phases) for one in records) == len(cases)


@pytest.mark.further
def test_a_planted_error_of_one_rank_is_caught(tmp_path: Path, one_mpi: Mpi) -> None:
    for plant in range(2):
        lines = kernel_lines(_PLANTED, f" plant={plant}")
        ends = ends_of(measure(engine_of(one_mpi), 2, 1, lines, tmp_path / f"out{plant}.jsonl"))
        for case, end in zip(_PLANTED, ends, strict=True):
            assert (end.status, end.count, end.verified) == ("failed", 0, False), case
            assert (end.why or "").startswith(f"wrong: rank 0: {case.split()[0]}"), case


def test_what_a_kernel_cannot_take_is_said(tmp_path: Path, one_mpi: Mpi) -> None:
    lines = kernel_lines([case for case, _ in _REFUSED])
    ends = ends_of(measure(engine_of(one_mpi), 2, 1, lines, tmp_path / "out.jsonl"))
    for (case, why), end in zip(_REFUSED, ends, strict=True):
        assert end.status == "skipped", case
        assert why in (end.why or ""), case


def test_an_exchange_that_an_mpi_lacks_is_a_row_that_says_so(tmp_path: Path, mpi: Mpi) -> None:
    cases = [
        "app.hpccg nx=9 ny=7 nz=5 backend=partitioned",
        "app.minife nx=9 ny=7 nz=5 iterations=20 backend=partitioned",
        "app.minimd nx=4 ny=4 nz=4 steps=5 backend=partitioned",
        "npb.mg class=S backend=partitioned",
    ]
    records = measure(engine_of(mpi), 2, 1, kernel_lines(cases), tmp_path / "out.jsonl")
    if mpi.family != "openmpi" or not mpi.version.startswith("4."):
        check_kernels(records, cases)
        return
    for end in ends_of(records):
        assert end.status == "skipped"
        assert "backend=partitioned: needs MPI 4.0, which the MPI that this engine" in (end.why or "")


@pytest.mark.parametrize("app", ["hpccg nx=9 ny=7 nz=5", "minife nx=9", "minimd nx=4 ny=4 nz=4 steps=5"])
def test_threads_beyond_what_an_mpi_provides_move_nothing(tmp_path: Path, one_mpi: Mpi, app: str) -> None:
    """Two threads that compute are fine; two that call MPI are a row that says why not."""
    cases = [f"app.{app} threads=2", f"app.{app} threads=2 movers=2"]
    level = ("--thread-level", "funneled")
    records = measure(engine_of(one_mpi), 2, 2, kernel_lines(cases), tmp_path / "out.jsonl", words=level)
    able, unable = ends_of(records)
    assert (able.status, unable.status) == ("ok", "skipped")
    assert "calls MPI from 2 threads at once, and this launch was provided MPI_THREAD_FUNNELED" in (
        unable.why or ""
    )


def test_records_say_what_is_sent_and_how_much_is_done(tmp_path: Path, mpi: Mpi) -> None:
    """CG on 1 x 2 ranks: a product is summed over both, and so are two or three numbers after it."""
    lines = kernel_lines(["npb.cg class=S rows=1"])
    records = measure(engine_of(mpi), 2, 1, lines, tmp_path / "out.jsonl")
    (point,) = (one for one in records if isinstance(one, Point))
    (phases,) = (one for one in records if isinstance(one, Phases))
    n, z, outer, inner = 1400, 7 * 8, 15, 25
    assert point.work == 2 * outer * n * (3 + z + inner * (5 + z) + 3)
    products, numbers = outer * (inner + 1), outer * (2 * inner + 3)
    assert phases.messages == (products + numbers,) * 2
    assert phases.bytes == (8 * (products * n + numbers + outer),) * 2


def test_a_proxy_grows_with_the_ranks_and_counts_its_work_by_phases(tmp_path: Path, mpi: Mpi) -> None:
    lines = kernel_lines(["app.hpccg nx=5 ny=4 nz=3 iterations=7"])
    records = measure(engine_of(mpi), 2, 1, lines, tmp_path / "out.jsonl")
    (point,) = (one for one in records if isinstance(one, Point))
    (phases,) = (one for one in records if isinstance(one, Phases))
    assert point.work == 2 * 7 * (5 * 4 * 3) * (54 + 6 + 4)
    assert {one.name: one.work_share for one in phases.phases} == {
        "spmv": 54 / 64,
        "waxpby": 6 / 64,
        "ddot": 4 / 64,
        "exchange": 0,
        "sums": 0,
    }
    assert phases.messages == (7, 7)
    assert phases.bytes == (7 * 5 * 4 * 8,) * 2
    cells, outer = 5 * 4 * 3, 5 * 4
    entries = (3 * 5 - 2) * (3 * 4 - 2) * (3 * 3 - 1)  # of a brick that touches another on one side
    assert {one.name: one.moved for one in phases.phases} == {
        "spmv": (7 * (12 * entries + 16 * cells + 8 * (cells + outer)),) * 2,
        "waxpby": (7 * 3 * 24 * cells,) * 2,
        "ddot": ((7 * (16 + 8) + 8) * cells,) * 2,
        "exchange": (),
        "sums": (),
    }


# The least bit of a number in rank 0's 99th message of ten positions and more.
_FLIPS = """
#include <mpi.h>
static int seen;
int MPI_Isend(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && n >= 240 && ++seen == 99)
        ((unsigned char *)data)[8 * 10] ^= 1;
    return PMPI_Isend(data, n, type, to, tag, comm, request);
}
"""


def test_a_bit_that_a_message_of_atoms_lost_is_missed(tmp_path: Path) -> None:
    engine = engine_of(choose_mpi("openmpi"))
    source = tmp_path / "flips.c"
    source.write_text(_FLIPS)
    before = ("env", f"LD_PRELOAD={build_preloaded(engine, source, tmp_path)}")
    lines = kernel_lines(["app.minimd nx=4 ny=4 nz=4 steps=30"])
    (end,) = ends_of(measure(engine, 2, 1, lines, tmp_path / "out.jsonl", before))
    assert (end.status, end.verified) == ("failed", False)
    assert "atoms is not what rank 0 has sent" in (end.why or "")


# How often rank 0 makes a window, or a persistent request, into the file OPENED.
_COUNTS = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int seen;
int MPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    ++seen;
    return PMPI_Win_create(base, size, unit, info, comm, win);
}
int MPI_Send_init(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request *request)
{
    ++seen;
    return PMPI_Send_init(data, n, type, to, tag, comm, request);
}
int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *file = rank == 0 ? fopen(getenv("OPENED"), "w") : NULL;
    if (file) {
        fprintf(file, "%d", seen);
        fclose(file);
    }
    return PMPI_Finalize();
}
"""


@pytest.mark.parametrize("backend", ["fence", "persistent"])
def test_timed_runs_of_atoms_open_no_plans(tmp_path: Path, backend: str) -> None:
    """The first run, which is not timed, may have to: a crystal melts. Later ones have as many atoms."""
    engine = engine_of(choose_mpi("openmpi"))
    source = tmp_path / "counts.c"
    source.write_text(_COUNTS)
    library, opened = build_preloaded(engine, source, tmp_path), {}
    for count in (1, 4):
        told = tmp_path / f"opened{count}"
        before = ("env", f"OPENED={told}", f"LD_PRELOAD={library}")
        line = f"op=app.minimd nx=4 ny=4 nz=4 steps=45 backend={backend} rule=fixed count={count}"
        (end,) = ends_of(measure(engine, 2, 1, [line], tmp_path / f"{count}.jsonl", before))
        assert (end.status, end.count) == ("ok", count)
        opened[count] = int(told.read_text())
    assert opened[1] == opened[4] > 0
