"""Kernels: their answers are the published ones, on any number of ranks and threads; a plant is caught.

To add a kernel: a row in `_CASES`, one in `_REFUSED` if there is something that it cannot take on two ranks.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from steelyard.engine import solo_engine
from steelyard.mpi import Mpi
from steelyard.phases import summarise
from steelyard.reading import read_records
from steelyard.records import End, Phase, Phases, Point, Record
from test_ops import _engine, _measure
from test_ops_simulated import _simulate

# A point, and on how many ranks of a real MPI. More ranks or threads than cores take turns, which spin: few
# of them, and of CG, which waits thousands of times, only what cannot be simulated or is different there.
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
)
# The same in simulation, where ranks do not wait for a core: a point, and on which numbers of them.
_SIMULATED = (
    ("npb.is class=S", (4, 6, 8, 9, 64)),
    ("npb.is class=S backend=blocking", (9,)),
    ("npb.cg class=S", (4, 6, 8, 9, 64)),
    ("npb.cg class=S backend=blocking", (6, 9)),
    ("npb.cg class=S backend=persistent rows=9", (9,)),
    ("npb.cg class=S backend=collective", (8,)),
    ("npb.mg class=S", (4, 6, 8, 9, 64)),
    ("npb.mg class=S backend=blocking", (6, 9)),
    ("npb.mg class=S backend=persistent", (8,)),
    ("npb.ft class=S", (4, 6, 8, 9, 64)),
    ("npb.ft class=S backend=nonblocking", (7,)),
    ("npb.cg class=S backend=icollective rows=1", (6,)),  # of 2 x 3 SimGrid gives wrong sums, MPIs right ones
    ("npb.bt class=S", (3, 4, 6, 8, 9, 64)),
    ("npb.bt class=S backend=blocking", (9,)),
    ("npb.sp class=S", (3, 4, 6, 8, 9, 64)),
    ("npb.sp class=S backend=persistent", (8,)),
    ("npb.lu class=S", (4, 6, 8, 9, 64)),
    ("npb.lu class=S backend=blocking planes=3", (7, 9)),
)
_SOLO = (
    "npb.is class=A",
    "npb.is class=S threads=3",
    "npb.cg class=W threads=2",
    "npb.cg class=S phases=off",
    "npb.mg class=A threads=2",
    "npb.mg class=S phases=off",
    "npb.ft class=W threads=3",
    "npb.bt class=W threads=2",
    "npb.bt class=S threads=3",
    "npb.sp class=S threads=2",
    "npb.sp class=W phases=off",
    "npb.lu class=S phases=off",
    "npb.lu class=S threads=3",
    "npb.lu class=W",
    "npb.lu class=A",
)
_PLANTED = tuple(f"npb.{name} class=S" for name in ("ep", "is", "cg", "mg", "ft", "bt", "sp", "lu"))
_REFUSED = (
    ("npb.cg class=S rows=3", "2 ranks do not make 3 rows; choose a rows that divides them, or 0"),
    ("npb.is class=E", "GiB are free; choose a smaller class or more hosts"),
)


def _lines(cases: Sequence[str], more: str = "") -> list[str]:
    return [f"op={case} rule=fixed count=1{more}" for case in cases]


def _ends(records: Sequence[Record]) -> list[End]:
    return sorted((one for one in records if isinstance(one, End)), key=lambda end: end.point)


def _check(records: Sequence[Record], cases: Sequence[str]) -> None:
    told = [(case, end.status, end.why) for case, end in zip(cases, _ends(records), strict=True)]
    assert told == [(case, "ok", None) for case in cases]


@pytest.mark.parametrize("ranks", sorted({ranks for _, ranks in _CASES}))
def test_kernels_give_the_published_answers(tmp_path: Path, mpi: Mpi, ranks: int) -> None:
    cases = [case for case, wanted in _CASES if wanted == ranks]
    engine = _engine(mpi)
    threads = 2 if any("threads" in case for case in cases) else 1
    records = _measure(engine, ranks, threads, _lines(cases), tmp_path / "out.jsonl")
    _check(records, cases)
    assert sum(isinstance(one, Phases) for one in records) == len(cases)


def test_kernels_give_the_published_answers_without_mpi(tmp_path: Path) -> None:
    _check(_measure(solo_engine(), 1, 3, _lines(_SOLO), tmp_path / "out.jsonl"), _SOLO)


@pytest.mark.parametrize("ranks", sorted({ranks for _, several in _SIMULATED for ranks in several}))
def test_kernels_give_the_published_answers_on_many_ranks(tmp_path: Path, ranks: int) -> None:
    if shutil.which("smpicc") is None:
        pytest.skip("no SimGrid: there is no smpicc")
    cases = [case for case, several in _SIMULATED if ranks in several]
    _check(_simulated(tmp_path, ranks, _lines(cases)), cases)


def _simulated(folder: Path, ranks: int, lines: Sequence[str]) -> tuple[Record, ...]:
    points, out = folder / "points", folder / "out.jsonl"
    points.write_text("".join(f"point={i} {line}\n" for i, line in enumerate(lines)))
    _simulate(folder, ranks, "run", "--points", str(points), "--out", str(out), "--ranks", str(ranks))
    return read_records(out).records


def test_a_planted_error_of_one_rank_is_caught(tmp_path: Path, mpi: Mpi) -> None:
    for plant in range(2):
        lines = _lines(_PLANTED, f" plant={plant}")
        ends = _ends(_measure(_engine(mpi), 2, 1, lines, tmp_path / f"out{plant}.jsonl"))
        for case, end in zip(_PLANTED, ends, strict=True):
            assert (end.status, end.count, end.verified) == ("failed", 0, False), case
            assert (end.why or "").startswith("wrong: rank 0: npb."), case


def test_what_a_kernel_cannot_take_is_said(tmp_path: Path, mpi: Mpi) -> None:
    lines = _lines([case for case, _ in _REFUSED])
    ends = _ends(_measure(_engine(mpi), 2, 1, lines, tmp_path / "out.jsonl"))
    for (case, why), end in zip(_REFUSED, ends, strict=True):
        assert end.status == "skipped", case
        assert why in (end.why or ""), case


@pytest.mark.parametrize(
    ("kernel", "ranks", "rule"),
    [
        ("bt", 7, "three numbers up to 5"),
        ("sp", 7, "three numbers up to 5"),
        ("lu", 11, "two numbers up to 10"),
    ],
)
def test_ranks_that_cannot_each_have_a_box_are_refused(
    tmp_path: Path, kernel: str, ranks: int, rule: str
) -> None:
    if shutil.which("smpicc") is None:
        pytest.skip("no SimGrid: there is no smpicc")
    (end,) = _ends(_simulated(tmp_path, ranks, _lines([f"npb.{kernel} class=S"])))
    assert end.status == "skipped"
    assert f"npb.{kernel} class S takes any product of {rule}, not {ranks} ranks" in (end.why or "")


def test_records_say_what_is_sent_and_how_much_is_done(tmp_path: Path, mpi: Mpi) -> None:
    """CG on 1 x 2 ranks: a product is summed over both, and so are two or three numbers after it."""
    lines = _lines(["npb.cg class=S rows=1"])
    records = _measure(_engine(mpi), 2, 1, lines, tmp_path / "out.jsonl")
    (point,) = (one for one in records if isinstance(one, Point))
    (phases,) = (one for one in records if isinstance(one, Phases))
    n, z, outer, inner = 1400, 7 * 8, 15, 25
    assert point.work == 2 * outer * n * (3 + z + inner * (5 + z) + 3)
    products, numbers = outer * (inner + 1), outer * (2 * inner + 3)
    assert phases.messages == (products + numbers,) * 2
    assert phases.bytes == (8 * (products * n + numbers + outer),) * 2


def test_phases_are_summed_up() -> None:
    """Two ranks of which one computes three times as long, in two chunks of one and three observations."""

    def chunk(count: int) -> Phases:
        return Phases(
            point=0,
            first=0,
            count=count,
            phases=(
                Phase(name="work", communicates=False, ns=(100 * count, 300 * count), calls=(count, count)),
                Phase(name="wait", communicates=True, ns=(200 * count, 0), calls=(2 * count, 2 * count)),
            ),
            messages=(5 * count, 3 * count),
            bytes=(80 * count, 80 * count),
            memory=(1000, 2000),
        )

    found = summarise([chunk(1), chunk(3)], 1)
    assert found is not None
    assert found.communication == pytest.approx(1 / 3)
    assert found.rank_communication == pytest.approx((2 / 3, 0))
    assert found.imbalance == pytest.approx(0.5)
    assert (found.messages, found.bytes, found.memory) == (4, 80, 2000)
    work, wait = found.phases
    assert (work.median, work.slowest, work.calls, wait.calls) == (200, 300, 1, 2)
    assert work.share == pytest.approx(2 / 3)
    assert summarise([], 1) is None
