from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from make_records import FakePoint, regimes, steady, write_folder
from steelyard.errors import InputError
from steelyard.groups import BLOCKING, NONBLOCKING, PERSISTENT, Group, Item, base_op, group_items
from steelyard.observations import load
from steelyard.plots import CURVE_POINTS, chosen_sizes, distribution_figures, latency_figure
from steelyard.records import End
from steelyard.report import write_report
from steelyard.report.setting import machine_words, settings_of
from steelyard.results import rows_of

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


def items_of(folder: Path, name: str = "") -> list[Item]:
    measured = load(folder)
    return [Item(row, point, name) for row, point in zip(rows_of(measured), measured.points, strict=True)]


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
    verdict = (
        "18 of 27 points were measured over 2 to 3 launches, 16 of them settled; 1 failed; 8 were skipped."
    )
    assert verdict in text
    for words in (
        "Failed points",
        "Several modes",
        "hang: <b>no</b> observation & for 20 s",  # as text: it is escaped in the page
        "skipped: needs MPI 4.0",
        "AMD EPYC 7B13",
        "Verified binding",
        "tick 10.0 ns",
        "gcc 12.2.0",
        "How to read this page",
        "0 B – 1 MiB",
    ):
        assert words in text
    assert "<b>no</b>" not in page
    assert text.index("18 of 27") < text.index("Failed points") < text.index("Where it ran")


def test_each_picture_has_its_place(page: str) -> None:
    """Charts, distributions, histograms, tails, ranks and launches of allreduce, of barrier, of mutex."""
    lines, sizes = 4, len(SIZES)
    allreduce = 2 + sizes + lines + sizes + 2 * lines + 1
    barrier, mutex = 1 + 1 + 1 + 1 + 2, 1 + 1 + 1 + 1
    assert page.count('data-root-id="') == allreduce + barrier + mutex


def test_several_folders_are_told_apart(folder: Path, tmp_path: Path) -> None:
    other = write_folder(
        tmp_path / "after", [FakePoint("mpi.barrier", steady(500.0, count=50), bytes=0)], launches=2
    )
    _, text = read(write_report([folder, other], tmp_path / "two.html").read_text("utf-8"))
    assert "after : 1 of 1 point was measured over 2 launches" in text
    assert "mpich-4.0.2, after" in text


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
    assert "0 of 1 point was measured over no launch, 0 of them settled; 1 failed." in text


