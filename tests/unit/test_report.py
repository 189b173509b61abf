from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from make_records import FakePoint, regimes, steady, write_folder
from steelyard.base.errors import InputError
from steelyard.records.kinds import BLOCKING, NONBLOCKING, PERSISTENT
from steelyard.records.schema import End
from steelyard.render.chart import Curve, Dots
from steelyard.report import write_report
from steelyard.report.environment import settings_of
from steelyard.report.opening_sentences import title_words
from steelyard.results.load import load
from steelyard.results.rows import rows_of
from steelyard.rows.figure_groups import FigureGroup, Shown, group_items
from steelyard.rows.pictures.distributions import CURVE_POINTS, distribution_charts
from steelyard.rows.pictures.points import latency_charts

HANG = End(point=0, status="failed", why="hang: <b>no</b> observation & for 20 s")
ABSENT = End(point=0, status="skipped", why="needs MPI 4.0")
SIZES = (0, 8, 1024, 2**20)


def points() -> Iterator[FakePoint]:
    for mpi, factor in (("mpich-4.0.2", 1.0), ("openmpi-4.1.4", 1.3)):
        for size in SIZES:
            time = factor * (200 + size / 8)
            for op in ("mpi.allreduce", "mpi.iallreduce"):
                yield FakePoint(op, steady(time, count=300), bytes=size, mpi=mpi)
            lost = dict.fromkeys(range(1, 9), ABSENT)
            yield FakePoint("mpi.allreduce_init", steady(time, count=300), bytes=size, mpi=mpi, ends=lost)
        yield FakePoint("mpi.barrier", regimes(600 * factor, 1400 * factor), bytes=0, mpi=mpi)
    yield FakePoint("pthread.mutex", steady(18.0, count=300), bytes=0, mpi=None, ranks=1, ends={1: HANG})


class Outline(HTMLParser):
    """Collects the texts that a reader sees before anything is unfolded."""

    def __init__(self) -> None:
        super().__init__()
        self.folds: list[bool] = []  # are they open?
        self.in_summary = False
        self.shown: set[str] = set()
        self.open_by_default = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "details":
            self.folds.append(("open", None) in attrs)
            self.open_by_default += self.folds[-1]
        self.in_summary |= tag == "summary"

    def handle_endtag(self, tag: str) -> None:
        if tag == "details":
            self.folds.pop()
        self.in_summary &= tag != "summary"

    def handle_data(self, data: str) -> None:
        if all(self.folds[:-1] if self.in_summary else self.folds) and data.strip():
            self.shown.add(data.strip())


