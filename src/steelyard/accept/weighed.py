"""What is weighed: a results folder, and what is made of it once for all criteria."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from steelyard.accept.alike import Alike, alike_tests
from steelyard.base.diagnostic import Diagnostic
from steelyard.checks import diagnostics
from steelyard.results.load import Measured
from steelyard.results.row import Row
from steelyard.stats.sisters import Sisters, compare_sisters

FALSE_ALARM = 0.01  # machines without fault of which a family of statements says anything


@dataclass(frozen=True)
class Weighed:
    """A results folder, its rows, and what the checks find in them; `name` tells it from a reference."""

    measured: Measured
    rows: tuple[Row, ...]
    name: str = ""

    @cached_property
    def found(self) -> tuple[Diagnostic, ...]:
        """What the checks find."""
        return diagnostics(self.measured, self.rows)

    @cached_property
    def tests(self) -> tuple[Alike, ...]:
        """All tests of places that should be alike."""
        return alike_tests(self.measured, self.rows)

    @cached_property
    def sisters(self) -> tuple[tuple[Alike, Sisters], ...]:
        """Each place held against its sisters, in all tests at once that can tell: cores, hosts and links."""
        known = [one for one in self.tests if one.can_tell]
        found = compare_sisters([one.table for one in known], level=1 - FALSE_ALARM)
        return tuple(zip(known, found, strict=True))
