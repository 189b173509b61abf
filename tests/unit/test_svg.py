"""Charts as SVG: well-formed, inside their frames, told apart without colour, whatever their texts say."""

from __future__ import annotations

import base64
import math
import re
import struct
import xml.etree.ElementTree as ET
import zlib
from itertools import pairwise

import numpy as np
import pytest

from steelyard.render.axes import (
    MARKERS,
    MOST_COLOURS,
    PALETTE,
    ink_on,
    linear_axis,
    log_axis,
    log_ticks,
    names_axis,
    shade,
    size_axis,
    style_of,
)
from steelyard.render.chart import (
    Axis,
    Band,
    Bars,
    Boxes,
    Chart,
    Curve,
    Dots,
    Image,
    Key,
    Mark,
    Outline,
    Shades,
    Style,
)
from steelyard.render.phone import WIDTH, is_crowded, phone_chart, phone_columns
from steelyard.render.svg import FONT, svg, swatch
from steelyard.render.table import Line, Table, number, remark, words
from steelyard.rows.pictures.style import form_style

BLUE = Style("#0a4a86")
X, Y = Axis("x", 0.0, 10.0, ((0.0, "0"), (10.0, "10"))), Axis("y", 1.0, 100.0, ((10.0, "ten"),), is_log=True)
MARKS: tuple[Mark, ...] = (
    Curve([0, 5, 10], [1, 10, 100], BLUE, tip="a < b"),
    Curve([0, 5, 10], [100, 10, 1], BLUE, is_step=True),
    Band([0, 10], [1, 2], [3, 4], "#0a4a86"),
    Dots([5], [10], BLUE, hollow=[True], tips=["<&>\"'"]),
    Bars([0], [1], [10], [100], "#0a4a86"),
    Boxes([0], [1], [5], [10], ["#0a4a86"], texts=["<b>"], tips=["&"]),
    Outline(np.array([0.0, 5.0, 10.0]), np.array([1.0, 10.0, 1.0]), "#0a4a86"),
    Image(0, 1, 10, 100, [["#ff0000", None]]),
)


def drawn(*marks: Mark, title: str = "") -> ET.Element:
    return ET.fromstring(svg(Chart(title, X, Y, marks, shades=Shades(("#000000", "#ffffff"), ("<", ">")))))


def test_every_mark_is_drawn_and_every_text_is_text() -> None:
    root = drawn(*MARKS, title="<script>alert('x')</script>")
    assert [one.tag for one in root.iter() if one.tag == "script"] == []
    titles = {one.text for one in root.iter("title")}
    assert {"a < b", "<&>\"'", "&"} <= titles
    assert {"<b>", "<script>alert('x')</script>"} <= {one.text for one in root.iter("text")}


def test_a_point_is_where_its_axes_say() -> None:
    """The middle of a linear and of a logarithmic axis is the middle of the frame."""
    root = drawn(Dots([5], [10], BLUE))
    inner = root.find("svg")
    assert inner is not None
    (dot,) = inner.iter("circle")
    assert float(dot.attrib["cx"]) == pytest.approx(float(inner.attrib["width"]) / 2, abs=0.1)
    assert float(dot.attrib["cy"]) == pytest.approx(float(inner.attrib["height"]) / 2, abs=0.1)


def test_a_step_holds_the_height_of_the_next_point() -> None:
    """The share at or above a time is that of the next time that was seen."""
    root = drawn(Curve([0, 10], [100, 1], BLUE, is_step=True))
    inner = root.find("svg")
    assert inner is not None
    (path,) = inner.iter("path")
    assert re.fullmatch(r"M0 0V[\d.]+H[\d.]+", path.attrib["d"])


def test_values_outside_an_axis_are_numbers_still() -> None:
    text = svg(Chart("", X, Y, (Curve([-1e9, 1e9], [0.0, 1e30], BLUE), Dots([0], [0.0], BLUE))))
    assert "nan" not in text
    assert "inf" not in text


def test_an_image_is_a_png_of_its_cells() -> None:
    href = next(one.attrib["href"] for one in drawn(MARKS[-1]).iter("image"))
    data = base64.b64decode(href.removeprefix("data:image/png;base64,"))
    assert struct.unpack(">II", data[16:24]) == (2, 1)
    packed = data[data.index(b"IDAT") + 4 : data.index(b"IEND") - 8]
    assert zlib.decompress(packed) == b"\0" + bytes.fromhex("ff0000ff00000000")


def test_labels_do_not_stand_in_each_other() -> None:
    ticks = tuple((float(i), f"label {i}") for i in range(40))
    root = ET.fromstring(svg(Chart("", Axis("", 0, 39, ticks), Y, ())))
    places = [float(one.attrib["x"]) for one in root.iter("text") if (one.text or "").startswith("label")]
    assert 1 < len(places) < 40
    assert min(b - a for a, b in pairwise(places)) > 6 * len("label 1")


def test_long_names_are_cut_and_told_to_the_pointer() -> None:
    name = "a name that is much longer than there is any room for beside a picture of half a page"
    root = ET.fromstring(svg(Chart("", X, names_axis("", [name], 1), ())))
    (label,) = [one for one in root.iter("text") if (one.text or "").startswith("a name")]
    assert (label.text or "").endswith("…")
    assert [one.text for one in label.iter("title")] == [name]


