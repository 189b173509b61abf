"""What benchmarks/peers_like.py measured, a line of JSON each, so that a part can be renewed."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from steelyard.base.units import format_bytes
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.stats import launch_interval

LEAST = 2  # launches of which an interval can be made
AGREE, DIFFER = "agree", "differ"
NEAR = 1.1  # a ratio from its inverse up to this says that two suites agree
WIDE = 1.25  # an interval that reaches further says little


class Way(Struct, frozen=True):
    """Further options of ours and of the original; none: both as by default."""

    ours: str = ""
    theirs: str = ""

    def __str__(self) -> str:
        """Format as `ours: --method batch; theirs: -c`."""
        said = (("ours", self.ours), ("theirs", self.theirs))
        return "; ".join(f"{who}: {words}" for who, words in said if words)


class Place(Struct, frozen=True):
    """Where and when: the versions of the original and of the MPI, the machine, the day."""

    suite: str
    mpi: str
    ranks: int
    machine: str
    day: str
    steelyard: str


class Compared(Struct, frozen=True):
    """A test at a size: medians over launches in the unit of the text, us or MB/s; ours over theirs."""

    test: str
    size: int | None  # bytes; None: a test without sizes
    ours: float
    theirs: float
    ratio: float
    low: float | None  # of the ratio, 95 %; None: one launch
    high: float | None
    launches: int
    way: Way
    place: Place

    @property
    def verdict(self) -> str:
        """Do both agree within 10 %? An interval that is wide, or reaches there, does not tell."""
        if self.low is None or self.high is None:
            return CANNOT_TELL
        is_sure = self.low >= 1 / WIDE and self.high <= WIDE
        if is_sure and 1 / NEAR <= round(self.ratio, 2) <= NEAR:
            return AGREE
        return DIFFER if self.low > NEAR or self.high < 1 / NEAR else CANNOT_TELL

    @property
    def size_words(self) -> str:
        """The size, or a stroke where the test has none."""
        return "-" if self.size is None else format_bytes(self.size)

    @property
    def ratio_words(self) -> str:
        """Format the ratio as `1.02 [0.98, 1.07]`."""
        return f"{self.ratio:.3f}" + ("" if self.low is None else f" [{self.low:.3f}, {self.high:.3f}]")

    @property
    def line(self) -> str:
        """Make a line of a table of Markdown."""
        numbers = f"{self.ours:.2f} | {self.theirs:.2f} | {self.ratio_words}"
        return f"| {self.test} | {self.size_words} | {numbers} |"


def compare(
    test: str, size: int | None, pairs: Sequence[tuple[float, float]], way: Way, place: Place
) -> Compared:
    """Compare launches that were neighbours, ours and theirs; theirs above 0."""
    here, there = (statistics.median(values) for values in zip(*pairs, strict=True))
    ratios = [a / b for a, b in pairs]
    low = high = None
    ratio = statistics.median(ratios)
    if len(ratios) >= LEAST:
        estimate = launch_interval(ratios)
        ratio, low, high = estimate.value, estimate.low, estimate.high
    return Compared(test, size, here, there, ratio, low, high, len(pairs), way, place)


def read_record(file: Path) -> list[Compared]:
    """Read all lines; a file that is not there has none."""
    if not file.exists():
        return []
    return [msgspec.json.decode(line, type=Compared) for line in file.read_text().splitlines()]


def renewed(before: Iterable[Compared], now: Sequence[Compared]) -> list[Compared]:
    """Put lines in place of those of the same test, size, way and MPI; others stay, new ones follow."""
    found: Mapping[tuple[str, int | None, Way, str], Compared] = {
        (one.test, one.size, one.way, one.place.mpi): one for one in (*before, *now)
    }
    return list(found.values())


def write_record(file: Path, lines: Iterable[Compared]) -> None:
    """Write all lines."""
    file.write_text("".join(f"{msgspec.json.encode(one).decode()}\n" for one in lines))
