"""`steelyard run --out DIR`: a results folder goes on by its own plan."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.consent import ask_to_start
from steelyard.cli.run_options import RunOptions
from steelyard.plan.plan import Plan
from steelyard.session.resume import OF_TEST_CASES, holds_plan, plan_in

_FIELDS = {"bytes": "bytes_", "params": "param"}  # of RunOptions, where `MeasureOptions` has another name


def is_resumed(options: RunOptions) -> bool:
    """Does the command line name nothing to run but a folder that holds a plan?"""
    return not options.what and not options.like and options.out is not None and holds_plan(options.out)


def folder_plan(options: RunOptions, folder: Path) -> Plan:
    """Return the plan that a folder holds. Raises InputError if options ask for test cases of their own."""
    names = (*(_FIELDS.get(name, name) for name in OF_TEST_CASES), "class_")
    asked = [f"--{name.strip('_').replace('_', '-')}" for name in names if getattr(options, name)]
    return plan_in(folder, asked, lambda path, lines: ask_to_start(path, lines, options.yes))
