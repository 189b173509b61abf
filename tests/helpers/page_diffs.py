"""The diffs of the pages, fitted by their anchors: the lines around what they add.

A diff of a page only adds lines. Others may have added theirs at the same place before, for that is what the
page is for. So its lines fit where the lines around them stand in order, with few others in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_MOST_BETWEEN = 60  # lines that others have added between two anchors
_FILE = re.compile(r"^--- (?:a/(\S+)|/dev/null)\n\+\+\+ b/(\S+)\n", re.MULTILINE)
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that are added to a file, and those around them, each with whether it is added."""

    path: str
    is_new: bool
    first: int
    lines: tuple[tuple[bool, str], ...]

    def anchors(self) -> list[str]:
        """The lines that are there already."""
        return [text for is_added, text in self.lines if not is_added]


def hunks(diff: str) -> list[Hunk]:
    """The hunks of a diff. Raises ValueError for one that takes lines away, or miscounts its own."""
    return list(_hunks(diff))


def _hunks(diff: str) -> Iterator[Hunk]:
    files = list(_FILE.finditer(diff))
    for file, until in zip(files, [*(one.start() for one in files[1:]), len(diff)], strict=True):
        heads = list(_HUNK.finditer(diff, file.end(), until))
        for head, end in zip(heads, [*(one.start() for one in heads[1:]), until], strict=True):
            lines = diff[head.end() : end].removesuffix("\n").split("\n")
            if strange := [line for line in lines if line[:1] not in (" ", "+")]:
                raise ValueError(f"{file[2]}: {strange[0]!r} is neither added nor kept")
            hunk = Hunk(
                file[2], file[1] is None, int(head[1]), tuple((line[0] == "+", line[1:]) for line in lines)
            )
            if (len(hunk.anchors()), len(lines)) != (int(head[2] or 1), int(head[4] or 1)):
                raise ValueError(f"{file[2]}: {head[0].strip()} miscounts its lines")
            yield hunk


def is_in(hunk: Hunk, text: str) -> bool:
    """Is all of it in the text of its file?"""
    return _places([line for _, line in hunk.lines], text.split("\n"), hunk.first) is not None


def added(hunk: Hunk, text: str) -> str | None:
    """The text with what the hunk adds, right behind the anchor before it; None where one is missing."""
    lines = text.split("\n")
    places = _places(hunk.anchors(), lines, hunk.first)
    if places is None:
        return None
    kept = iter(places)
    at = places[0] if places else 0  # before the first anchor, unless one stands before
    new: list[tuple[int, str]] = []
    for is_added, line in hunk.lines:
        if is_added:
            new.append((at, line))
        else:
            at = next(kept) + 1
    for place, line in reversed(new):
        lines.insert(place, line)
    return "\n".join(lines)


def _places(wanted: Sequence[str], lines: Sequence[str], first: int) -> list[int] | None:
    """Where lines stand in order: closest together, and then next to the `first`, which counts from 1."""
    found = [
        places
        for start, line in enumerate(lines)
        if not wanted or line == wanted[0]
        if (places := _from(start, wanted, lines)) is not None
    ]
    return min(
        found, key=lambda one: (one[-1] - one[0], abs(one[0] + 1 - first)) if one else (0, 0), default=None
    )


def _from(start: int, wanted: Sequence[str], lines: Sequence[str]) -> list[int] | None:
    places: list[int] = []
    at = start
    for line in wanted:
        window = lines[at : at + 1 + _MOST_BETWEEN]
        if line not in window:
            return None
        places.append(at + window.index(line))
        at = places[-1] + 1
    return places


def with_added(diff: str, root: Path) -> dict[str, str]:
    """The texts of the files below `root` with what a diff adds; without those that have it all.

    Raises ValueError where what stands around it is not there.
    """
    texts: dict[str, str] = {}
    for hunk in hunks(diff):
        path = root / hunk.path
        text = texts.get(hunk.path) or (path.read_text() if path.exists() else "")
        if is_in(hunk, text):
            continue
        if (more := added(hunk, text)) is None:
            raise ValueError(f"{hunk.path} has not what stands around line {hunk.first} of the diff")
        texts[hunk.path] = more
    return texts
