"""The page on EPCC: its first sentences are what its table of figures says."""

from __future__ import annotations

import re
from typing import NamedTuple

from pages import ROOT

PAGE = (ROOT / "docs/results/epcc.md").read_text(encoding="utf-8")


class Side(NamedTuple):
    """The figures of a test in one build of EPCC: theirs with range and error, and ours."""

    theirs: float
    low: float
    high: float
    error: float
    ours: float

    @property
    def is_near(self) -> bool:
        """Is ours within 10 % of theirs, which is more than its error?"""
        return self.theirs > self.error and abs(self.ours / self.theirs - 1) <= 0.1

    @property
    def is_told(self) -> bool:
        """Is the error of theirs less than that?"""
        return self.error <= 0.1 * abs(self.theirs)

    @property
    def agrees(self) -> bool:
        """Is ours among their figures, or within their error?"""
        return self.low <= self.ours <= self.high or abs(self.ours - self.theirs) <= self.error + 1e-9


def _numbers(cell: str) -> list[float]:
    return [float(text) for text in re.findall(r"-?[\d.]+", cell.replace("\u2212", "-"))]


def _sides(build: int) -> dict[str, Side]:
    """Read the columns of one build, by test."""
    lines = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.count(" | ") == 6]
    rows = [cells for cells in lines if "to" in cells[1]]
    found = {}
    for test, *cells in rows:
        theirs, error, ours = (_numbers(cell) for cell in cells[3 * build : 3 * build + 3])
        found[test] = Side(theirs[0], theirs[1], theirs[2], error[0], ours[0])
    return found


def test_the_answer_is_that_of_the_table() -> None:
    found = _sides(0)
    near = [test.partition(",")[0] for test, side in found.items() if side.is_near]
    words = " ".join(PAGE.split("\n\n")[1].split())
    assert f"{len(near)} of {len(found)} default rows" in words
    assert f"{', '.join(near[:-1])} and {near[-1]}." in words
    others = [side for side in found.values() if not side.is_near]
    assert f"In the other {len(others)} the error" in words
    assert all(side.agrees and not side.is_told for side in others)


def test_what_differs_without_optimisation_is_counted() -> None:
    assert sum(not side.agrees for side in _sides(1).values()) == 4