def items_of(folder: Path, name: str = "") -> list[Shown]:
    measured = load(folder)
    return [Shown(row, point, name) for row, point in zip(rows_of(measured), measured.points, strict=True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("report") / "out", list(points()), launches=3)


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return write_report([folder], folder / "report.html").read_text("utf-8")


class Loads(HTMLParser):
    """Collects what a browser would fetch, and the text that a reader sees."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.words: list[str] = []
        self.silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.silent += tag in ("script", "style")
        for name, value in attrs:
            if name in ("src", "srcset", "data", "action", "poster") or (name == "href" and tag == "link"):
                self.fetched.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        self.silent -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self.silent:
            self.words.append(data)


def read(page: str) -> tuple[list[str], str]:
    parser = Loads()
    parser.feed(page)
    return parser.fetched, " ".join(" ".join(parser.words).split())


def test_the_page_loads_nothing(page: str) -> None:
    fetched, _ = read(page)
    assert [address for address in fetched if not address.startswith("data:")] == []
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert len(page.encode()) < 4 * 2**20


def test_the_page_says_what_it_must(page: str) -> None:
    _, text = read(page)
    outcome = "1 of 27 test cases failed: "
    for words in (
        outcome,
        "AMD EPYC 7B13 · 2 cores · Linux 6.1.0 · mpich-4.0.2, openmpi-4.1.4 · 1 to 2 ranks · 2 to 3 launches",
        "Failed test cases",
        "Several modes",
        "hang: <b>no</b> observation & for 20 s",  # as text: it is escaped in the page
        "skipped: needs MPI 4.0",
        "Verified binding",
        "tick 10.0 ns",
        "gcc 12.2.0",
        "How to read this page",
    ):
        assert words in text
    assert "<b>no</b>" not in page
    assert text.index(outcome) < text.index("Failed test cases") < text.index("Where it ran")


@pytest.mark.parametrize(
    ("name", "ops", "told"),
    [
        ("loggp", ("mpi.bcast", "mpi.scan"), "loggp"),
        ("run", ("mpi.bcast", "mpi.scan"), "mpi.bcast and mpi.scan"),
        ("nightly", ("mpi.bcast",), "mpi.bcast"),
    ],
)
def test_a_plan_gives_the_title_to_several_ops(
    tmp_path: Path, name: str, ops: tuple[str, ...], told: str
) -> None:
    """What a plan is about is its name; `run` is that of ops on a command line."""
    points = [FakePoint(op, steady(500.0), bytes=8) for op in ops]
    measured = load(write_folder(tmp_path / "x", points, name=name))
    assert title_words({"x": measured}, rows_of(measured)).startswith(f"{told}, mpich-4.0.2, vm, ")


def test_the_title_says_what_was_compared_where_and_when(page: str) -> None:
    assert (
        "<title>5 operations of mpi.*, pthread.*, mpich-4.0.2 against openmpi-4.1.4, vm, 21 Nov 2026</title>"
        in page.replace("made, mpich", "5 operations of mpi.*, pthread.*, mpich")
    )


def test_rivals_are_answered_first(page: str) -> None:
    """Three launches tell nothing of times that differ by 30 %, and how many would do is said."""
    _, text = read(page)
    said = r"mpi\.allreduce: Open MPI 4\.1\.4 against MPICH 4\.0\.2: cannot tell in (\d) of \1 "
    found = re.search(said, text)
    assert found
    assert text[found.end() :].startswith("(about ")
    assert page.index("Open MPI 4.1.4 against") < page.index("<svg") < page.index("<table")


def test_what_is_long_is_folded(page: str) -> None:
    """Above the fold are, for each section, its pictures and its table; all else is inside details."""
    outline = Outline()
    outline.feed(page)
    assert {
        "Failed test cases.",
        "Histograms",
        "Cumulated",
        "Tails",
        "MPI_Init_thread",
    } & outline.shown == set()
    assert {"mpi.allreduce", "mpi.barrier", "Where it ran"} <= outline.shown
    assert outline.open_by_default <= 1  # the list of sections, where it is short


def test_the_page_runs_no_script(page: str) -> None:
    """A policy forbids scripts, and whatever is not part of the file; nothing in the page would break it."""
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert "<script" not in page
    assert not re.search(r"<[^>]* on[a-z]+=", page)
    assert "javascript:" not in page


def test_hostile_text_is_text(tmp_path: Path) -> None:
    """Names, reasons, hosts and parameters come from records, which others may have written."""
    bad = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    why, mpi = End(point=0, status="failed", why=bad), f"{bad.replace('/', '')}-1"
    made = [
        FakePoint(f"mpi.{bad}", steady(1e3, count=50), bytes=size, mpi=mpi, params={bad: bad})
        for size in (0, 8)
    ]
    made.append(FakePoint("mpi.lost", steady(1e3), bytes=0, mpi=mpi, ends={1: why}))
    folder = write_folder(
        tmp_path / "out", made, launches=1, machine={"host": bad, "kernel": bad, "cpu_model": bad, bad: bad}
    )
    campaign = json.loads((folder / "campaign.json").read_text())
    campaign |= {"name": bad, "command": ["steelyard", bad], "created": bad}
    (folder / "campaign.json").write_text(json.dumps(campaign))
    page = write_report([folder], tmp_path / "a.html").read_text("utf-8")
    assert "<script" not in page
    assert "<img" not in page
    _, text = read(page)
    assert "<script>alert(1)</script>" in text


def test_the_command_is_there_to_be_copied(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [FakePoint("mpi.bcast", steady(1e3, count=50))], launches=1)
    assert "The command" not in write_report([folder], tmp_path / "old.html").read_text("utf-8")
    campaign = json.loads((folder / "campaign.json").read_text())
    campaign["command"] = ["steelyard", "run", "mpi.bcast", "--out", "a folder"]
    (folder / "campaign.json").write_text(json.dumps(campaign))
    _, text = read(write_report([folder], tmp_path / "new.html").read_text("utf-8"))
    assert "steelyard run mpi.bcast --out 'a folder'" in text


def test_several_folders_are_told_apart_and_compared(tmp_path: Path) -> None:
    both = [
        write_folder(tmp_path / name, [FakePoint("mpi.barrier", steady(time, count=50), bytes=0)], launches=6)
        for name, time in (("before", 500.0), ("after", 1000.0))
    ]
    page = write_report(both, tmp_path / "two.html").read_text("utf-8")
    assert "<title>mpi.barrier, before against after, vm, 21 Nov 2026</title>" in page
    _, text = read(page)
    assert re.search(r"mpi\.barrier: after takes (1\.9|2\.0)\d times as long as before: slower\.", text)
    assert re.search(r"before[^:]*: mpi\.barrier (49|50)\d ns\.", text)


def test_folders_of_the_same_name_are_told_apart_by_path(tmp_path: Path) -> None:
    both = [
        write_folder(
            tmp_path / name / "out", [FakePoint("mpi.barrier", steady(5e2, count=50), bytes=0)], launches=1
        )
        for name in ("a", "b")
    ]
    _, text = read(write_report(both, tmp_path / "two.html").read_text("utf-8"))
    assert str(both[0]) in text


def test_nothing_measured_is_a_page_too(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "out", [FakePoint("mpi.scan", steady(9.0), ends={1: HANG})], launches=1)
    _, text = read(write_report([folder], tmp_path / "a.html").read_text("utf-8"))
    assert "1 of 1 test case failed: mpi.scan" in text


def test_refusals(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(InputError, match="no results"):
        write_report([tmp_path], tmp_path / "a.html")
    with pytest.raises(InputError, match="is a folder"):
        write_report([folder], tmp_path)


def groups_of(folder: Path) -> dict[str, FigureGroup]:
    return {group.name: group for group in group_items(items_of(folder))}


def test_forms_of_a_collective_stand_together(folder: Path) -> None:
    groups = groups_of(folder)
    assert list(groups) == ["mpi.allreduce", "mpi", "pthread"]
    group = groups["mpi.allreduce"]
    assert (group.sizes, group.is_sized, group.common) == (SIZES, True, "2 ranks")
    assert [(line.label, line.form, line.colour) for line in group.lines][:3] == [
        ("mpi.allreduce, mpich-4.0.2", BLOCKING, 0),
        ("mpi.iallreduce, mpich-4.0.2", NONBLOCKING, 0),
        ("mpi.allreduce_init, mpich-4.0.2", PERSISTENT, 0),
    ]
    assert {line.colour for line in group.lines[3:]} == {1}
    assert not groups["mpi"].is_sized


def test_distributions_are_thinned(tmp_path: Path) -> None:
    made = [FakePoint("mpi.bcast", steady(1000.0, count=20_000), bytes=0)]
    (group,) = group_items(items_of(write_folder(tmp_path / "out", made, launches=1)))
    (chart,) = distribution_charts(group)
    (curve,) = chart.marks_of(Curve)
    assert len(curve.x) == CURVE_POINTS
    assert bool(np.all(np.diff(curve.x) >= 0))
    assert (curve.y[0], curve.y[-1]) == (0.0, 1.0)


def test_launches_weigh_alike_in_a_distribution(tmp_path: Path) -> None:
    """A launch that needed ten times the observations does not hide the other one."""

    def uneven(rng: np.random.Generator, launch: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.full(2000 if launch == 1 else 200, 1000.0 * launch)

    folder = write_folder(tmp_path / "out", [FakePoint("mpi.bcast", uneven, bytes=0)], launches=2)
    (group,) = group_items(items_of(folder))
    (chart,) = distribution_charts(group)
    (curve,) = chart.marks_of(Curve)
    median = group.lines[0].items[0].row.median or 0
    assert float(np.mean(np.asarray(curve.x) * median < 1500)) == pytest.approx(0.5, abs=0.01)


def test_failed_points_are_crosses_and_unsettled_ones_hollow(tmp_path: Path) -> None:
    made = [
        FakePoint("mpi.bcast", steady(1e3, count=200), bytes=8, flag="TIME"),
        FakePoint("mpi.bcast", steady(1e3, count=200), bytes=16, ends={1: HANG}),
        FakePoint("mpi.bcast", steady(1e3, count=200), bytes=32),
    ]
    (group,) = group_items(items_of(write_folder(tmp_path / "out", made, launches=1)))
    (chart,) = latency_charts(group)
    crosses = [dots for dots in chart.marks_of(Dots) if dots.style.marker == "cross"]
    assert [(dots.x, dots.tips) for dots in crosses] == [
        ([4.0], ["mpi.bcast, 16 B: failed, hang: <b>no</b> observation & for 20 s"])
    ]
    (medians,) = [dots for dots in chart.marks_of(Dots) if dots.hollow]
    assert list(medians.hollow) == [True, False]


def test_bindings_that_are_alike_are_shown_once(folder: Path) -> None:
    bindings = settings_of(load(folder)).bindings
    assert [binding.title for binding in bindings] == [
        "mpich-4.0.2, 2 ranks",
        "openmpi-4.1.4, 2 ranks",
        "no MPI, 1 rank",
    ]
    first = bindings[0]
    assert first.launches == "1-3"
    assert [line.cells for line in first.table.lines] == [("0", "vm", "0", "0"), ("1", "vm", "1", "1")]
    assert [(core.cpus, core.ranks) for core in first.cores] == [("0", "0"), ("1", "1")]
