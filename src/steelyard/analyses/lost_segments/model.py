"""Test cases between hosts in which TCP sent segments again, because they were lost or late.

    share = segments sent again / segments sent, of all hosts together, in a launch of the test case

A network within a machine room loses next to nothing. A test case is named if the interval of its share over
launches lies above `LEAST_SHARE`; one launch names none.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.results.facets import Interfaces
from steelyard.results.row import Row
from steelyard.rows.labels import told_params
from steelyard.stats import Interval

LEAST_SHARE = 1e-3  # of segments: a tail that TCP probes for early is sent again now and then


class LostSegments(Struct, frozen=True, kw_only=True):
    """A test case and the share of its segments that were sent again."""

    op: str
    mpi: str | None
    bytes: int
    ranks: int
    hosts: int
    env: dict[str, str]
    params: Params
    share: Interval


def lost_segments(rows: Sequence[Row]) -> tuple[LostSegments, ...]:
    """Find those beyond chance, in the order of rows."""
    return tuple(
        LostSegments(
            op=row.op,
            mpi=row.mpi,
            bytes=row.bytes,
            ranks=row.ranks,
            hosts=row.hosts or 0,
            env=row.env,
            params=told_params(row, rows),
            share=Interval(network.tcp_resent, network.tcp_resent_low, network.tcp_resent_high),
        )
        for row in rows
        if (network := row.get(Interfaces)).tcp_resent and (network.tcp_resent_low or 0.0) > LEAST_SHARE
    )
