"""A results folder that goes on by its own plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.plural import joined
from steelyard.campaign.started_programs import started_by
from steelyard.plan.plan import Plan
from steelyard.plan.remeasure import plan_of, with_secrets
from steelyard.records.campaign_file import holds_campaign, read_campaign

# Options, by the names in `MeasureOptions`, that say which test cases there are.
OF_TEST_CASES = (
    *("like", "ranks", "bytes", "method", "rule", "hosts", "ranks_per_host", "threads", "thread_level"),
    *("params", "omp", "env", "modules", "wrapper", "files", "engine", "placement", "arms", "arrivals"),
)


def holds_plan(folder: Path) -> bool:
    """Is it a folder that can go on?"""
    return holds_campaign(folder)


def plan_in(folder: Path, asked: Sequence[str], ask: Callable[[Path, Iterable[str]], None]) -> Plan:
    """Return the plan that a folder holds.

    `asked` are options, as they were written, that ask for other test cases than its plan has. `ask` hears of
    the lines that the plan would start, and raises InputError where they must not be. Raises InputError for
    options.
    """
    if asked:
        raise InputError(
            f"'{folder}' goes on by its own plan; leave {joined(asked)} out, or name what to measure, too"
        )
    plan = plan_of(read_campaign(folder))
    ask(folder, started_by(plan))
    return with_secrets(plan)
