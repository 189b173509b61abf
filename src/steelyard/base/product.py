"""Products of axes, counted before anything is made of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator
from typing import Any

from steelyard.base.errors import InputError

MOST_LAUNCHES = 10_000  # of a plan: some hours of nothing but starting
MOST_TEST_CASES = 50_000  # of a plan: half an hour for each launch, however short each is
MOST_STARTS = 5_000  # of an engine, for each launch of a plan: half an hour of nothing but starting


def product_of(*axes: Collection[Any]) -> Iterator[tuple[Any, ...]]:
    """Make every combination of values, one of each axis. Raises InputError, before any is made, if there are
    more than a plan can have.
    """
    check_test_cases(math.prod(map(len, axes)))
    return itertools.product(*axes)


def check_test_cases(number: int) -> None:
    """Raise InputError for more test cases than a plan can have."""
    if number > MOST_TEST_CASES:
        raise InputError(
            f"a plan has at most {MOST_TEST_CASES} test cases, and this one would have more; give fewer "
            "values, or divide it into several plans"
        )


def check_starts(number: int) -> None:
    """Raise InputError for more starts of an engine than a launch of a plan can have."""
    if number > MOST_STARTS:
        raise InputError(
            f"a launch has at most {MOST_STARTS} starts of an engine, and those of this plan have {number}: "
            "each number of ranks and threads, placement, library and variable needs one; give fewer of "
            "these, or divide it into several plans"
        )
