"""The picture of a comparison, and what a report says of arms first."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from make_records import FakePoint, steady, write_folder
from steelyard.judges.compare.pictures import MOST_ROWS, STYLES, forest_chart, shown_cases
from steelyard.judges.compare.scale import FASTER, SAME, SLOWER
from steelyard.judges.compare.verdicts import CaseVerdict, Promise, Verdicts
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.render.chart import Bars, Boxes, Dots
from steelyard.report import write_report


def _case(size: int | None, verdict: str, ratio: float | None = 1.0, op: str = "mpi.bcast") -> CaseVerdict:
    ends = (ratio / 1.02, ratio * 1.02) if ratio else (None, None)
    return CaseVerdict(
        op=op,
        bytes=size,
        ranks=2,
        point_a=None if size is None else 1,
        point_b=None if size is None else 2,
        a="a-1",
        b="b-2",
        ratio=ratio,
        low=ends[0],
        high=ends[1],
        p=0.5,
        verdict=verdict,
        launches_needed=None,
        why="",
    )


def _verdicts(points: list[CaseVerdict], ops: list[CaseVerdict]) -> Verdicts:
    return Verdicts(
        verdict=points[0].verdict,
        arms=("a-1", "b-2"),
        by_turns=True,
        launches=12,
        promise=Promise(0.01, len(points) + len(ops), "few false alarms"),
        points=tuple(points),
        ops=tuple(ops),
        missing=0,
        refused=(),
    )


def test_each_verdict_has_a_shape_of_its_own() -> None:
    markers = [style.marker for style in STYLES.values()]
    assert len(set(markers)) == len(markers) == 5
    points = [_case(8, SLOWER, 1.3), _case(64, FASTER, 0.8), _case(512, CANNOT_TELL), _case(4096, SAME)]
    chart = forest_chart(_verdicts(points, [_case(None, CANNOT_TELL)]), 0.05)
    assert [text for _, text in chart.y.ticks] == [
        *("mpi.bcast 8 B", "mpi.bcast 64 B", "mpi.bcast 512 B", "mpi.bcast 4 KiB"),
        "mpi.bcast, all",
    ]
    drawn = {dots.style.marker: dots for dots in chart.marks_of(Dots)}
    assert (drawn["right"].x, drawn["left"].x, drawn["circle"].hollow) == ([1.3], [0.8], [True, True])
    assert drawn["right"].hollow == [False]
    (band,) = chart.marks_of(Boxes)
    assert (band.x0, band.x1) == ([1 / 1.05], [1.05])
    assert [key.label for key in chart.legend] == ["slower", "faster", "same within 5 %", "cannot tell"]
    assert [key.is_hollow for key in chart.legend] == [False, False, False, True]


def test_of_many_test_cases_those_that_differ_are_drawn() -> None:
    points = [_case(1 + i, SLOWER if i % 10 == 0 else CANNOT_TELL, 1.0 + i / 100) for i in range(100)]
    found = _verdicts(points, [_case(None, CANNOT_TELL)])
    shown = shown_cases(found)
    assert len(shown) == 11 <= MOST_ROWS
    assert {one.verdict for one in shown[:-1]} == {SLOWER}
    assert forest_chart(found, 0.05).note == "90 more test cases in the table"
    slow = _verdicts([_case(1 + i, SLOWER, 2.0) for i in range(100)], [])
    assert len(shown_cases(slow)) == MOST_ROWS


def test_an_interval_too_long_to_draw_ends_at_the_edge_and_still_holds_one() -> None:
    """From 0.08 to 1170 around 65: cut at a tenth of the ratio it would seem to exclude 1."""
    wide = replace(_case(8, CANNOT_TELL, 65.0), low=0.08, high=1170.0)
    chart = forest_chart(_verdicts([wide], []), 0.05)
    bar = next(bars for bars in chart.marks_of(Bars) if bars.colour == STYLES[CANNOT_TELL].colour)
    assert (list(bar.x0), list(bar.x1)) == ([chart.x.low], [chart.x.high])
    assert chart.x.low < 1
    short = forest_chart(_verdicts([_case(8, SAME, 1.0), wide], []), 0.05)
    bar = next(bars for bars in short.marks_of(Bars) if bars.colour == STYLES[SAME].colour)
    assert (list(bar.x0), list(bar.x1)) == ([1 / 1.02], [1.02])


def test_what_has_no_ratio_has_a_row_and_no_mark() -> None:
    chart = forest_chart(_verdicts([replace(_case(0, CANNOT_TELL, None), sized=False)], []), 0.05)
    assert [text for _, text in chart.y.ticks] == ["mpi.bcast"]
    assert chart.marks_of(Dots) == []


def _arms(folder: Path, factor: float, launches: int, plan: dict[str, object]) -> Path:
    points = [
        FakePoint("mpi.bcast", steady(1000 * times, count=40, between=0.01), bytes=size, mpi=mpi)
        for size in (8, 1024)
        for mpi, times in (("a-1", 1.0), ("b-2", factor))
    ]
    return write_folder(folder, points, launches=launches, plan=plan)


_AGAINST = '<span class="word">b-2</span> against <span class="word">a-1</span></h2>'


@pytest.mark.parametrize(
    ("launches", "plan", "sentence"),
    [
        (12, {"arms": {"mpi": ["a", "b"]}}, "mpi.bcast: b-2 takes 1.2"),
        (12, {}, "mpi.bcast: b-2 takes 1.2"),  # launches of two MPIs alternate anyway
        (3, {"arms": {"mpi": ["a", "b"]}}, ": cannot tell in 2 of 2."),
        (3, {}, "mpi.bcast: b-2 takes 1.2"),  # nothing was asked, nothing can be told: ratios alone
    ],
)
def test_the_report_of_arms_answers_first(
    tmp_path: Path, launches: int, plan: dict[str, object], sentence: str
) -> None:
    folder = _arms(tmp_path / "out", 1.25, launches, plan)
    page = write_report([folder], tmp_path / "page.html").read_text("utf-8")
    assert page.index(sentence) < page.index("<svg")
    has_picture = launches == 12 or bool(plan)
    assert (_AGAINST in page) == has_picture
    if has_picture:
        assert page.index(_AGAINST) < page.index("mpi.bcast, all") < page.index("mpi.bcast</h2>")


def test_folders_are_compared_without_a_promise(tmp_path: Path) -> None:
    pairs = [("before", 1.0), ("after", 2.0)]
    folders = [
        write_folder(
            tmp_path / name, [FakePoint("mpi.bcast", steady(1000 * times, count=40))], launches=8, seed=seed
        )
        for seed, (name, times) in enumerate(pairs, 1)
    ]
    page = write_report(folders, tmp_path / "page.html").read_text("utf-8")
    assert " times as long as before: slower." in page
    assert "he rivals were measured at different times" in page
