"""Kernels on many ranks, in simulation, where ranks do not wait for a core: the published answers."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from further import further
from kernels import check_kernels, ends_of, kernel_lines
from simulated import simulate
from steelyard.records.read import read_records
from steelyard.records.schema import Record

# The same in simulation, where ranks do not wait for a core: a point, and on which numbers of them.
_SIMULATED = (
    ("npb.is class=S", (4, 6, 8, 9, 64)),
    ("npb.is class=S backend=blocking", (9,)),
    ("npb.cg class=S", (4, 6, 8, 9, 16)),  # on 64 it takes as long as all others together
    ("npb.cg class=S backend=blocking", (6, 9)),
    ("npb.cg class=S backend=persistent rows=9", (9,)),
    ("npb.cg class=S backend=collective", (8,)),
    ("npb.mg class=S", (4, 6, 8, 9, 64)),
    ("npb.mg class=S backend=blocking", (6, 9)),
    ("npb.mg class=S backend=persistent", (8,)),
    ("npb.ft class=S", (4, 6, 8, 9, 64)),
    ("npb.ft class=S backend=nonblocking", (7,)),
    ("npb.cg class=S backend=icollective rows=1", (6,)),  # of 2 x 3 SimGrid gives wrong sums, MPIs right ones
    ("npb.bt class=S", (3, 4, 6, 8, 9, 64)),  # whose boxes are those of SP
    ("npb.bt class=S backend=blocking", (9,)),
    ("npb.sp class=S", (3, 4, 6, 8, 9, 16)),
    ("npb.sp class=S backend=persistent", (8,)),
    ("npb.lu class=S", (4, 6, 8, 9, 16)),
    ("npb.lu class=S backend=blocking planes=3", (7, 9)),
    ("app.hpccg nx=4 ny=3 nz=2 iterations=40", (4, 7)),
    ("app.hpccg nx=4 ny=3 nz=2 iterations=40 grid=box", (6, 8)),
    ("app.hpccg nx=4 ny=3 nz=2 iterations=20 grid=box", (64,)),
    ("app.hpccg nx=1 ny=1 nz=1 iterations=40 grid=box backend=blocking", (8, 9)),
    *(
        (f"app.hpccg nx=2 ny=2 nz=2 iterations=4 grid=box backend={back}", (64,))
        for back in ("blocking", "persistent", "fence", "pscw", "lock", "flush")
    ),
    *((f"app.hpccg nx=4 ny=3 nz=2 iterations=10 grid=box backend={back}", (9,)) for back in ("pscw", "lock")),
    ("app.minife nx=6 ny=5 nz=4 iterations=40", (4, 7, 8)),
    ("app.minife nx=8 ny=7 nz=6 iterations=20", (64,)),
    ("app.minife nx=3 ny=3 nz=20 iterations=20 grid=line imbalance=50 backend=blocking", (9,)),
    ("app.minimd nx=8 ny=8 nz=8", (4, 8)),
    ("app.minimd nx=8 ny=8 nz=8 every=4 steps=5", (64,)),
    ("app.minimd nx=12 ny=2 nz=2 lists=full backend=persistent steps=40", (7,)),
    ("app.minimd potential=eam nx=8 ny=8 nz=8 backend=blocking", (6,)),
    ("app.minimd potential=eam nx=8 ny=8 nz=8 lists=full every=4 steps=10", (9,)),
)


_RANKS = sorted({ranks for _, several in _SIMULATED for ranks in several})
_FIRST = {(3, "npb"), (3, "app"), (9, "app")}  # stand for the others; tests/mpi has NPB on two


@pytest.mark.parametrize(
    ("ranks", "kind"),
    [
        ((ranks, kind) if (ranks, kind) in _FIRST else further(ranks, kind))
        for ranks in _RANKS
        for kind in ("npb", "app")
        if any(case.startswith(kind) and ranks in several for case, several in _SIMULATED)
    ],
)
def test_kernels_give_the_published_answers_on_many_ranks(tmp_path: Path, ranks: int, kind: str) -> None:
    if shutil.which("smpicc") is None:
        pytest.skip("no SimGrid: there is no smpicc")
    cases = [case for case, several in _SIMULATED if ranks in several and case.startswith(kind)]
    check_kernels(_simulated(tmp_path, ranks, kernel_lines(cases)), cases)


def _simulated(folder: Path, ranks: int, lines: Sequence[str]) -> tuple[Record, ...]:
    points, out = folder / "points", folder / "out.jsonl"
    points.write_text("".join(f"point={i} {line}\n" for i, line in enumerate(lines)))
    simulate(folder, ranks, "run", "--points", str(points), "--out", str(out), "--ranks", str(ranks))
    return read_records(out).records


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
    (end,) = ends_of(_simulated(tmp_path, ranks, kernel_lines([f"npb.{kernel} class=S"])))
    assert end.status == "skipped"
    assert f"npb.{kernel} class S takes any product of {rule}, not {ranks} ranks" in (end.why or "")


def test_problems_that_ranks_cannot_share_are_refused(tmp_path: Path) -> None:
    if shutil.which("smpicc") is None:
        pytest.skip("no SimGrid: there is no smpicc")
    refused = {
        "app.minife nx=2": "3 x 3 x 3 nodes have no layer for each of 11 ranks in a box; choose more",
        "app.minife nx=9 grid=line": "nodes have no layer for each of 11 ranks in a line along z",
        "app.minimd nx=4 ny=4 nz=4": "11 ranks cannot share 4 x 4 x 4 cells, for each must have a brick",
    }
    ends = ends_of(_simulated(tmp_path, 11, kernel_lines(list(refused))))
    for end, why in zip(ends, refused.values(), strict=True):
        assert end.status == "skipped"
        assert why in (end.why or "")


def test_one_rank_has_no_imbalance(tmp_path: Path) -> None:
    if shutil.which("smpicc") is None:
        pytest.skip("no SimGrid: there is no smpicc")
    (end,) = ends_of(_simulated(tmp_path, 1, kernel_lines(["app.minife nx=5 imbalance=20"])))
    assert end.status == "skipped"
    assert "app.minife on one rank has no load imbalance; choose imbalance=0 or more ranks" in (end.why or "")
