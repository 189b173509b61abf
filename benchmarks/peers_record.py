"""What benchmarks/peers_like.py measured, a line of JSON each, so that a part can be renewed."""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from steelyard.base.units import format_bytes
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.stats import find_modes, launch_interval
from steelyard.stats.interval import rank_pair

LEAST = 2  # launches of which an interval can be made
FEW = 6  # launches of which an interval is made of their order alone, whatever they scatter like
LEVEL = 0.95  # of the interval of each line by itself
ENOUGH = 12  # launches of which the interval leaves out the extremes of either side
WITHIN, DIFFER = "within 10 %", "differs"
LEAST_NEAR, MOST_NEAR = 0.9, 1.1  # ratios of what is within 10 %
STEADY = 0.05  # the middle half of launches, of their median: with more they are said to scatter
FAR = 10.0  # an end of an interval beyond it says nothing more
_AND = ", "
HALF_DIGIT = 0.005  # OSU and IMB print two decimals: a number is known to half of the last one


def next_look(launches: int) -> int:
    """The number of launches at which a line is looked at next: 6, 12, 24, ..."""
    look = FEW
    while look <= launches:
        look *= 2
    return look


class Way(Struct, frozen=True):
    """Further options of ours and of the original; none: both as by default."""

    ours: str = ""
    theirs: str = ""

    def __str__(self) -> str:
        """Format as `ours: --method batch; theirs: -c`."""
        said = (("ours", self.ours), ("theirs", self.theirs))
        return "; ".join(f"{who}: {words}" for who, words in said if words)


class Place(Struct, frozen=True):
    """Where and when: the versions of the original and of the MPI, the machine, the day, samples of ours."""

    suite: str
    mpi: str
    ranks: int
    machine: str
    day: str  # or days, with commas
    steelyard: str
    samples: int = 100

    @property
    def days(self) -> set[str]:
        """The days on which its launches were made."""
        return set(self.day.split(_AND))

    @property
    def programs(self) -> Place:
        """The same on whatever day: launches of one machine and of the same programs belong together."""
        return structs.replace(self, day="")


class Compared(Struct, frozen=True):
    """A test at a size: medians over launches in the unit of the text, us or MB/s; ours over theirs.

    `low` and `high` are those of launches alone; `bounds` holds what the decimals do not say, too.
    """

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
    pairs: tuple[tuple[float, float], ...] = ()  # of each launch; empty: of a record that kept none

    @property
    def rounding(self) -> tuple[float, float]:
        """By what the ratio may be too high, and too low, because both numbers are rounded."""
        return (
            (1 - HALF_DIGIT / self.ours) / (1 + HALF_DIGIT / self.theirs),
            (1 + HALF_DIGIT / self.ours) / (1 - HALF_DIGIT / self.theirs),
        )

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The interval of the ratio, launches and decimals together; None: one launch."""
        if self.low is None or self.high is None:
            return None
        down, up = self.rounding
        return self.low * down, self.high * up

    @property
    def verdict(self) -> str:
        """Is all of the interval within 10 %, or none of it? If only a part is, nobody can tell."""
        return CANNOT_TELL if self.bounds is None else _verdict(*self.bounds)

    @property
    def is_near(self) -> bool:
        """Is the ratio itself within 10 %, whatever its interval says?"""
        return LEAST_NEAR <= self.ratio <= MOST_NEAR

    @property
    def scatter(self) -> tuple[float, float] | None:
        """The middle half of the launches of ours and of theirs, of their medians; None: none were kept."""
        if len(self.pairs) < LEAST:
            return None
        here, there = (_middle_half(values) for values in zip(*self.pairs, strict=True))
        return here, there

    @property
    def unclear(self) -> str:
        """Why it cannot be told whether both are within 10 %."""
        if self.is_too_short:
            return "decimals"
        if self.launches < ENOUGH or self.scatter is None:
            return "few launches"
        sides = zip(("ours", "theirs"), zip(*self.pairs, strict=True), strict=True)
        several = [who for who, values in sides if len(find_modes([[value] for value in values])) > 1]
        if several:
            return f"modes of {' and '.join(several)}"
        here, there = self.scatter
        if max(here, there) <= STEADY:
            return "near the limit"
        return "theirs scatters" if there >= here else "ours scatters"

    @property
    def is_too_short(self) -> bool:
        """Is the number so small that its decimals do not tell, however many launches there are?"""
        down, up = self.rounding
        at_best = _verdict(self.ratio * down, self.ratio * up)
        return self.verdict == CANNOT_TELL == at_best

    @property
    def is_settled(self) -> bool:
        """Would more launches say nothing new? Asked at 6, 12, 24, ..., for each look may err."""
        looks, rest = divmod(self.launches, FEW)
        is_look = looks > 0 and rest == 0 and looks.bit_count() == 1
        return is_look and (self.verdict != CANNOT_TELL or self.is_too_short)

    @property
    def is_open(self) -> bool:
        """May more launches tell what these do not?"""
        return self.verdict == CANNOT_TELL and not self.is_too_short

    @property
    def size_words(self) -> str:
        """The size, or a stroke where the test has none."""
        return "-" if self.size is None else format_bytes(self.size)

    @property
    def ratio_words(self) -> str:
        """Format the ratio as `1.020 [0.980, 1.070]`."""
        if self.bounds is None:
            return f"{self.ratio:.3f}"
        low, high = self.bounds
        ends = ("< 0.1" if low < 1 / FAR else f"{low:.3f}", "> 10" if high > FAR else f"{high:.3f}")
        return f"{self.ratio:.3f} [{', '.join(ends)}]"

    @property
    def line(self) -> str:
        """Make a line of a table of Markdown."""
        numbers = f"{self.ours:.2f} | {self.theirs:.2f} | {self.ratio_words}"
        return f"| {self.test} | {self.size_words} | {numbers} |"


def _verdict(low: float, high: float) -> str:
    """Say whether a ratio with this interval is within 10 %."""
    if low >= LEAST_NEAR and high <= MOST_NEAR:
        return WITHIN
    return DIFFER if low > MOST_NEAR or high < LEAST_NEAR else CANNOT_TELL


def _middle_half(values: Sequence[float]) -> float:
    """How far apart the quartiles are, of the median."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / middle


