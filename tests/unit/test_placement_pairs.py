"""Pairs of CPUs in tables and as a matrix: what the report and the terminal show of placements."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import msgspec
from msgspec.structs import replace

from make_records import FakePoint, steady, write_folder
from placed import placed_point, tables_text
from record_lines import unsealed
from steelyard.analyses.placement_pairs.model import MOST_LINES, pair_tables, pictured
from steelyard.analyses.placement_pairs.pictures import matrix_chart
from steelyard.base.units import format_time
from steelyard.records.campaign_file import Placement
from steelyard.render.chart import Boxes, Image
from steelyard.render.svg import svg
from steelyard.report import write_report
from steelyard.results.rows import results
from steelyard.rows.labels import row_labels


def test_a_table_of_pairs_like_the_text(tmp_path: Path) -> None:
    points = [
        *(placed_point(0, 1, time=200.0, taking=(1,)), placed_point(0, 2, kind="same-core", time=50.0)),
        placed_point(3, 3, kind="same-cpu", time=9000.0),
        FakePoint("mpi.pingpong", steady(210.0, count=200)),
        FakePoint("mpi.barrier", steady(400.0, count=200), bytes=0),
    ]
    folder = write_folder(tmp_path / "out", points, launches=6)
    rows = results(folder)
    (table,) = pair_tables(rows)
    assert table.title.startswith("mpi.pingpong, 8 B, mpich-4.0.2, 2 ranks")
    names = [line[0] for line in table.lines]
    assert names == ["default", "0 – 1", "0 – 2", "3 – 3"]
    assert [line[3] for line in table.lines] == [
        "CPUs 0|1",
        "shared L3, CPU 1 takes the interrupts",
        "same core",
        "same CPU",
    ]
    assert set(table.pairs) == {(0, 1), (0, 2), (3, 3)}
    text = tables_text(folder)
    assert "shared L3, CPU 1 takes the interrupts" in text
    page = write_report([folder], tmp_path / "report.html").read_text("utf-8")
    assert page.count("<h3>From CPU to CPU</h3>") == 1
    assert "shared L3, CPU 1 takes the interrupts" in page


def test_an_interval_that_says_nothing_is_not_written_out(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [placed_point(0, 1)], launches=1)
    rows = [msgspec.structs.replace(row, time_low=1e-4, time_high=3e24) for row in results(folder)]
    (table,) = pair_tables(rows)
    assert [line[2] for line in table.lines] == ["> 10x"]


def test_records_alone_tell_where_points_were(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [placed_point(0, 1), placed_point(1, 0)], launches=2)
    (folder / "campaign.json").unlink()
    placed = {row.point: row.placed for row in results(folder)}
    assert placed == {0: Placement("shared-l3", (0, 1)), 1: Placement("shared-l3", (1, 0))}


def test_the_matrix_has_a_cell_for_each_pair_and_its_mirror(tmp_path: Path) -> None:
    pairs = list(combinations((0, 1, 5, 7), 2))
    points = [placed_point(a, b, time=100.0 * (a + b), taking=(7,) if b == 7 else ()) for a, b in pairs]
    points.append(placed_point(5, 0, time=900.0))
    (table,) = pair_tables(results(write_folder(tmp_path / "out", points, launches=1)))
    chart = matrix_chart(table)
    assert chart is not None
    (boxes,) = chart.marks_of(Boxes)
    places = ((round(y + 0.48), round(x + 0.48)) for y, x in zip(boxes.y0, boxes.x0, strict=True))
    cells = dict(zip(places, boxes.texts, strict=True))
    place = {0: 0, 1: 1, 5: 2, 7: 3}
    assert len(cells) == 12
    for a, b in pairs:
        assert cells[place[a], place[b]] == format_time(table.pairs[a, b].median or 0)
    assert cells[place[7], place[1]] == cells[place[1], place[7]]  # measured one way round
    assert cells[place[5], place[0]] == format_time(table.pairs[5, 0].median or 0)  # measured both ways
    assert cells[place[5], place[0]] != cells[place[0], place[5]]
    assert [text for _, text in chart.x.ticks] == ["0", "1", "5", "7*"]


def test_no_matrix_without_two_cpus(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [placed_point(1, 1, kind="same-cpu")], launches=1)
    (table,) = pair_tables(results(folder))
    assert matrix_chart(table) is None


def test_of_many_pairs_the_lines_show_one_of_each_class(tmp_path: Path) -> None:
    """The matrix and its table have them all."""
    pairs = list(combinations(range(8), 2))
    points = [placed_point(a, b, kind="same-core" if b == a + 4 else "shared-l3") for a, b in pairs]
    points.append(FakePoint("mpi.barrier", steady(400.0, count=200), bytes=0))
    folder = write_folder(tmp_path / "out", points, launches=1)
    rows = results(folder)
    assert len(pairs) > MOST_LINES
    assert sorted(pictured(rows)) == [0, pairs.index((0, 4)), len(pairs)]
    page = write_report([folder], tmp_path / "report.html").read_text("utf-8")
    assert page.count(">6 – 7</td>") == 1


def test_a_large_matrix_is_an_image(tmp_path: Path) -> None:
    points = [placed_point(0, other) for other in range(1, 80)]
    (table,) = pair_tables(results(write_folder(tmp_path / "out", points, launches=1)))
    chart = matrix_chart(table)
    assert chart is not None
    (image,) = chart.marks_of(Image)
    assert (len(image.rows), len(image.rows[0])) == (80, 80)
    assert image.rows[1][2] is None
    assert image.rows[0][79] is not None
    assert image.rows[0][79] == image.rows[79][0]
    assert 'href="data:image/png;base64,' in svg(chart)


def test_two_hosts_are_a_pair_of_another_host(tmp_path: Path) -> None:
    point = FakePoint("mpi.pingpong", steady(9000.0, count=200))
    folder = write_folder(tmp_path / "out", [point], launches=1)
    path = next((folder / "records").glob("*.jsonl"))
    text = unsealed(path.read_text())
    path.write_text(text.replace('"rank":1,"host":"vm"', '"rank":1,"host":"other"'))
    (row,) = results(folder)
    assert row.placed == Placement("other-host", (0, 1))
    assert row.placement == "vm:0|other:1"
    assert pair_tables([row]) == ()  # its own row says all of it
    assert "placement" in row_labels([row]).common
    assert "placement" not in row_labels([replace(row, hosts=2)]).common
    (table,) = pair_tables([row, replace(row, placed=None)])
    assert table.lines[1][3] == "other host"
    assert matrix_chart(table) is None  # CPU 1 of another host is not CPU 1 of this one
