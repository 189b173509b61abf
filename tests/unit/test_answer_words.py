"""A number of a model is told alone only if its interval is narrower than what it claims."""

from __future__ import annotations

import pytest

from steelyard.analyses.answer_words import sure_words
from steelyard.base.units import format_time
from steelyard.stats import Interval


@pytest.mark.parametrize(
    ("span", "told"),
    [
        (Interval(12.0), "12.0 ns"),
        (Interval(12.0, 11.0, 14.0), "12.0 ns"),
        (Interval(12.0, 5.0, 30.0), "5.00 ns – 30.0 ns"),
        (Interval(12.0, 0.0, 30.0), "0 ns – 30.0 ns"),
        (Interval(12.0, 1.0, 200.0), "> 10x"),
    ],
)
def test_a_wide_interval_stands_for_its_value(span: Interval, told: str) -> None:
    assert sure_words(span, format_time) == told
