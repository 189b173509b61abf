"""A command line of OSU or IMB behind `steelyard` is answered by the command that measures it here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from steelyard.records.command_line import Given, option_words, retyped
from steelyard.system.started_as import started_as


def suite_command(words: Sequence[str], params: Sequence[Any]) -> str | None:
    """Say what to type in place of words that name a test of another suite, perhaps behind a launcher, with
    options of theirs or of ours, whose `params` are those of `run`; None if they name none.

    Raises InputError for the name of a suite.
    """
    from steelyard.plan.like import find_like
    from steelyard.plan.suite_command import read_suite_command
    from steelyard.plan.suites import KERNELS, groups

    rank = started_as(os.environ)
    ours = {name: not getattr(param, "is_flag", False) for param in params for name in param.opts}
    asked = read_suite_command(words, ours, None if rank is None else rank.ranks)
    if asked is None:
        if (suite := words[0].lower()) in {*groups(), *KERNELS} - {"mpich"}:
            find_like(suite)  # which says what its tests are called
        return None
    names = ",".join(dict.fromkeys(row.name for row in asked.tests))
    order = ("-n", "bytes", *asked.options)
    options: dict[str, Given] = {name: asked.options[name] for name in order if name in asked.options}
    options["param"] = [f"{name}={value}" for name, value in asked.params.items()]
    given = option_words({**options, "env": asked.env})
    what = f"'{names}' is a test of another suite"
    if len(asked.tests) > 1:
        what = "these are tests of another suite"
    started = (
        "" if rank is None else f", and steelyard, not {rank.launcher}, starts the ranks that it measures"
    )
    untold = "".join(f"; for {word}, {said}" for word, said in asked.untold.items())
    typed = retyped(["run", "--like", names, *given, *asked.kept])
    return f"{what}{started}{untold}; type: {typed}"


def whole_command(words: Sequence[str], params: Sequence[Any]) -> str | None:
    """The same of the words behind `run` or in its `--like`; None where they have no option of theirs."""
    like = [k for k, word in enumerate(words[:-1]) if word == "--like"]
    spread = [
        part
        for k, word in enumerate(words)
        if k not in like
        for part in (word.replace(",", " ").split() if k - 1 in like else [word])
    ]
    ours = {name for param in params for name in param.opts}
    theirs = [word for word in spread if word.startswith("-") and word.partition("=")[0] not in ours]
    return suite_command(spread, params) if theirs else None
