"""Parameters of an op, its method and its stop rule: the values that a measure gives them, each checked."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence

from steelyard.base.errors import InputError
from steelyard.base.product import product_of
from steelyard.engines.description import Method, Op, Ops, Param, Rule, by_name
from steelyard.plan.bounds import BoundedCase, all_values
from steelyard.plan.plan import Measure, Value, nearest

_MOST_NAMED = 3  # ops that a sentence names, all of them
_DRAWN = re.compile(r"([1-9]\d{0,4}) of \*", re.ASCII)


def param_rows(op: Op, method: str, rule: str, ops: Ops) -> dict[str, Param]:
    """Map the parameters of an op, a method and a rule by name."""
    return by_name((*op.params, *ops.methods[method].params, *ops.rules[rule].params))


def has_bounds(measure: Measure) -> bool:
    """Do values of parameters depend on the test case: are all or some of all that it can have asked for?"""
    return any(_most_of_all(_several(value)) is not None for value in measure.params.values())


def combined_params(
    measure: Measure, name: str, rows: Mapping[str, Param], case: BoundedCase
) -> list[dict[str, Value]]:
    """Make every combination of values of the parameters of op, method or rule, each checked."""
    given = {key: _several(value) for key, value in measure.params.items() if key in rows}
    first = {key: values[0] for key, values in given.items() if _most_of_all(values) is None}
    case = case._replace(params={key: row.default for key, row in rows.items()} | first)
    mine = {key: _values(name, rows[key], values, case) for key, values in given.items()}
    return [dict(zip(mine, combination, strict=True)) for combination in product_of(*mine.values())]


def fitting(op: Op, size: int) -> dict[str, Value]:
    """List types of data that fit a size, if the default does not: sums of 4 bytes are not of doubles."""
    typed = (row for row in op.params if row.word_bytes)
    return {row.name: word for row in typed if (word := row.fitting(size)) is not None}


def _values(name: str, row: Param, given: Sequence[Value], case: BoundedCase) -> tuple[Value, ...]:
    """Read values of a parameter, each checked; `*` means all that it can have, `8 of *` eight of them.

    What is named beside these is measured, too.
    """
    key, words = row.name, row.words
    most = _most_of_all(given)
    every = () if most is None else all_values(row, case)
    named = [value for value in given if not every or _share(value) is None]
    for value in named:
        if words and value not in words:
            raise InputError(f"{key} of {name} must be one of {', '.join(words)}, not {value}")
        if not words and isinstance(value, str):
            raise InputError(f"{key} of {name} must be a number, not '{value}'")
        if isinstance(value, float | int) and not row.least <= value <= row.most:
            raise InputError(f"{key} of {name} must be from {row.least:g} to {row.most:g}, not {value:g}")
        if isinstance(value, float) and row.is_whole and not value.is_integer():
            raise InputError(f"{key} of {name} must be a whole number, not {value:g}")
    drawn = () if most is None else _drawn(every, most)
    return tuple(dict.fromkeys((*drawn, *named)))


def _several(value: Value | tuple[Value, ...]) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)


def _most_of_all(given: Sequence[Value]) -> float | None:
    """Find how many of all values are meant; None where no word means so."""
    return max((share for value in given if (share := _share(value)) is not None), default=None)


def _share(value: Value) -> float | None:
    """Read how many of all values a word means: all by `*`, eight by `8 of *`; None for other values."""
    count = _DRAWN.fullmatch(value) if isinstance(value, str) else None
    return math.inf if value == "*" else float(count[1]) if count else None


def _drawn(every: tuple[Value, ...], most: float) -> tuple[Value, ...]:
    """Draw so many of all values, in their order; the same ones whenever there are as many to draw from."""
    if len(every) <= most:
        return every
    draw = random.Random(len(every))
    order = sorted(range(len(every)), key=[draw.random() for _ in every].__getitem__)
    return tuple(every[place] for place in sorted(order[: int(most)]))


def params_of(owner: Op | Method | Rule, params: Mapping[str, Value]) -> dict[str, Value]:
    """Select the parameters that belong to an op, a method or a rule."""
    return {row.name: params[row.name] for row in owner.params if row.name in params} if params else {}


def ops_words(selected: Sequence[str]) -> str:
    """Name the ops that a pattern may have selected by hundreds: a few, or the first and the last."""
    return ", ".join(selected) if len(selected) <= _MOST_NAMED else f"{selected[0]}, ... {selected[-1]}"


def no_param(key: str, selected: Sequence[str], known: Iterable[str]) -> str:
    """Say that none of the ops, nor their method or rule, has a parameter."""
    owners = f"{ops_words(selected)}, nor the method, nor the stop rule"
    return f"neither {owners} has a parameter '{key}'{nearest(key, known)}"
