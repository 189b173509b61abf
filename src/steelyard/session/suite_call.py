"""A command line of OSU or IMB in `measure(like=...)` is answered by the call that measures it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from steelyard.base.errors import InputError
from steelyard.base.printable import visible
from steelyard.plan.like import known_as
from steelyard.plan.suite_command import read_suite_command

_KEYWORDS = {"-n": "ranks"}  # of `measure`, where the option has another name


def check_likes(likes: Iterable[str], given: Mapping[str, Any]) -> None:
    """Raise InputError for a text with options or a launcher; it says which call measures the same.

    `given` are the other keywords of the call, which stay.
    """
    for like in likes:
        words = like.replace(",", " ").split()
        is_command = len(words) > 1 and known_as(like) is None and not all(map(known_as, words))
        if not is_command or (asked := read_suite_command(words, {})) is None:
            continue
        names: list[str] = list(dict.fromkeys(row.name for row in asked.tests))
        call: dict[str, Any] = {"like": names if len(names) > 1 else names[0], **given}
        call |= {_KEYWORDS.get(name, name): value for name, value in asked.options.items()}
        if asked.params:
            numbers = {name: int(word) for name, word in asked.params.items() if word.isdecimal()}
            call["params"] = {**asked.params, **numbers, **call.get("params", {})}
        if asked.env:
            call["env"] = {**dict(word.split("=", 1) for word in asked.env), **call.get("env", {})}
        untold = "".join(f"; for {word}, {said}" for word, said in asked.untold.items())
        written = ", ".join(f"{name}={value!r}" for name, value in call.items())
        raise InputError(
            f"'{visible(like)}' is a command line of another suite{untold}; type: measure({visible(written)})"
        )
