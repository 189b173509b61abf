"""Libraries that a launch is to be given by the loader: whether the loader of this machine finds them."""

from __future__ import annotations

import functools
import re
import shutil
from collections.abc import Mapping

from steelyard.base.errors import InputError
from steelyard.base.printable import visible
from steelyard.system.process import run

_VARIABLES = ("LD_PRELOAD", "LD_AUDIT")
_ASK_SECONDS = 30.0
# What glibc's loader says, and goes on without the library.
_MISSED = re.compile(
    r"object '(.*)' (?:from LD_PRELOAD )?cannot be (?:preloaded \(|loaded as audit interface: )(.*?)\)?"
    r"[:;] ignored"
)
_OF_PROGRAM = "undefined symbol"  # which an engine may have and the program that is asked has not


def check_preloads(given: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """Raise InputError for a library of LD_PRELOAD or LD_AUDIT that cannot be loaded in that environment.

    The loader itself is asked: it knows names without a slash, several of them, and `$LIB`.
    """
    for variable in _VARIABLES:
        if not given.get(variable):
            continue
        missed = _missed(variable, given[variable], environment.get("LD_LIBRARY_PATH", ""))
        if missed is not None:
            name, reason = map(visible, missed)
            raise InputError(
                f"{variable} names '{name}', which the loader does not load ({reason}); give the path of a "
                "library, or leave it out"
            )


@functools.lru_cache
def _missed(variable: str, value: str, searched: str) -> tuple[str, str] | None:
    """Find the first library that a program is not given, and why; None if all are, or nothing is asked."""
    program = shutil.which("true")
    if program is None:
        return None
    environment = {variable: value, "LC_ALL": "C"} | ({"LD_LIBRARY_PATH": searched} if searched else {})
    said = run([program], env=environment, timeout=_ASK_SECONDS).err
    return next(((name, reason) for name, reason in _MISSED.findall(said) if _OF_PROGRAM not in reason), None)
