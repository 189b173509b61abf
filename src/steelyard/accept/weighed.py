"""The results folder to judge, and what is computed from it once for all criteria."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from steelyard.accept.alike import Alike, alike_tests
from steelyard.base.diagnostic import Diagnostic
from steelyard.checks import diagnostics
from steelyard.results.load import Measured
from steelyard.results.row import Row
from steelyard.stats.sisters import Sisters, compare_sisters

FALSE_ALARM = 0.01  # share of machines without fault for which a family of statements reports one


@dataclass(frozen=True)
class Weighed:
    """A results folder, its rows, and the findings of checks; `name` distinguishes it from a reference."""

    measured: Measured
    rows: tuple[Row, ...]
    name: str = ""

    @cached_property
    def found(self) -> tuple[Diagnostic, ...]:
        """The findings of the checks."""
        return diagnostics(self.measured, self.rows)

    @cached_property
    def tests(self) -> tuple[Alike, ...]:
        """All tests of places that should be alike."""
        return alike_tests(self.measured, self.rows)

    @cached_property
    def sisters(self) -> tuple[tuple[Alike, Sisters], ...]:
        """Each place compared with its sisters, in all tests with enough data at once: cores, hosts and
        links.
        """
        known = [one for one in self.tests if one.can_tell]
        found = compare_sisters([one.table for one in known], level=1 - FALSE_ALARM)
        return tuple(zip(known, found, strict=True))
