"""One problem, one answer: a launch whose answer differs failed, is in the matrix, and gives no number."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from make_records import FakePoint, steady, write_folder
from steelyard.analyses.analysis import Made
from steelyard.export.export_input import ExportedFolder
from steelyard.export.formats import results_document
from steelyard.records.kernel_answer import KernelAnswer
from steelyard.results.facets.inside import Answered
from steelyard.results.rows import results

_LAUNCHES = 3


def _answer(
    bits: str = "00ab", exact: bool = True, alike: float | None = 1e-9, norm: float | None = 2.0
) -> KernelAnswer:
    return KernelAnswer(bits=bits, exact=exact, alike=alike, values={"norm of x": norm})


def _point(
    backend: str, *answers: KernelAnswer, threads: int = 1, ranks: int = 2, mpi: str = "a-1"
) -> FakePoint:
    """An application whose launches answered so; the last answer stands for all that follow."""
    told = [answers[min(i, len(answers) - 1)] for i in range(_LAUNCHES)]
    return FakePoint(
        "app.hpccg",
        steady(1e6, count=100),
        params={"backend": backend, "movers": 1, "nx": 8},
        threads=threads,
        ranks=ranks,
        mpi=mpi,
        role="kernel",
        work=1e6 * ranks,
        answers=dict(enumerate(told, 1)),
    )


def _statuses(tmp_path: Path, points: list[FakePoint]) -> list[list[str]]:
    folder = write_folder(tmp_path / "out", points, launches=_LAUNCHES)
    return [[launch.status for launch in row.launches] for row in results(folder)]


_ALL, _NONE = ["ok"] * _LAUNCHES, ["failed"] * _LAUNCHES


def test_other_bits_of_the_same_sums_are_a_wrong_transfer(tmp_path: Path) -> None:
    points = [
        _point("nonblocking", _answer()),
        _point("fence", _answer(), _answer("00ac"), _answer()),
        _point("flush", _answer("00ad")),
        _point("nonblocking", _answer("00ae"), threads=2),
    ]
    folder = write_folder(tmp_path / "out", points, launches=_LAUNCHES)
    rows = results(folder)
    assert [[launch.status for launch in row.launches] for row in rows] == [
        _ALL,
        ["ok", "failed", "ok"],
        _NONE,
        _ALL,
    ]
    why = rows[1].launches[1].why or ""
    assert why.startswith(
        "wrong: the answer differs in its bits from that of 5 others (first backend=nonblocking"
    )
    assert (rows[2].median, rows[2].status) == (None, "failed")
    assert [row.get(Answered).answer_bits for row in rows] == ["00ab", "00ab", None, "00ae"]
    assert rows[0].get(Answered).answer == {"norm of x": 2.0}
    document = results_document(ExportedFolder(folder, Made(rows)))
    found = {
        (one["sync"], one["threads"]): (one["passed"], one["wrong"]) for one in document["functionality"]
    }
    assert found == {("nonblocking", 1): (6, 0), ("fence", 1): (2, 1), ("flush", 1): (0, 3)}


@pytest.mark.parametrize("change", ["ranks", "mpi", "exact"])
def test_bits_are_compared_where_nothing_else_decides_them(tmp_path: Path, change: str) -> None:
    """Sums in another order: other ranks, another library, or one that chooses the order."""
    other = _point("fence", replace_answer(_answer("00ac"), exact=change != "exact"))
    other = replace(other, ranks=3) if change == "ranks" else other
    other = replace(other, mpi="b-1") if change == "mpi" else other
    assert _statuses(tmp_path, [_point("nonblocking", _answer()), other]) == [_ALL, _ALL]


def replace_answer(answer: KernelAnswer, exact: bool) -> KernelAnswer:
    return KernelAnswer(bits=answer.bits, exact=exact, alike=answer.alike, values=answer.values)


@pytest.mark.parametrize(
    ("norm", "alike", "statuses"),
    [
        (2 * (1 + 0.9e-9), 1e-9, _ALL),
        (2 * (1 + 1.2e-9), 1e-9, _NONE),
        (2.5, None, _ALL),
        (None, 1e-9, _NONE),
    ],
)
def test_values_of_other_threads_are_within_what_rounding_makes(
    tmp_path: Path, norm: float | None, alike: float | None, statuses: list[str]
) -> None:
    points = [_point(back, _answer(alike=alike)) for back in ("nonblocking", "fence")]
    points.append(_point("fence", _answer("00ac", alike=alike, norm=norm), threads=2))
    assert _statuses(tmp_path, points) == [_ALL, _ALL, statuses]


def test_problems_of_other_sizes_have_other_answers(tmp_path: Path) -> None:
    """One that grows with the ranks is another one on more of them."""
    points = [_point("nonblocking", _answer()), _point("nonblocking", _answer("00ac", norm=3.0), ranks=3)]
    assert _statuses(tmp_path, points) == [_ALL, _ALL]