def compare(
    test: str, size: int | None, pairs: Sequence[tuple[float, float]], way: Way, place: Place
) -> Compared:
    """Compare launches that were neighbours, ours and theirs; theirs above 0.

    The interval is of the order of the ratios alone. That of a run is wider where launches are alike; here
    both sides of a ratio, in random order, had the same minute.
    """
    here, there = (statistics.median(values) for values in zip(*pairs, strict=True))
    ratios = [a / b for a, b in pairs]
    low = high = None
    ratio = statistics.median(ratios)
    ranks = rank_pair(len(ratios), LEVEL)
    if ranks is not None:
        low, high = sorted(ratios)[ranks[0]], sorted(ratios, reverse=True)[ranks[0]]
    elif len(ratios) >= LEAST:
        estimate = launch_interval(ratios, LEVEL)
        low, high = estimate.low, estimate.high
    return Compared(test, size, here, there, ratio, low, high, len(pairs), way, place, tuple(pairs))


def read_record(file: Path) -> list[Compared]:
    """Read all lines, with intervals of the launches that are kept; a file that is not there has none."""
    if not file.exists():
        return []
    lines = [msgspec.json.decode(line, type=Compared) for line in file.read_text().splitlines()]
    return [compare(one.test, one.size, one.pairs, one.way, one.place) if one.pairs else one for one in lines]


def added(before: Iterable[Compared], now: Iterable[Compared]) -> list[Compared]:
    """Add launches to those of the same test, size and way by the same programs on the same machine.

    Those of other programs, or of another machine, stay until as many are made anew, or six.
    """
    found = {(_case(one), one.place.programs): one for one in before}
    for one in now:
        case, programs = _case(one), one.place.programs
        earlier = found.get((case, programs))
        made = one if earlier is None or not earlier.pairs else _together(earlier, one)
        found[case, programs] = made
        for other in [key for key in found if key[0] == case and key[1] != programs]:
            enough = made.launches >= min(found[other].launches, FEW)
            if enough or not found[other].pairs:
                del found[other]
    return list(found.values())


def _case(one: Compared) -> tuple[str, int | None, Way, str]:
    return one.test, one.size, one.way, one.place.mpi


def _together(earlier: Compared, later: Compared) -> Compared:
    """Make one line of two of the same programs."""
    days = sorted(earlier.place.days | later.place.days)
    place = structs.replace(later.place, day=_AND.join(days))
    return compare(later.test, later.size, (*earlier.pairs, *later.pairs), later.way, place)


def most_launches(lines: Iterable[Compared]) -> list[Compared]:
    """Choose of each test case the line of most launches, where several machines or programs have one."""
    found: dict[tuple[str, int | None, Way, str], Compared] = {}
    for one in lines:
        if (other := found.get(_case(one))) is None or one.launches > other.launches:
            found[_case(one)] = one
    return list(found.values())


def write_record(file: Path, lines: Iterable[Compared]) -> None:
    """Write all lines, and put them in the place of the file at once: who is stopped loses none."""
    text = "".join(f"{msgspec.json.encode(one).decode()}\n" for one in lines)
    new = file.with_name(f".{file.name}.new")
    with new.open("w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    new.replace(file)
