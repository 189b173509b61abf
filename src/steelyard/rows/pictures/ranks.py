"""Pictures of ranks: how often each was last, and its own time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.base.units import format_bytes, format_time
from steelyard.render.axes import ink_on, names_axis, shade
from steelyard.render.chart import HALF, Boxes, Chart, Shades
from steelyard.results.facets import Ranks
from steelyard.rows.figure_groups import FigureGroup, Shown
from steelyard.rows.method_words import sees_ranks
from steelyard.rows.pictures.distributions import good_cells
from steelyard.rows.pictures.panels import left_out_words
from steelyard.stats.arrays import FloatArray

MOST_ROWS = 64  # of a picture; if there are more ranks, neighbours share a row
MOST_LINES = 6  # lines of a group that have pictures of their ranks
MOST_NUMBERS, MOST_COLUMNS = 160, 14  # cells, and columns, with numbers in them
OFTEN_LAST = 3.0  # times the share by chance: such a rank deserves a picture
NEARLY_ALWAYS = 0.9  # ... or this share of samples, if there are few ranks
APART = 1.1  # ... or an own time so many times the median rank's


@dataclass(frozen=True, slots=True)
class RankCells:
    """A table of ranks: `last[row, column]` is the share of samples in which one of the row's ranks was last.

    `own` is the largest own median of the row's ranks in ns, `middle` the median rank's of each column. If
    not every rank was kept (`is_chosen`), `own` is that of the row's first rank alone.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    last: FloatArray
    own: FloatArray
    middle: FloatArray
    is_chosen: bool


def rank_charts(group: FigureGroup) -> list[tuple[str, Chart, Chart]]:
    """Draw who was last, and own times, with a label, for lines whose ranks differ by more than chance.

    With sizes, a pair of pictures for each line, a column for each size; without, one for each number of
    ranks, a column for each op.
    """
    if group.is_sized:
        tables = [
            (line.label, [(format_bytes(item.row.bytes), item) for item in line.items])
            for line in group.lines
        ]
    else:
        by_ranks: dict[int, list[tuple[str, Shown]]] = {}
        for line in group.lines:
            for item in line.items:
                by_ranks.setdefault(item.row.ranks, []).append((line.label, item))
        tables = [(f"{ranks} ranks", columns) for ranks, columns in sorted(by_ranks.items())]
    seen = [
        (label, [(name, item) for name, item in columns if _shows_ranks(item)]) for label, columns in tables
    ]
    telling = [(label, own) for label, own in seen if any(_says_something(item) for _, item in own)]
    found = [
        (label if len(tables) > 1 else "", *_pair(rank_cells(own))) for label, own in telling[:MOST_LINES]
    ]
    if left_out := [label for label, _ in telling[MOST_LINES:]]:
        label, last, own_times = found[-1]
        found[-1] = label, last, replace(own_times, note=left_out_words(left_out, "line"))
    return found


def _shows_ranks(item: Shown) -> bool:
    """Do all ranks take part in the op, and does the method see which is last?"""
    row = item.row
    return (
        len(row.get(Ranks).rank_medians) > 1 and row.get(Ranks).slowest_rank is not None and sees_ranks(row)
    )


def _last(item: Shown) -> FloatArray:
    """Compute the share of samples in which each rank was last, shape (ranks,)."""
    counts = np.sum([cell.taken.slowest for cell in good_cells(item)], axis=0)
    return np.asarray(counts / counts.sum())


def _says_something(item: Shown) -> bool:
    own = np.asarray(item.row.get(Ranks).rank_medians)
    often = min(OFTEN_LAST / own.size, NEARLY_ALWAYS)
    return bool(_last(item).max() >= often or own.max() > APART * np.median(own))


def rank_cells(columns: Sequence[tuple[str, Shown]]) -> RankCells:
    """Table the shares and times of named points with one number of ranks; if ranks are many, neighbours
    share a row.
    """
    row = columns[0][1].row
    kept = row.get(Ranks).ranks_kept
    starts = np.arange(0, row.ranks, -(-row.ranks // MOST_ROWS)) if kept is None else np.array(kept)
    ends = (*starts[1:], row.ranks)
    last = np.array([np.add.reduceat(_last(item), starts) for _, item in columns]).T
    medians = [np.asarray(item.row.get(Ranks).rank_medians) for _, item in columns]
    return RankCells(
        rows=tuple(_rank_words(int(first), int(end) - 1) for first, end in zip(starts, ends, strict=True)),
        columns=tuple(name for name, _ in columns),
        last=last,
        own=np.array(medians if kept else [np.maximum.reduceat(median, starts) for median in medians]).T,
        middle=np.array([np.median(median) for median in medians]),
        is_chosen=kept is not None,
    )


def _rank_words(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}–{last}"


def _pair(cells: RankCells) -> tuple[Chart, Chart]:
    """Draw who was last, and own times, over the same cells; darker is later, and slower."""
    ratio = cells.own / cells.middle
    return (
        _heat_chart(
            cells,
            "was last, % of the samples",
            cells.last,
            [f"{100 * share:.0f}" for share in cells.last.ravel()],
            Shades(_DARKER, ("0 %", "50 %", "100 %")),
        ),
        _heat_chart(
            cells,
            f"own median{' of the first of each' * cells.is_chosen} / middle rank's",
            (np.log2(np.maximum(ratio, 1e-3)) + 1.0) / 2.0,
            [f"{one:.2f}" for one in ratio.ravel()],
            Shades(_DARKER, ("0.5", "1", "2")),
        ),
    )


_DARKER = tuple(shade(i / 15, is_even=False) for i in range(16))


def _heat_chart(
    cells: RankCells, title: str, shares: FloatArray, words: Sequence[str], shades: Shades
) -> Chart:
    """Draw a cell for each rank and column, in the colour of its share; with its number if there is room."""
    rows, columns = cells.last.shape
    y, x = (axis.ravel() for axis in np.mgrid[0:rows, 0:columns])
    colours = [shade(float(share), is_even=False) for share in shares.ravel()]
    has_numbers = rows * columns <= MOST_NUMBERS and columns <= MOST_COLUMNS
    tips = [
        f"rank {cells.rows[row]}, {cells.columns[column]}\nlast in {100 * cells.last[row, column]:.1f} %"
        f"\nown median {format_time(cells.own[row, column])}"
        for row, column in zip(y, x, strict=True)
    ]
    boxes = Boxes(
        x - 0.48, y - 0.46, x + 0.48, y + 0.46, colours,
        texts=words if has_numbers else (),
        inks=[ink_on(colour) for colour in colours],
        tips=tips,
    )  # fmt: skip
    return Chart(
        title=title,
        x=names_axis("", cells.columns, 7),
        y=names_axis("rank", cells.rows, 16, is_down=True),
        marks=(boxes,),
        height=70 + round(max(6, min(24, 400 / rows)) * rows),
        width=HALF,
        shades=shades,
        has_grid=False,
    )
