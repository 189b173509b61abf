"""Pictures of broadcasts: the deduced tree, over the end of each rank."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analyses.broadcast_algorithm.model import SeenAlgorithms, SeenTree
from steelyard.analyses.broadcast_algorithm.tables import tree_names
from steelyard.base.units import format_bytes, format_time
from steelyard.render.axes import linear_axis, style_of
from steelyard.render.chart import HALF, Axis, Bars, Chart, Dots
from steelyard.render.svg import RULE

MOST_NAMED = 24  # ranks beside the axis
MOST_TREES = 4  # pictures of one broadcast: the first size of each algorithm
_LINE = 13  # CSS pixels that a rank has
_MARGIN = 1.02  # beyond the last rank, so that its mark is whole
_LEAST_HEIGHT, _MOST_HEIGHT = 140, 520


def tree_charts(seen_algorithms: Sequence[SeenAlgorithms]) -> list[Chart]:
    """Draw a picture for each algorithm of each broadcast, at the smallest size that has it.

    A rank stands at its end, below those that the same rank served before it; a line leads to it from the
    rank that served it.
    """
    return [
        _chart(f"{name}, {format_bytes(tree.bytes)}: {tree.family}", tree)
        for one, name in zip(seen_algorithms, tree_names(seen_algorithms), strict=True)
        for least, _ in one.changes[:MOST_TREES]
        for tree in one.sizes
        if tree.bytes == least and tree.family is not None
    ]


def _chart(title: str, tree: SeenTree) -> Chart:
    order = _drawn_order(tree)
    place = {rank: float(-line) for line, rank in enumerate(order)}
    edges = [(tree.parents[rank], rank) for rank in order if tree.parents[rank] != rank]
    x0, x1 = ([tree.finishes[pair[i]] for pair in edges] for i in (0, 1))
    y0, y1 = ([place[pair[i]] for pair in edges] for i in (0, 1))
    tips = [f"rank {rank}: {format_time(tree.finishes[rank])}" for rank in order]
    every = -(-len(order) // MOST_NAMED)
    ticks = tuple((place[rank], str(rank)) for rank in order[::every])
    marks = (
        Bars(x0, y0, x1, y1, RULE, width=1),
        Dots([tree.finishes[rank] for rank in order], list(place.values()), style_of(0), tips=tips),
    )
    height = 60 + min(max(_LINE * len(order), _LEAST_HEIGHT), _MOST_HEIGHT)
    return Chart(
        title=title,
        x=linear_axis("done since the first start", 0.0, _MARGIN * max(tree.finishes), format_time),
        y=Axis("rank", 0.5 - len(order), 0.5, ticks),
        marks=marks,
        height=height,
        width=HALF,
        has_grid=False,
    )


def _drawn_order(tree: SeenTree) -> list[int]:
    """Order ranks: each above those that get the message from it, earlier ends above others."""
    served: dict[int, list[int]] = {}
    root = next(rank for rank, parent in enumerate(tree.parents) if parent == rank)
    for rank in sorted(range(len(tree.parents)), key=lambda one: tree.finishes[one], reverse=True):
        if rank != root:
            served.setdefault(tree.parents[rank], []).append(rank)
    order, stack = [], [root]
    while stack:
        order.append(rank := stack.pop())
        stack += served.get(rank, [])
    return order
