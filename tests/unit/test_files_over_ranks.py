"""Files over ranks: curves of what all ranks together move, and sentences on the share of the floor."""

from __future__ import annotations

from typing import Any

import pytest

from flat_rows import made_row
from steelyard.analyses.analysis import Made
from steelyard.analyses.files_over_ranks.model import BYTES, NAMES, files_over_ranks
from steelyard.analyses.files_over_ranks.pictures import files_over_ranks_charts
from steelyard.analyses.files_over_ranks.tables import files_over_ranks_names, files_over_ranks_tables
from steelyard.analyses.model_facts import layer_sentences
from steelyard.records.campaign_file import FILES, Placement
from steelyard.records.kinds import FILE
from steelyard.render.terminal import Paper, table_text
from steelyard.results.row import Row
from steelyard.results.rows import HEADLINES
from steelyard.rows.row_words import rate_words


def _row(op: str, ranks: int, **keys: Any) -> Row:
    """All ranks together move 1 MiB in 1 ms on one rank, and in as long on two."""
    usual: dict[str, Any] = {"role": FILE, "bytes": 65536, "median": 1e6, "ci_low": 0.8e6, "ci_high": 1.25e6}
    usual |= {"env": {FILES: "/a"}, "bandwidth": ranks * 1e9, "placement": "0"}
    return made_row(op=op, ranks=ranks, **usual | keys)


def _names(op: str, ranks: int) -> Row:
    return _row(op, ranks, bytes=0, sized=False, bandwidth=None, mops=0.05 * ranks)


def test_a_curve_has_each_number_of_ranks() -> None:
    rows = [_row("file.pwrite", ranks, of_roof=0.5 if ranks == 4 else None) for ranks in (4, 1, 2)]
    (one,) = files_over_ranks(rows)
    assert (one.op, one.folder, one.counted) == ("file.pwrite", "/a", BYTES)
    assert [(point.ranks, point.rate.value) for point in one.points] == [(1, 1e9), (2, 2e9), (4, 4e9)]
    assert one.points[0].rate.low == pytest.approx(0.8e9)
    assert one.points[0].rate.high == pytest.approx(1.25e9)
    assert (one.best.ranks, one.points[-1].of_floor) == (4, 0.5)


def test_each_placement_of_a_number_of_ranks_has_a_line() -> None:
    rows = [
        _row("file.pwrite", 1),
        *(
            _row(
                "file.pwrite",
                2,
                placed=Placement(kind="list", cpus=(0, cpu)),
                bandwidth=cpu * 1e9,
            )
            for cpu in (1, 2)
        ),
    ]
    found = files_over_ranks(rows)
    assert [(one.placement, [point.rate.value for point in one.points]) for one in found] == [
        ("list 0,1", [1e9, 1e9]),
        ("list 0,2", [1e9, 2e9]),
    ]
    (table,) = files_over_ranks_tables(found)
    text = table_text(table, Paper(80, is_pipe=True))
    assert "placement" in text
    assert "0,2" in text
    assert len(set(files_over_ranks_names(found))) == 2


@pytest.mark.parametrize(
    "other",
    [
        {"bytes": 4096},
        {"env": {FILES: "/b"}},
        {"params": {"pattern": "strided"}},
        {"op": "file.pread"},
        {"status": "failed"},
        {"bandwidth": None},
        {"role": "collective"},
    ],
    ids=str,
)
def test_what_else_differs_is_no_curve(other: dict[str, Any]) -> None:
    assert (
        files_over_ranks([_row("file.pwrite", 1), _row(**{"op": "file.pwrite", "ranks": 2, **other})]) == ()
    )


def test_names_are_counted_without_bytes() -> None:
    (one,) = files_over_ranks([_names("file.create", 1), _names("file.create", 2)])
    assert (one.counted, [point.rate.value for point in one.points]) == (NAMES, [5e4, 1e5])


def test_table_and_pictures() -> None:
    rows = [_row(op, ranks) for op in ("file.pwrite", "file.pread") for ranks in (1, 2)]
    found = files_over_ranks([*rows, _names("file.create", 1), _names("file.create", 2)])
    (table,) = files_over_ranks_tables(found)
    lines = [line.split() for line in table_text(table, Paper(120)).splitlines() if line.startswith("file.")]
    assert lines == [
        ["file.pwrite", "64KiB", "1–2", "1.00GB/s", "2.00GB/s", "2.00GB/son2", "-"],
        ["file.pread", "64KiB", "1–2", "1.00GB/s", "2.00GB/s", "2.00GB/son2", "-"],
        ["file.create", "-", "1–2", "50.0k/s", "100k/s", "100k/son2", "-"],
    ]
    titles = [chart.title for chart in files_over_ranks_charts(found)]
    assert titles == ["files over ranks, pieces of 64 KiB", "files over ranks, names"]
    assert files_over_ranks_tables(()) == ()


def test_only_what_differs_in_an_op_is_told() -> None:
    """Ops of MPI-IO have parameters that others lack, and that says nothing."""
    given = {"file": "shared", "hint.cb_nodes": 0.0}
    rows = [_row("file.pwrite", ranks, params={"file": "shared"}) for ranks in (1, 2)]
    rows += [
        _row("mpi.io.write_at", ranks, params=given | {"view": view}) for ranks in (1, 2) for view in "ab"
    ]
    (table,) = files_over_ranks_tables(files_over_ranks(rows))
    names = [column.name for column in table.columns]
    assert names == ["op", "view", "bytes", "ranks", "on fewest", "on most", "at best", "of floor"]


def test_the_share_of_the_floor_is_a_sentence() -> None:
    shares = {"of_roof_low": None, "of_roof_high": None, "below": "file.pwrite", "mpi": "openmpi-4.1.4"}
    told = [
        _row(
            "mpi.io.write_at",
            2,
            of_roof=share,
            **shares | {"of_roof_low": 0.9 * share, "of_roof_high": high * share},
        )
        for share, high in ((0.5, 1.1), (0.95, 1.1), (0.1, 3.0))
    ]
    (sentence,) = [one for one in layer_sentences(Made(told)) if "MPI-IO" in one]
    assert sentence == (
        "MPI-IO of Open MPI 4.1.4 reaches 50 % (mpi.io.write_at, 64 KiB) to 95 % (mpi.io.write_at, 64 KiB) "
        "of the same pieces without MPI."
    )


def test_files_are_headed_by_what_they_move() -> None:
    assert HEADLINES[FILE] == ("bandwidth", "names")
    assert rate_words(_names("file.create", 1)) == "50.0 k/s"
    assert rate_words(_row("file.pwrite", 1, mops=0.0006, headline="bandwidth")) == "600 /s"
