"""What an acceptance says of the time that the system takes from cores, whose launches differ."""

from __future__ import annotations

import pytest

from steelyard.judges.accept.noise import MOST_LOST, interval_of_shares


@pytest.mark.parametrize(
    ("shares", "low", "high"),
    [
        (
            (0.41, 0.33, 0.39, 0.45, 0.57, 0.49, 0.52, 0.60, 0.57, 0.44),
            MOST_LOST,
            1.0,
        ),  # one rises to another
        ((0.41, 0.33, 0.39, 0.45, 0.57), MOST_LOST, 1.0),
        ((0.0, 0.001, 0.0005, 0.002, 0.0), -MOST_LOST, MOST_LOST),
        ((0.0, 0.9), -MOST_LOST, 1.0),
    ],
)
def test_a_lost_share_is_between_none_and_all(shares: tuple[float, ...], low: float, high: float) -> None:
    """Much is surely lost where each launch lost much, however they differ."""
    interval = interval_of_shares(shares, 0.99)
    assert low <= interval.low <= interval.value <= interval.high <= high
