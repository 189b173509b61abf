"""Write the page docs/results/peers.md from what benchmarks/peers_like.py recorded.

    python benchmarks/peers_page.py docs/results/peers.jsonl > docs/results/peers.md

A line that differs by more than 10 % has a reason. Where a way to measure takes the reason away, what it
gives is recorded, too.
"""

from __future__ import annotations

import argparse
import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from peers_record import AGREE, DIFFER, Compared, Way, read_record

from steelyard.base.plural import counted
from steelyard.judges.verdict import CANNOT_TELL

_ABOUT = """\
# OSU and IMB beside Steelyard

Does `--like NAME` measure what the test of that name measures? Both ran by turns, launch after launch, with
the same MPI on the same cores: the original by its defaults, Steelyard with 100 samples (`--rule fixed
--param count=100`). Steelyard printed the text of the original (`--to osu-plain`, `--to imb`), so both
numbers are means. A number is the median over launches, in the unit of the text: us, or MB/s. The ratio is
the median of those of neighbouring launches. Its 95 % interval holds half of the last decimal of both, too:
they print two, so 0.03 is anything from 0.025 to 0.035.

- **agree**: the ratio is within 10 % of 1, and its interval within 25 %.
- **differ**: all of the interval is beyond 10 %. What both are known to do differently is named, and stands
  [below](#reasons). Whether that is all was measured only where the last column has the ratio without it.
- **cannot tell**: launches are too few, or differ too much. One stall of a millisecond moves a mean.
- **cannot tell: decimals**: two decimals are too few for so small a number. More launches would not help.

`benchmarks/peers_like.py --record docs/results/peers.jsonl` adds launches to those that are there; with
`--undecided`, only of tests that cannot tell. `benchmarks/peers_page.py` makes this page of that file.
[OpenMP](epcc.md) has a page of its own.
"""
Key = tuple[str, int | None]


@dataclass(frozen=True)
class Reason:
    """Why numbers of some tests differ; the way that takes the cause away, or the page that shows it."""

    word: str
    tests: tuple[str, ...]  # patterns
    why: str
    way: Way | None = None

    def holds_for(self, test: str) -> bool:
        """Is it a reason for this test?"""
        return any(fnmatch.fnmatchcase(test, pattern) for pattern in self.tests)


REASONS = (
    Reason(
        "clock",
        ("osu_*_latency",),
        "the original reads its clock twice in each call, and prints that, too: some 44 ns. Ours and two "
        "times `steelyard run mpi.wtime` are its number: [small messages](small-messages.md)",
    ),
    Reason(
        "barrier",
        ("osu_multi_lat", "osu_latency_mp"),
        "the original has a barrier of the library before each round trip, ours one message after the other: "
        "[small messages](small-messages.md)",
        Way(ours="--method=library-barrier"),
    ),
    Reason(
        "receives",
        ("Exchange",),
        "the original sends by MPI_Isend and receives by MPI_Recv; ours begins with MPI_Irecv, and one "
        "MPI_Waitall ends all",
    ),
    Reason(
        "starts",
        ("*[Bb]cast*", "*[Gg]ather*", "*[Ss]catter*", "*[Rr]educe*", "*[Aa]lltoall*", "*[Bb]arrier*"),
        "ranks of the original leave a barrier of the library one after the other, ours start at one "
        "instant: [small messages](small-messages.md)",
        Way(ours="--method=library-barrier"),
    ),
)


def reason_of(line: Compared) -> Reason | None:
    """The first reason that is known of a test; None where it is not shown that they differ."""
    found = (one for one in REASONS if one.holds_for(line.test))
    return next(found, None) if line.verdict == DIFFER else None


def shown_by(line: Compared, ways: Mapping[tuple[Key, Way], Compared]) -> Compared | None:
    """The line that was measured without the cause of the difference."""
    reason = reason_of(line)
    return None if reason is None or reason.way is None else ways.get(((line.test, line.size), reason.way))


def page(record: Sequence[Compared]) -> Iterator[str]:
    """Make the parts of the page."""
    usual = [one for one in record if one.way == Way()]
    ways = {((one.test, one.size), one.way): one for one in record}
    counts = (f"{sum(one.verdict == word for one in usual)} {word}" for word in (AGREE, DIFFER, CANNOT_TELL))
    yield _ABOUT
    yield from _places(usual)
    yield f"{counted(len(usual), 'line')}: {', '.join(counts)}.\n"
    for suite in dict.fromkeys(one.place.suite for one in usual):
        yield f"## {suite}\n"
        yield from _table([one for one in usual if one.place.suite == suite], ways)
    yield "## Reasons\n"
    used = {found.word for one in usual if (found := reason_of(one)) is not None}
    for reason in REASONS:
        if reason.word in used:
            by = f" What takes it away is `{reason.way}`." if reason.way is not None else ""
            yield f"- **{reason.word}**: {reason.why}.{by}"
    yield ""


def _places(lines: Sequence[Compared]) -> Iterator[str]:
    """Say where, when and with which versions."""
    places = [one.place for one in lines]
    for head, found in (
        ("Where", [f"{one.machine}, {one.ranks} ranks" for one in places]),
        ("Versions", [f"{one.suite}, {one.mpi}, Steelyard {one.steelyard}" for one in places]),
        ("When", sorted(day for one in places for day in one.days)),
    ):
        yield f"- **{head}.** {'; '.join(dict.fromkeys(found))}."
    yield ""


def _table(lines: Sequence[Compared], ways: Mapping[tuple[Key, Way], Compared]) -> Iterator[str]:
    """Make a table of a suite."""
    yield "| test | bytes | ours | theirs | ours / theirs | launches | verdict | without the reason |"
    yield "| --- | ---: | ---: | ---: | --- | ---: | --- | --- |"
    for one in lines:
        reason, shown = reason_of(one), shown_by(one, ways)
        without = "" if shown is None else f"{shown.ratio_words}, {shown.verdict}"
        why = reason.word if reason else "decimals" if one.is_too_short else ""
        verdict = f"{one.verdict}: {why}" if why else one.verdict
        yield f"{one.line} {one.launches} | {verdict} | {without} |"
    yield ""


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("record", type=Path)
    print("\n".join(page(read_record(parser.parse_args().record))), end="")


if __name__ == "__main__":
    main()