def test_refusals(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(InputError, match="no records"):
        write_report([tmp_path], tmp_path / "a.html")
    with pytest.raises(InputError, match="is a folder"):
        write_report([folder], tmp_path)


@pytest.mark.parametrize(
    ("op", "base", "form"),
    [
        ("mpi.allreduce", "mpi.allreduce", BLOCKING),
        ("mpi.iallreduce", "mpi.allreduce", NONBLOCKING),
        ("mpi.allreduce_init", "mpi.allreduce", PERSISTENT),
        ("mpi.ineighbor_alltoallv", "mpi.neighbor_alltoallv", NONBLOCKING),
        ("mpi.mock.iscan", "mpi.mock.scan", NONBLOCKING),
        ("mpi.isend", "mpi.isend", BLOCKING),
        ("pthread.init", "pthread.init", BLOCKING),
    ],
)
def test_base_op(op: str, base: str, form: str) -> None:
    assert base_op(op) == (base, form)


def groups_of(folder: Path) -> dict[str, Group]:
    return {group.name: group for group in group_items(items_of(folder))}


def test_forms_of_a_collective_stand_together(folder: Path) -> None:
    groups = groups_of(folder)
    assert list(groups) == ["mpi.allreduce", "mpi", "pthread"]
    group = groups["mpi.allreduce"]
    assert (group.sizes, group.is_sized, group.common) == (SIZES, True, "2 ranks, method batch")
    assert [(line.label, line.form, line.colour) for line in group.lines][:3] == [
        ("mpi.allreduce, mpich-4.0.2", BLOCKING, 0),
        ("mpi.iallreduce, mpich-4.0.2", NONBLOCKING, 0),
        ("mpi.allreduce_init, mpich-4.0.2", PERSISTENT, 0),
    ]
    assert {line.colour for line in group.lines[3:]} == {1}
    assert not groups["mpi"].is_sized


def test_sizes_chosen_for_distributions_hold_ends_and_modes(tmp_path: Path) -> None:
    made = [
        FakePoint("mpi.bcast", regimes(200.0, 450.0) if size == 64 else steady(200.0, count=200), bytes=size)
        for size in (0, *(2**power for power in range(12)))
    ]
    (group,) = group_items(items_of(write_folder(tmp_path / "out", made, launches=1)))
    sizes = chosen_sizes(group)
    assert len(sizes) == 4
    assert {0, 64, 2048} <= set(sizes)


def test_distributions_are_thinned(tmp_path: Path) -> None:
    made = [FakePoint("mpi.bcast", steady(1000.0, count=20_000), bytes=0)]
    (group,) = group_items(items_of(write_folder(tmp_path / "out", made, launches=1)))
    (plot,) = distribution_figures(group)
    (curve,) = [renderer.data_source.data for renderer in plot.renderers]
    assert curve["x"].size == CURVE_POINTS
    assert bool(np.all(np.diff(curve["x"]) >= 0))
    assert (curve["y"][0], curve["y"][-1]) == (0.0, 1.0)


def test_launches_weigh_alike_in_a_distribution(tmp_path: Path) -> None:
    """A launch that needed ten times the observations does not hide the other one."""

    def uneven(rng: np.random.Generator, launch: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.full(2000 if launch == 1 else 200, 1000.0 * launch)

    folder = write_folder(tmp_path / "out", [FakePoint("mpi.bcast", uneven, bytes=0)], launches=2)
    (group,) = group_items(items_of(folder))
    (plot,) = distribution_figures(group)
    (curve,) = [renderer.data_source.data for renderer in plot.renderers]
    assert float(np.mean(curve["x"] < 1500)) == pytest.approx(0.5, abs=0.01)


def test_failed_points_are_crosses_and_unsettled_ones_hollow(tmp_path: Path) -> None:
    made = [
        FakePoint("mpi.bcast", steady(1e3, count=200), bytes=8, flag="TIME"),
        FakePoint("mpi.bcast", steady(1e3, count=200), bytes=16, ends={1: HANG}),
        FakePoint("mpi.bcast", steady(1e3, count=200), bytes=32),
    ]
    (group,) = group_items(items_of(write_folder(tmp_path / "out", made, launches=1)))
    renderers = latency_figure(group).renderers
    crosses = [one for one in renderers if getattr(one.glyph, "marker", None) == "x"]
    assert [one.data_source.data["x"] for one in crosses] == [[4.0]]
    (fills,) = [one.data_source.data["fill"] for one in renderers if one.glyph.__class__.__name__ == "Line"]
    assert fills[0] == "white"
    assert fills[1] != "white"


def test_machine_in_words() -> None:
    words = dict(
        machine_words(
            {
                "host": "vm",
                "cores": [[0, 2], [1, 3]],
                "memory_bytes": 2**33,
                "governor": None,
                "load": [0.5, 0.25, 0.0],
                "caches": [{"level": 1, "type": "Data", "bytes": 32768, "instances": 2}],
                "cpus": [0, 1],
                "colour": "blue",
            }
        )
    )
    assert words == {
        "host": "vm",
        "cores": "2 with 4 hardware threads",
        "memory": "8 GiB",
        "load": "0.50, 0.25, 0.00 over 1, 5 and 15 minutes",
        "caches": "L1 data 2 × 32 KiB",
        "colour": "blue",
    }


def test_bindings_that_are_alike_are_shown_once(folder: Path) -> None:
    bindings = settings_of(load(folder)).bindings
    assert [binding.title for binding in bindings] == [
        "mpich-4.0.2, 2 ranks",
        "openmpi-4.1.4, 2 ranks",
        "no MPI, 1 rank",
    ]
    first = bindings[0]
    assert first.launches == "1–3"
    assert first.rows == (("0", "vm", "0", "0"), ("1", "vm", "1", "1"))
    assert [(core.cpus, core.ranks) for core in first.cores] == [("0", "0"), ("1", "1")]


def test_a_machine_nobody_described_has_no_picture(tmp_path: Path) -> None:
    made = [FakePoint("mpi.barrier", steady(5e2, count=50), bytes=0)]
    folder = write_folder(tmp_path / "out", made, launches=1, machine={})
    assert settings_of(load(folder)).bindings[0].cores == ()
    (folder / "campaign.json").unlink()
    assert json.dumps(settings_of(load(folder)).machine) == "[]"
