"""Intervals over groups of values, and wider ones, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.stats.interval import Estimate, group_span, widened

T_OF_2_MEANS = 12.7062047  # the 97.5 % quantile of Student's t with one degree of freedom
T_OF_3_MEANS = 4.3026527


@pytest.mark.parametrize(
    ("data", "labels", "span"),
    [
        ([1, 3, 10, 12], [0, 0, 1, 1], (6.5, T_OF_2_MEANS * 4.5)),  # of the means 2 and 11
        ([1, 3, 11], [0, 0, 1], (6.5, T_OF_2_MEANS * 4.5)),  # a group's weight is not its size
        ([1, 3, 2, 5, 5], [7, 7, 8, 9, 9], (3, T_OF_3_MEANS)),
        ([1, 3, 10, 12], [0, 0, 0, 0], None),
        ([1, 3, 10, 12], [0, 1, 2, 3], None),
    ],
)
def test_the_span_of_groups_is_that_of_their_means(
    data: list[float], labels: list[int], span: tuple[float, float] | None
) -> None:
    found = group_span(np.array(data, dtype=np.float64), np.array(labels), 0.95)
    assert (found is None) == (span is None)
    if found is not None and span is not None:
        centre, half = span
        assert found == pytest.approx((centre - half, centre + half))


@pytest.mark.parametrize(
    ("width", "in_logs", "ends"),
    [
        (1.0, False, (9, 12, 1.0)),
        (1.5, False, (8.5, 13, 1.5)),
        (2.0, False, (8, 14, 2.0)),
        (2.0, True, (8.1, 14.4, 2.0)),
        (1.0, True, (9, 12, 1.0)),
    ],
)
def test_an_interval_is_widened_to_both_sides(
    width: float, in_logs: bool, ends: tuple[float, float, float]
) -> None:
    """By factors of its distances, or of their logarithms."""
    low, high, factor = ends
    found = widened(Estimate(10, 9, 12, 0.95, 5, "t"), width, in_logs)
    assert (found.value, found.low, found.high) == pytest.approx((10, low, high))
    assert found.widened == factor
