"""Static figures for papers: which there are, and that what is hostile in a name stays a name."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from further import further
from make_records import FakePoint, steady, write_folder
from steelyard.analyses.analysis import Made
from steelyard.analyses.overview import ReadFolder, shown_items
from steelyard.base.errors import InputError
from steelyard.judges.compare.default_comparisons import Comparisons
from steelyard.records.command_line import installing
from steelyard.records.schema import End
from steelyard.results.load import load
from steelyard.results.rows import rows_of
from steelyard.rows.figure_groups import group_items
from steelyard.rows.pictures.figures import COLUMN, DOTS_PER_INCH, FIGURE_FORMATS, Figure, figures_of

_MPIS = ("openmpi-4.1.4", "<script>$x_$")
_SIZES = (8, 64, 1024)
_LOST = End(point=0, status="failed", why="hang", flag=None, count=0, rejected=0, verified=None)


def _figures(folder: Path, points: list[FakePoint]) -> dict[str, Figure]:
    measured = load(write_folder(folder, points, launches=3))
    read = ReadFolder("mine", measured, Made(rows_of(measured)))
    groups = group_items(shown_items([read]))
    return {one.name: one for one in figures_of(groups, Comparisons([read]).ratios)}


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figure]:
    points = [FakePoint("mpi.pingpong", steady(1e3), bytes=size, mpi=mpi) for size in _SIZES for mpi in _MPIS]
    points += [
        FakePoint("mpi.bandwidth", steady(1e4), bytes=size, role="bandwidth", mpi=_MPIS[0]) for size in _SIZES
    ]
    points += [FakePoint("mpi.barrier", steady(5e2), bytes=0, mpi=mpi) for mpi in _MPIS]
    return _figures(tmp_path_factory.mktemp("figures") / "mine", points)


def test_times_rates_and_ratios_have_a_figure_each(figures: dict[str, Figure]) -> None:
    assert list(figures) == [
        *("mpi.pingpong-time", "mpi.pingpong-ratio", "mpi.bandwidth-bandwidth"),
        *("mpi.barrier-time", "mpi.barrier-ratio"),
    ]
    assert [key.label for key in figures["mpi.pingpong-time"].legend] == list(_MPIS)
    assert [key.label for key in figures["mpi.pingpong-ratio"].legend] == [_MPIS[1]]  # of the other


def test_svg_is_a_file_of_its_own(figures: dict[str, Figure]) -> None:
    for figure in figures.values():
        root = ET.fromstring(FIGURE_FORMATS["svg"](figure))
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert float(root.get("width", "0")) >= figure.chart.width
        assert float(root.get("height", "0")) > figure.chart.height or not figure.legend
        assert not [one for one in root.iter() if "script" in one.tag]
    words = [one.text for one in ET.fromstring(FIGURE_FORMATS["svg"](figures["mpi.pingpong-time"])).iter()]
    assert {*_MPIS, "8 B", "1 KiB"} <= set(words)


def test_png_is_as_wide_as_a_column_and_pdf_is_one(figures: dict[str, Figure]) -> None:
    pytest.importorskip("matplotlib")
    for figure in (figures["mpi.pingpong-time"], figures["mpi.barrier-ratio"]):
        png = FIGURE_FORMATS["png"](figure)
        assert png.startswith(b"\x89PNG")
        (width,) = struct.unpack(">I", png[16:20])
        assert width == pytest.approx(figure.chart.width / 96 * DOTS_PER_INCH, abs=1)
    assert figures["mpi.pingpong-time"].chart.width == COLUMN
    assert FIGURE_FORMATS["pdf"](figures["mpi.pingpong-ratio"]).startswith(b"%PDF")


def test_a_failed_case_and_many_sizes_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    points = [
        FakePoint("mpi.bcast", steady(1e3), bytes=2**i, ends={1: _LOST} if i == 3 else {}) for i in range(20)
    ]
    (figure,) = _figures(tmp_path / "mine", points).values()
    assert FIGURE_FORMATS["png"](figure)
    assert len(figure.chart.x.ticks) <= 6


def test_what_was_not_measured_has_no_figure(tmp_path: Path) -> None:
    points = [FakePoint("mpi.bcast", steady(1e3), ends=dict.fromkeys(range(1, 4), _LOST))]
    assert _figures(tmp_path / "mine", points) == {}


def test_without_matplotlib_a_sentence_says_how_to_get_it(
    figures: dict[str, Figure], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        InputError, match=re.escape(f"needs matplotlib; type: {installing('plot')}; SVG needs none: --to svg")
    ):
        FIGURE_FORMATS["pdf"](figures["mpi.barrier-time"])


_DRAWN = """
import sys
from make_records import FakePoint, steady
from pathlib import Path
from test_figures import _figures
from steelyard.rows.pictures.figures import FIGURE_FORMATS
points = [FakePoint("mpi.pingpong", steady(1e3), bytes=size) for size in (8, 64)]
figures = _figures(Path(sys.argv[1]), points)
sys.stdout.buffer.write(FIGURE_FORMATS["png"](figures["mpi.pingpong-time"]))
"""


@pytest.mark.parametrize("settings", [b"text.usetex: True\n", further(b"\xff")])
def test_settings_in_the_current_folder_run_no_programs(tmp_path: Path, settings: bytes) -> None:
    """They may have come with somebody's results, and would have a TeX run on what they say."""
    pytest.importorskip("matplotlib")
    (tmp_path / "matplotlibrc").write_bytes(settings)
    paths = os.pathsep.join(map(str, (Path(__file__).parent, *sys.path)))
    done = subprocess.run(
        [sys.executable, "-c", _DRAWN, str(tmp_path / "mine")],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths, "PATH": ""}, capture_output=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.startswith(b"\x89PNG")
    assert b"matplotlib" not in done.stderr