def luminance(colour: str) -> float:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def named(*names: str, width: int = 1040) -> Chart:
    """A line for each name, with a mark in its middle."""
    dots = Dots([5.0] * len(names), list(map(float, range(len(names)))), BLUE)
    return Chart("", X, names_axis("", names, len(names), is_down=True), (dots,), 60, width)


def test_on_a_phone_long_names_stand_above_their_lines_and_marks_are_in_sight() -> None:
    names = ("mpi.reduce_scatter_block_init 64 KiB, window=64", "mpi.bcast 8 B", "mpi.bcast, all")
    small = phone_chart(named(*names))
    assert small is not None
    picture = ET.fromstring(svg(small))
    texts = {text.text: text for text in picture.iter() if text.tag.endswith("text")}
    tops = [float(texts[name].get("y") or 0) for name in names]
    (frame,) = [one for one in picture if one.tag.endswith("svg")]
    marks = [float(one.get("cy") or 0) + float(frame.get("y") or 0) for one in frame.iter() if one.get("cy")]
    assert tops[0] >= FONT
    for before, top, mark in zip([0.0, *marks[:-1]], tops, marks, strict=True):
        assert before < top < mark - 7  # the half of a marker, and room
    assert float(frame.get("x") or 0) + float(frame.get("width") or 0) <= WIDTH
    assert float(frame.get("width") or 0) > 0.9 * WIDTH


@pytest.mark.parametrize(
    "chart", [named("8 B", "64 B", width=WIDTH), named("a long name of a row", width=WIDTH)]
)
def test_pictures_that_a_phone_shows_are_drawn_once(chart: Chart) -> None:
    assert phone_chart(chart) is None


def test_a_curve_is_as_narrow_as_a_phone_with_its_largest_size_in_sight() -> None:
    small = phone_chart(Chart("", X, Y, MARKS))
    assert small is not None
    assert (small.width, small.marks, small.names_above) == (WIDTH, MARKS, False)


def test_lines_are_told_apart_in_grey() -> None:
    """Any two differ in their markers, or else by a fifth of all greys."""
    styles = [style_of(i) for i in range(MOST_COLOURS)]
    assert len(PALETTE) == len(MARKERS) == MOST_COLOURS <= 10
    for i, one in enumerate(styles):
        for other in styles[:i]:
            apart = abs(luminance(one.colour) - luminance(other.colour))
            assert one.marker != other.marker or apart > 0.2 * 255
    assert form_style(0, "nonblocking").dash != form_style(0, "persistent").dash


@pytest.mark.parametrize("is_even", [True, False])
def test_shades_rise_or_fall_in_grey(is_even: bool) -> None:
    greys = [luminance(shade(i / 20, is_even)) for i in range(21)]
    assert greys in (sorted(greys), sorted(greys, reverse=True))
    assert (ink_on("#ffffff"), ink_on("#000000")) == ("#1c1c1c", "#ffffff")


def test_axes_hold_their_values_and_have_round_ticks() -> None:
    axis = log_axis("time", [150.0, 9e5], "{:g}".format)
    assert axis.low < 150 < 9e5 < axis.high
    assert [text for _, text in axis.ticks] == ["100", "1000", "10000", "100000", "1e+06"] or len(
        axis.ticks
    ) > 3
    assert all(axis.low <= tick <= axis.high for tick, _ in axis.ticks)
    assert [tick for tick, _ in linear_axis("", 0.0, 1.0).ticks] == pytest.approx(
        [0, 0.2, 0.4, 0.6, 0.8, 1.0]
    )
    assert [text for _, text in size_axis([0, 8, 64]).ticks] == ["0 B", "8 B", "64 B"]
    assert len(log_ticks(1.0, 1.01, "{:g}".format)) >= 1
    assert math.isclose(float(log_axis("", [], "{:g}".format).place(1.0)), 0.5)


def test_a_swatch_looks_like_its_line() -> None:
    root = ET.fromstring(swatch(Key("x", Style("#0a4a86", "7 4", "square"))))
    assert root.find("path[@stroke-dasharray='7 4']") is not None
    assert len(root.findall("path")) == 2


def test_a_table_that_a_phone_has_no_room_for_has_its_first_words_above() -> None:
    """Nine columns of a kernel do not fit, four of a message do; numbers have no name to stand above."""
    wide = (
        words("op"),
        words("MPI"),
        *map(number, ("ranks", "nx", "ny", "nz", "rate", "±", "time")),
        remark(),
    )
    cells = ("app.hpccg", "openmpi-4.1.4", "2", "64", "64", "64", "304 Mop/s", "5.7 %", "5.52 s", "noisy")
    crowded = Table("", "", wide, (Line(cells), Line(("app.hpccg", "failed"))))
    few = Table("", "", (*wide[:1], *wide[6:8], *wide[9:]), (Line((cells[0], *cells[6:8], cells[9])),))
    assert (is_crowded(crowded), phone_columns(crowded)) == (True, 8)
    assert (is_crowded(few), phone_columns(few)) == (False, 3)
    numbers = Table("", "", wide[2:], (Line(tuple(cell * 9 for cell in cells[2:])),))
    assert (is_crowded(numbers), phone_columns(numbers)) == (False, 7)
