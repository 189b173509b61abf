"""Ratios and their intervals in words."""

from __future__ import annotations

import pytest

from steelyard.rows.words import ratio_span


@pytest.mark.parametrize(
    ("ratio", "low", "high", "said"),
    [
        (1.02, 0.98, 1.06, ("1.020", "0.980", "1.060")),
        (150.0, 140.0, 161.0, ("150", "140", "161")),  # far from 1, and known well
        (1 / 150, 1 / 161, 1 / 140, ("1/150", "1/161", "1/140")),
        (22.6, 10.8, 3e9, ("22.6", "10.8", "> 100")),
        (1.5, 8.22e-05, 2.0, ("1.500", "< 1/100", "2.000")),
        (7.0, 0.001, 51_200_000_000.0, ("-", "< 1/100", "> 100")),
        (1.5, None, None, ("1.500", "-", "-")),
        (None, None, None, ("-", "-", "-")),
    ],
)
def test_an_end_that_says_nothing_is_no_number(
    ratio: float | None, low: float | None, high: float | None, said: tuple[str, str, str]
) -> None:
    assert ratio_span(ratio, low, high) == said
