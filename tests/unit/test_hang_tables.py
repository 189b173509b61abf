"""Where ranks hung, as a table: nobody looks for it in raw records."""

from __future__ import annotations

from pathlib import Path

import msgspec

from make_records import FakePoint, steady, write_folder
from steelyard.analyses.hangs.tables import hang_tables
from steelyard.analyses.overview import read_rows
from steelyard.export.export_input import ExportedFolder
from steelyard.export.formats import write_results
from steelyard.records.parts import StuckRank
from steelyard.records.schema import End
from steelyard.render.table import Line
from steelyard.report import write_report
from steelyard.results.row import Row
from steelyard.results.rows import results


def _stuck(rank: int, calls: tuple[str, ...], phase: str = "samples") -> StuckRank:
    return StuckRank(rank=rank, host=f"h{rank % 2}", op="mpi.bcast", phase=phase, sample=17, calls=calls)


def _hung(where: tuple[StuckRank, ...]) -> FakePoint:
    end = End(point=0, status="failed", why="hang: no record for 4s, ended by the watchdog", where=where)
    return FakePoint("mpi.bcast", steady(1e3), bytes=8, ends={2: end})


_WAITING = tuple(
    _stuck(rank, ("poll", f"libmpi.so+0x{rank:x}", "libmpi.so+0xb", "MPI_Bcast")) for rank in range(63)
)
_ODD = _stuck(63, (), "setup")


def _rows(tmp_path: Path, *where: StuckRank) -> tuple[Row, ...]:
    return results(
        write_folder(tmp_path, [_hung(where), FakePoint("mpi.bcast", steady(1e3), bytes=64)], launches=3)
    )


def test_ranks_at_one_place_are_one_line_and_the_odd_one_comes_first(tmp_path: Path) -> None:
    (table,) = hang_tables(_rows(tmp_path, *_WAITING, _ODD))
    name = "mpi.bcast 8 B"
    assert table.lines == (
        Line((name, "2", "63", "h1", "setup", "17", "functions not told")),
        Line((name, "2", "0-62", "h0 and h1", "samples", "17", "in poll < libmpi.so < MPI_Bcast")),
    )


def test_of_many_places_the_last_ones_are_counted(tmp_path: Path) -> None:
    (table,) = hang_tables(_rows(tmp_path, *(_stuck(rank, (f"f{rank}",)) for rank in range(9))))
    assert len(table.lines) == 5
    assert table.lines[-1].cells[-3:] == ("4-8", "", "5 ranks at 5 other places")


def test_nothing_is_said_where_nothing_hung(tmp_path: Path) -> None:
    assert hang_tables(_rows(tmp_path)) == ()


def test_json_and_report_have_it_too(tmp_path: Path) -> None:
    _rows(tmp_path, _ODD)
    write_report([tmp_path], tmp_path / "report.html")
    assert "Where ranks hung" in (tmp_path / "report.html").read_text()
    read = read_rows(tmp_path)
    write_results(ExportedFolder(tmp_path, read.made, ()))
    point = msgspec.json.decode((tmp_path / "results.json").read_bytes())["points"][0]
    assert [one["where"] for one in point["launches"]] == [
        [],
        [{**msgspec.to_builtins(_ODD), "calls": []}],
        [],
    ]
