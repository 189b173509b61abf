"""Write the page docs/results/peers.md from what benchmarks/peers_like.py recorded.

    python benchmarks/peers_page.py docs/results/peers.jsonl > docs/results/peers.md

A line that differs by more than 10 % has a reason, which a page shows, or the page says that none was found.
What a line gives that was measured without the reason is recorded, too.
"""

from __future__ import annotations

import argparse
import fnmatch
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from peers_record import DIFFER, WITHIN, Compared, Way, most_launches, read_record

from steelyard.base.plural import counted
from steelyard.judges.verdict import CANNOT_TELL

_TITLE = """\
# OSU and IMB beside Steelyard
"""
_ABOUT = """\
Both ran by turns, launch after launch, with the same MPI on the same cores: the original by its defaults,
Steelyard with {samples} samples (`--rule fixed`), printed as the original prints (`--to osu-plain`, `--to
imb`). A number is the median over launches, in us or MB/s. The ratio is the median of those of neighbouring
launches, with the interval of their order alone, 95 % for each line by itself (below six launches: Student's
t on logarithms), which was chosen among three after the results had been seen. It holds half of the last
decimal of both, too.

- **within 10 %**: all of the interval is from 0.9 to 1.1.
- **differs**: none of it is. The word behind it is the [reason](#reasons), if one was found; the last column
  has the ratio without it, where that was measured.
- **cannot tell**: a part of it is. The word behind it says why: *few launches*: fewer than 12; *decimals*:
  two are too few for so small a number; *modes*: launches of one side fall into levels that are 10 % apart
  or more; *ours*, *theirs scatters*: the side whose launches scatter more; *near the limit*: both are
  steady, and the ratio is about 0.9 or 1.1.

Scatter is the middle half of the launches, ours and theirs, of their median.

`benchmarks/peers_like.py --record docs/results/peers.jsonl` adds launches; with `--undecided`, only of tests
that cannot tell. `benchmarks/peers_page.py` makes this page of that file.
"""
_SMALL = "[small messages](small-messages.md)"
_OPENSHMEM = "[OpenSHMEM](../ops/openshmem.md#beside-osu)"
_NONE = "no reason found"
Key = tuple[str, int | None]


@dataclass(frozen=True)
class Reason:
    """Why numbers of some tests differ; the way that takes the cause away, and the page that shows it."""

    word: str
    tests: tuple[str, ...]  # patterns
    why: str
    page: str
    way: Way | None = None

    def holds_for(self, test: str) -> bool:
        """Is it a reason for this test?"""
        return any(fnmatch.fnmatchcase(test, pattern) for pattern in self.tests)


