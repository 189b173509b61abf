"""Ops out of shared libraries of the user: `./libmine.so:mine.sum`, in a plan or on the command line.

own_words.py reads such words.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping

from steelyard.base.errors import InputError
from steelyard.base.printable import visible
from steelyard.engines.description import Description, NotLoaded, Op
from steelyard.plan.own_words import libraries_in, parts_of
from steelyard.plan.plan import Plan, nearest


def libraries_of(plan: Plan) -> tuple[str, ...]:
    """List the libraries of a plan, each once."""
    return libraries_in(word for measure in plan.measure for word in measure.ops)


def check_loaded(description: Description) -> None:
    """Raise InputError for a library that an engine with MPI refused; one without may lack what the library
    calls.
    """
    for one in description.not_loaded:
        raise InputError(visible(one.why))


def is_meant(op: Op, word: str) -> bool:
    """Does a word such as `/lib.so:mine` mean this op?"""
    path, pattern = parts_of(word) or (None, "")
    return op.library == path and (op.family == pattern or fnmatch.fnmatchcase(op.name, pattern))


def select_own(word: str, ops: Mapping[str, Op], refused: Iterable[NotLoaded]) -> list[str] | None:
    """Select the ops that a word means; None if it names no library. Raises InputError."""
    parts = parts_of(word)
    if parts is None:
        return None
    path, pattern = parts
    found = [name for name, op in ops.items() if is_meant(op, word)]
    if found:
        return found
    there = [name for name, op in ops.items() if op.library == path]
    if there:
        hint = nearest(pattern, there) or ";"
        raise InputError(f"'{visible(path)}' has no op '{visible(pattern)}'{hint} it has {', '.join(there)}")
    whys = dict.fromkeys(visible(one.why) for one in refused if one.library == path)
    raise InputError("; ".join(whys) or f"no engine was asked to load '{visible(path)}'")
