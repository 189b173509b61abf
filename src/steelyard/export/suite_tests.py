"""Rows that are a test of another suite, and the numbers that it would have printed.

Other suites use a mean over a rank's repetitions, then over ranks. Ours is the mean of the same samples, with
equal weight for each launch. Numbers are None if a row has none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from steelyard.export.osu_tests import CALL, CALL_RATE, NUMBER, OSU_TESTS, PUT_OVERLAP
from steelyard.results.facets import Ranks, Rate, Samples
from steelyard.results.key import key_of
from steelyard.results.row import Row

OSU, IMB = "OSU Micro-Benchmarks", "Intel MPI Benchmarks"
_CHOSEN = ("type",)  # parameters that an option of their test chooses, too; not of OpenSHMEM's
_HALVED = ("osu_multi_lat", "osu_latency_mp")  # they print one way, our op is there and back
_OF_ONE = (CALL, CALL_RATE, NUMBER, PUT_OVERLAP)  # kinds of tests whose target does nothing
# They count the bytes of all blocks, our op those of one.
_WHOLE = ("osu_reduce_scatter_block", "osu_ireduce_scatter_block", "osu_reduce_scatter_block_persistent")


@dataclass(frozen=True, slots=True)
class Theirs:
    """A test of another suite, and its rows: an op with parameters."""

    suite: str
    name: str
    op: str
    params: Mapping[str, float | str]

    def has(self, row: Row) -> bool:
        """Is it a row of this test?"""
        chosen = () if self.op.startswith("shmem.") else _CHOSEN
        own = {name: value for name, value in self.params.items() if name not in chosen}
        return row.op == self.op and own.items() <= dict(row.params).items()

    @property
    def scale(self) -> float:
        """What they print, over the time of our op."""
        return 0.5 if self.name in _HALVED else 1.0


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of one test that differ only in size, the smallest first."""

    test: Theirs
    rows: tuple[Row, ...]


def blocks_of(rows: Sequence[Row], tests: Sequence[Theirs]) -> tuple[list[Block], list[Row]]:
    """Split the rows into those of each test and those of none, both in their order.

    A row of several tests belongs to the one that names most of its parameters, the first of them.
    """
    found: dict[object, list[Row]] = {}
    test_of: dict[object, Theirs] = {}
    others = []
    for row in rows:
        its = [test for test in tests if test.has(row)]
        if not its:
            others.append(row)
            continue
        test = max(its, key=lambda one: len(one.params))
        key = (test.name, *key_of(row, ("bytes",)))
        test_of[key] = test
        found.setdefault(key, []).append(row)
    blocks = [
        Block(test_of[key], tuple(sorted(own, key=lambda row: row.bytes))) for key, own in found.items()
    ]
    return blocks, others


def size_of(row: Row, test: Theirs) -> int:
    """Count the bytes of a row as the test does."""
    return row.bytes * (row.ranks if test.name in _WHOLE else 1)


def mean_us(row: Row, test: Theirs) -> float | None:
    """Compute the mean of the ranks' own means; if only some ranks time an op, of these.

    It is that of the slowest rank where theirs is of the rank that asks: a rank that answers times no whole
    round trip after a barrier, and the target of a call of OpenSHMEM does nothing.
    """
    is_of_one = test.name in _HALVED or OSU_TESTS.get(test.name, ("", ""))[1] in _OF_ONE
    ranks = rank_us(row, test, "max" if is_of_one else "avg")
    if ranks is not None and row.headline == "time":
        return ranks
    mean = row.get(Samples).mean
    return None if mean is None else mean * test.scale / 1e3


def rank_us(row: Row, test: Theirs, key: str) -> float | None:
    """Take `avg`, `min` or `max` of the ranks' own means."""
    ns = row.get(Ranks).osu.get(key)
    return None if ns is None else ns * test.scale / 1e3


def bandwidth_mb(row: Row) -> float | None:
    """Compute the millions of bytes per second at the mean, as other suites do."""
    rate, mean = row.get(Rate).bandwidth, row.get(Samples).mean  # the rate is at the row's time
    return None if not rate or not mean or not row.time else rate * row.time / mean / 1e6


def repetitions(row: Row) -> int:
    """Count the timed executions of the op in all launches."""
    timed = sum(launch.count * (launch.reps or 1) for launch in row.launches if launch.status == "ok")
    return timed or row.count
