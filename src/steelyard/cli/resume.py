"""`steelyard run --out DIR`: a results folder goes on by its own plan."""

from __future__ import annotations

from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.plural import joined
from steelyard.campaign.started import started_by
from steelyard.cli.consent import ask_to_start
from steelyard.cli.run_options import RunOptions
from steelyard.plan.again import plan_of, with_secrets
from steelyard.plan.plan import Plan
from steelyard.records.campaign_file import read_campaign

_AXES = (
    *("ranks", "bytes_", "method", "rule", "hosts", "ranks_per_host", "threads", "thread_level", "class_"),
    *("param", "omp", "env", "modules", "wrapper", "files", "engine", "placement", "arms", "arrivals"),
)


def is_resumed(options: RunOptions) -> bool:
    """Does the command line name nothing to run but a folder that holds a plan?"""
    out = options.out
    return not options.what and not options.like and out is not None and (out / "campaign.json").is_file()


def folder_plan(options: RunOptions, folder: Path) -> Plan:
    """Return the plan that a folder holds. Raises InputError if options ask for test cases of their own."""
    given = [f"--{name.strip('_').replace('_', '-')}" for name in _AXES if getattr(options, name)]
    if given:
        raise InputError(
            f"'{folder}' goes on by its own plan; leave {joined(given)} out, or name what to run, too"
        )
    plan = plan_of(read_campaign(folder))
    ask_to_start(folder, started_by(plan), options.yes)
    return with_secrets(plan)
