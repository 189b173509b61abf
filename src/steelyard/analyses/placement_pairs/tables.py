"""Pairs of CPUs or hosts, as a table."""

from __future__ import annotations

from steelyard.analyses.placement_pairs.model import PairTable
from steelyard.render.table import Table, number, plain_lines, words


def pair_table(pairs: PairTable) -> Table:
    """Make a line for each pair of CPUs or hosts, from that of rank or thread 0 to the other."""
    return Table(
        f"from {pairs.level} to {pairs.level}, by pair" if pairs.level == "host" else "from CPU to CPU",
        pairs.title,
        (number(f"{pairs.level}s"), number("time", strong=True), number("interval"), words("where")),
        plain_lines(pairs.lines),
    )
