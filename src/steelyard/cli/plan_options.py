"""The plan that the options of `run` and `plan show` name or spell out."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from steelyard.base.engine_kinds import KINDS
from steelyard.base.errors import InputError
from steelyard.cli.export import check_format
from steelyard.cli.options import check_retry, listed, one_of
from steelyard.cli.resume import folder_plan, is_resumed
from steelyard.cli.run_options import RunOptions
from steelyard.plan.arms import each_factor
from steelyard.plan.plan import Plan
from steelyard.records.command_line import retyped
from steelyard.session.requested_plan import plan_asked


def planned(options: RunOptions) -> Plan:
    """Make the plan that the command line names or spells out. Raises InputError."""
    one_of("--engine", options.engine, KINDS)
    one_of("--yield", options.yield_, ("real", "none"))
    one_of("--paths", options.paths, ("symmetric", "asymmetric"))
    one_of("--keep", options.keep, ("ranks", "sampled", "slowest"))
    check_retry(options.retry, options.out)
    if options.json and options.to not in (None, "json"):
        raise InputError(f"--json is --to json; leave it or --to {options.to} out")
    if options.to is not None:
        check_format(options.to, listed(options.like))
    _check_arms(options.arms, options.out)
    given = {field.name: getattr(options, field.name) for field in dataclasses.fields(options)}
    given["bytes"] = options.bytes_
    given["params"] = [*(options.param or ()), *([f"class={options.class_}"] if options.class_ else [])]
    known = folder_plan(options, options.out) if is_resumed(options) and options.out else None
    return plan_asked(options.what or (), given, known)


def _check_arms(arms: str | None, out: Path | None) -> None:
    """Raise InputError for arms of several factors, with a command for each."""
    each = each_factor(arms) if arms else ()
    if len(each) < 2:
        return
    typed = [words for word in sys.argv[1:] for words in _split(word, arms or "")]
    at = typed.index("--arms") + 1
    commands = []
    for k, word in enumerate(each):
        own = [*typed[:at], word, *typed[at + 1 :]]
        if out is not None and str(out) in own:
            own[own.index(str(out))] = f"{out}-{k + 1}"
        commands.append(f"for {word.partition('=')[0]}: {retyped(own)}")
    raise InputError(f"--arms compares the values of 1 factor, not of {len(each)}; {'; '.join(commands)}")


def _split(word: str, arms: str) -> tuple[str, ...]:
    """`--arms=X` in two words."""
    return ("--arms", arms) if word == f"--arms={arms}" else (word,)
