"""Pictures of ranks: how often each was last, and what each took by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bokeh import palettes
from numpy.typing import NDArray

from steelyard.groups import Group, Item
from steelyard.plots.axes import FIGURE, INK, dress, figure, models, name_axis
from steelyard.plots.shapes import good_cells
from steelyard.units import format_bytes, format_time
from steelyard.wording import method_words

FloatArray = NDArray[np.float64]

MOST_ROWS = 64  # of a picture: of more ranks, neighbours stand together
MOST_LINES = 6  # lines of a group that have pictures of their ranks
MOST_NUMBERS, MOST_COLUMNS = 120, 14  # cells, and columns, that have their numbers written in them
OFTEN_LAST = 3.0  # times what chance would give: this rank is worth a picture
NEARLY_ALWAYS = 0.9  # ... or in so many observations, where there are few ranks
APART = 1.1  # ... or one whose own time is so many times the middle rank's


@dataclass(frozen=True, slots=True)
class RankCells:
    """A table of ranks: `last[row, column]` is in what share of the observations one of the row's was last.

    `own` is the largest own median of the row's ranks in ns, `middle` the middle rank's of each column.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    last: FloatArray
    own: FloatArray
    middle: FloatArray


def rank_figures(group: Group) -> list[tuple[str, Any, Any]]:
    """Label, who was last, and own times, of lines whose ranks differ by more than chance.

    With sizes, a pair of pictures for each line, a column for each size; without, one for each number of
    ranks, a column for each op.
    """
    if group.is_sized:
        tables = [
            (line.label, [(format_bytes(item.row.bytes), item) for item in line.items])
            for line in group.lines
        ]
    else:
        by_ranks: dict[int, list[tuple[str, Item]]] = {}
        for line in group.lines:
            for item in line.items:
                by_ranks.setdefault(item.row.ranks, []).append((line.label, item))
        tables = [(f"{ranks} ranks", columns) for ranks, columns in sorted(by_ranks.items())]
    found: list[tuple[str, Any, Any]] = []
    for label, columns in tables:
        seen = [(name, item) for name, item in columns if _shows_ranks(item)]
        if any(_says_something(item) for _, item in seen) and len(found) < MOST_LINES:
            found.append((label if len(tables) > 1 else "", *_pair(rank_cells(seen))))
    return found


def _shows_ranks(item: Item) -> bool:
    """Whether all ranks stand for the op, and the method sees which is last."""
    row = item.row
    return len(row.rank_medians) > 1 and row.slowest_rank is not None and method_words(row).sees_ranks


def _last(item: Item) -> FloatArray:
    """In what share of the observations each rank was last, shape (ranks,)."""
    counts = np.sum([cell.taken.slowest for cell in good_cells(item)], axis=0)
    return np.asarray(counts / counts.sum())


def _says_something(item: Item) -> bool:
    own = np.asarray(item.row.rank_medians)
    often = min(OFTEN_LAST / own.size, NEARLY_ALWAYS)
    return bool(_last(item).max() >= often or own.max() > APART * np.median(own))


def rank_cells(columns: Sequence[tuple[str, Item]]) -> RankCells:
    """The shares and times of named points of one number of ranks; of many, neighbours stand together."""
    ranks = len(columns[0][1].row.rank_medians)
    together = -(-ranks // MOST_ROWS)
    starts = np.arange(0, ranks, together)
    last = np.array([np.add.reduceat(_last(item), starts) for _, item in columns]).T
    medians = [np.asarray(item.row.rank_medians) for _, item in columns]
    return RankCells(
        rows=tuple(_rank_words(int(first), min(int(first) + together, ranks) - 1) for first in starts),
        columns=tuple(name for name, _ in columns),
        last=last,
        own=np.array([np.maximum.reduceat(one, starts) for one in medians]).T,
        middle=np.array([np.median(one) for one in medians]),
    )


def _rank_words(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}–{last}"


def _pair(cells: RankCells) -> tuple[Any, Any]:
    """Who was last, and own times, over the same cells."""
    rows, columns = cells.last.shape
    ratio = cells.own / cells.middle
    y, x = (axis.ravel() for axis in np.mgrid[0:rows, 0:columns])
    data: dict[str, Any] = {
        "x": x.astype(np.float32),
        "y": y.astype(np.float32),
        "share": cells.last.ravel().astype(np.float32),
        "log_ratio": np.log2(np.maximum(ratio, 1e-3)).ravel().astype(np.float32),
        "rank": [cells.rows[one] for one in y],
        "column": [cells.columns[one] for one in x],
        "own": [format_time(value) for value in cells.own.ravel()],
    }
    if rows * columns <= MOST_NUMBERS and columns <= MOST_COLUMNS:
        data["share_words"] = [f"{100 * share:.0f}" for share in cells.last.ravel()]
        data["log_ratio_words"] = [f"{one:.2f}" for one in ratio.ravel()]
    source = models.ColumnDataSource(data)
    blues, reds = list(palettes.Blues256)[::-1], list(palettes.RdBu11)
    return (
        _heat_figure(cells, source, "was last, % of the observations", "share", (blues, 0.0, 1.0)),
        _heat_figure(cells, source, "own median / middle rank's", "log_ratio", (reds, -1.0, 1.0)),
    )


def _heat_figure(
    cells: RankCells, source: Any, title: str, field: str, shades: tuple[list[str], float, float]
) -> Any:
    """A cell for each rank and column, in the colour of `field`; the shades run between two numbers."""
    palette, low, high = shades
    rows, columns = cells.last.shape
    plot = figure(
        x_range=models.Range1d(-0.5, columns - 0.5),
        y_range=models.Range1d(rows - 0.5, -0.5),
        height=110 + max(6, min(26, 400 // rows)) * rows,
        title=title,
        **FIGURE,
    )
    dress(plot)
    plot.grid.grid_line_color = None
    mapper = models.LinearColorMapper(palette=palette, low=low, high=high)
    fill = {"field": field, "transform": mapper}
    drawn = plot.rect("x", "y", 1, 1, source=source, fill_color=fill, line_color="white", line_width=0.5)
    if f"{field}_words" in source.data:
        plot.text(
            "x",
            "y",
            f"{field}_words",
            source=source,
            text_align="center",
            text_baseline="middle",
            text_font_size="11px",
            text_color={"field": field, "transform": models.LinearColorMapper(**_inks(low))},
        )
    name_axis(plot.xaxis[0], cells.columns, 7)
    name_axis(plot.yaxis[0], cells.rows, 16)
    plot.yaxis.axis_label = "rank"
    tips = [("rank", "@rank"), ("", "@column"), ("was last in", "@share{0.0 %}"), ("own median", "@own")]
    plot.add_tools(models.HoverTool(renderers=[drawn], tooltips=tips))
    return plot


def _inks(low: float) -> dict[str, Any]:
    """White on dark cells: beyond half way, to either side of the middle or up from nothing."""
    if low < 0:
        return {"palette": ["white", INK, INK, INK, INK, "white"], "low": -0.9, "high": 0.9}
    return {"palette": [INK, "white"], "low": 0.1, "high": 1.1}
