"""The results folder to judge, and what is computed from it once for all criteria."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from steelyard.analyses.hosts.model import LEAST_SLOWER
from steelyard.base.diagnostic import Diagnostic
from steelyard.diagnostics.results import diagnostics
from steelyard.judges.accept.peer_groups import (
    CONTACT,
    CORE,
    FILES_HOST,
    HOST,
    LINK,
    Kinds,
    PeerGroup,
    by_kinds,
    peer_groups_of,
)
from steelyard.records.command_line import command, resumed
from steelyard.results.load import Measured
from steelyard.results.row import Row
from steelyard.stats.peer_outliers import LEAST_LAUNCHES, PeerComparison, compare_peers

PLAN = "acceptance"  # the shipped plan that measures for the criteria
FALSE_ALARM = 0.01  # share of machines without fault for which a family of statements reports one
# The least difference that is a fault, by kind of place. In a mesh some cores are nearer to each other than
# others: sound links of a class differ by some 10 %. Files share servers and disks with others. A connection
# that is made twice as slowly is paid once.
LEAST_FAULT = {CORE: 0.05, HOST: LEAST_SLOWER, LINK: 0.20, FILES_HOST: 0.20, CONTACT: 1.0}
# The least gap between two kinds of places: fewer than one in a thousand machines have one by chance.
_KINDS_APART = {CORE: 0.10, HOST: 0.10, LINK: 0.20, FILES_HOST: 0.20, CONTACT: 1.0}


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
    def tests(self) -> tuple[PeerGroup, ...]:
        """All tests of places that should be alike."""
        return peer_groups_of(self.measured, self.rows)

    @cached_property
    def _divided(self) -> tuple[tuple[PeerGroup, ...], tuple[Kinds, ...]]:
        return by_kinds((test for test in self.tests if test.can_tell), _KINDS_APART)

    @property
    def kinds(self) -> tuple[Kinds, ...]:
        """The tests whose places are of two kinds, as their times alone show."""
        return self._divided[1]

    @cached_property
    def peers(self) -> tuple[tuple[PeerGroup, PeerComparison], ...]:
        """Each place compared with its peers, in all tests with enough data at once: cores, hosts and
        links.
        """
        known = [one for one in self._divided[0] if one.can_tell]
        families = [one.family for one in known]
        found = compare_peers([one.table for one in known], families, level=1 - FALSE_ALARM)
        return tuple(zip(known, found, strict=True))

    @property
    def launches(self) -> int:
        """The launches of which there are records."""
        return len({file.job.launch for file in self.measured.files})

    @property
    def planned(self) -> int:
        """The launches that the plan has; 0 if the folder does not say."""
        return self.measured.planned_launches

    @cached_property
    def unfinished(self) -> int:
        """The measurements of the plan that have not ended."""
        return self.measured.unfinished

    def go_on(self) -> str:
        """Write the command that measures what is left of the plan, or more launches if nothing is; empty if
        the folder holds no plan.
        """
        if not self.planned:
            return ""
        if self.unfinished and self.planned >= LEAST_LAUNCHES:
            return resumed(self.measured.folder)
        more = LEAST_LAUNCHES if self.planned < LEAST_LAUNCHES else 2 * self.planned
        return resumed(self.measured.folder, launches=more)

    def more_launches(self) -> str:
        """Write what to do where launches are too few, or differ too much."""
        return _with_command("Give it more launches, on a quiet machine", self.go_on())

    def measure_it(self) -> str:
        """Write what to do where nothing was measured for a topic."""
        if self.measured.campaign.name != PLAN:
            return _with_command("The plan acceptance measures it", command("accept"))
        if self.unfinished:
            return _with_command("Measure what is left of the plan", self.go_on())
        return _with_command(
            "See why its test cases were skipped or failed", command("show", str(self.measured.folder))
        )


def _with_command(text: str, words: str) -> str:
    return f"{text}: {words}" if words else f"{text}."
