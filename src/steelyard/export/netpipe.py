"""The file np.out that NetPIPE 5 writes: bytes; Gbit/s on average, least and most; one way in us.

As `netpipe.c` of version 5 writes it. Each launch is a trial; the time of one is its median.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steelyard.export.export_input import Export
from steelyard.export.suite_tests import Block
from steelyard.export.suite_text import ORIGIN, Printed, suite_text
from steelyard.results.row import Row

NETPIPE_TESTS = ("netpipe",)


def netpipe_text(what: Export) -> bytes:
    """Write the lines of np.out. Raises InputError if none of the rows is of ping-pong."""
    return suite_text(what, Printed("NetPIPE", NETPIPE_TESTS, _head, _line))


def _head(_: Block) -> Iterator[str]:
    yield ORIGIN


def _line(_: Block, row: Row) -> str | None:
    times = [launch.median for launch in row.launches if launch.median]
    if not times:
        return None
    average, slowest, fastest = (8 * row.bytes / ns for ns in (np.mean(times), max(times), min(times)))
    return f"{row.bytes:9d} {average:9.3f} {slowest:9.3f} {fastest:9.3f} {np.mean(times) / 1e3:7.2f}"