REASONS = (
    Reason(
        "clock",
        ("osu_*_latency",),
        "the original reads its clock twice in each call, and prints that, too: some 44 ns. Ours and two "
        "times `steelyard run mpi.wtime` are its number",
        page=_SMALL,
    ),
    Reason(
        "barrier",
        ("osu_multi_lat", "osu_latency_mp"),
        "the original has a barrier of the library before each round trip, ours one message after the other",
        _SMALL,
        Way(ours="--method=library-barrier"),
    ),
    Reason(
        "first window",
        ("osu_oshm_*_mr*",),
        "the original times one window of calls, the first after each rank has written its memory; ours "
        "repeats it",
        page=_OPENSHMEM,
    ),
    Reason(
        "starts",
        (
            "*[Bb]cast*",
            "*broadcast*",
            "*collect*",
            "*[Gg]ather*",
            "*[Ss]catter*",
            "*[Rr]educe*",
            "*[Aa]lltoall*",
            "*[Bb]arrier*",
        ),
        "ranks of the original leave a barrier of the library one after the other, ours start at one instant",
        _SMALL,
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
    record = most_launches(record)
    usual = [one for one in record if one.way == Way()]
    ways = {((one.test, one.size), one.way): one for one in record}
    yield _TITLE
    yield f"{answer(usual, ways)}\n"
    counts = sorted({one.place.samples for one in usual})
    yield _ABOUT.replace("{samples}", " or ".join(map(str, counts)))
    yield from _places(usual)
    is_alone = len({one.place.machine for one in usual}) == 1
    for suite, machine in dict.fromkeys((one.place.suite, one.place.machine) for one in usual):
        yield f"## {suite}\n" if is_alone else f"## {suite}: {machine}\n"
        here = [one for one in usual if (one.place.suite, one.place.machine) == (suite, machine)]
        yield from _table(here, ways)
    yield "## Reasons\n"
    used = {found.word for one in usual if (found := reason_of(one)) is not None}
    for reason in REASONS:
        if reason.word in used:
            yield f"- **{reason.word}**: {reason.why}: {reason.page}.{_tried(reason, ways)}"
    if any(one.verdict == DIFFER and reason_of(one) is None for one in usual):
        yield f"- **{_NONE}**: no experiment has shown what the difference comes from."
    yield ""


def _tried(reason: Reason, ways: Mapping[tuple[Key, Way], Compared]) -> str:
    """Say whether lines were measured without the reason."""
    if any(way == reason.way for _, way in ways):
        return f" Lines without it are measured by `{reason.way}`."
    return "" if reason.way is None else f" `{reason.way}` should take it away, and was not measured."


def answer(usual: Sequence[Compared], ways: Mapping[tuple[Key, Way], Compared]) -> str:
    """Say in one sentence how many rows are within 10 %, and what is known of the others."""
    verdicts = {word: [one for one in usual if one.verdict == word] for word in (WITHIN, DIFFER, CANNOT_TELL)}
    parts = [
        f"{len(verdicts[WITHIN])} of {counted(len(usual), 'default row')} are within 10 % of the original"
    ]
    differing, untold = verdicts[DIFFER], verdicts[CANNOT_TELL]
    if differing:
        parts.append(f"{len(differing)} differ{_shown_words(differing, ways)}")
    if untold:
        counts = Counter(one.unclear for one in untold).most_common()
        near = sum(one.is_near for one in untold)
        why = ", ".join(f"{count} {word}" for word, count in counts)
        parts.append(f"{len(untold)} cannot be told ({why}), of which {near} have a ratio within 10 %")
    return f"{'; '.join(parts)}."


def _shown_words(differing: Sequence[Compared], ways: Mapping[tuple[Key, Way], Compared]) -> str:
    """Say for how many lines the reason was taken away, stands on a page, or was not found."""
    without = [shown for line in differing if (shown := shown_by(line, ways)) is not None]
    others = [reason_of(line) for line in differing if shown_by(line, ways) is None]
    on_page = sum(reason is not None for reason in others)
    became = Counter(line.verdict for line in without)
    words = ", ".join(f"{word}: {became[word]}" for word in (WITHIN, CANNOT_TELL, DIFFER) if became[word])
    said = (
        (len(without), f"measured without the reason ({words})"),
        (on_page, "by a reason that a page shows in tests like them"),
        (len(others) - on_page, f"with {_NONE}"),
    )
    return "".join(f", {count} {what}" for count, what in said if count)


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
    heads = ("test", "bytes", "ours", "theirs", "ours / theirs", "launches", "scatter", "verdict")
    yield f"| {' | '.join(heads)} | without the reason |"
    yield "| --- | ---: | ---: | ---: | --- | ---: | --- | --- | --- |"
    for one in lines:
        reason, shown = reason_of(one), shown_by(one, ways)
        without = "" if shown is None else f"{shown.ratio_words}, {shown.verdict}"
        why = {DIFFER: reason.word if reason else _NONE, CANNOT_TELL: one.unclear}.get(one.verdict)
        verdict = f"{one.verdict}: {why}" if why else one.verdict
        yield f"{one.line} {one.launches} | {_scatter_words(one)} | {verdict} | {without} |"
    yield ""


def _scatter_words(line: Compared) -> str:
    """Write `3 %, 12 %`, ours and theirs; a stroke where launches were not kept."""
    return "-" if line.scatter is None else ", ".join(f"{100 * share:.0f} %" for share in line.scatter)


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("record", type=Path)
    print("\n".join(page(read_record(parser.parse_args().record))), end="")


if __name__ == "__main__":
    main()
