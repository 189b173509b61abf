"""Statistics on values so few that a reader can follow: each number is computed by hand, or is of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from steelyard.stats.autocorrelation import (
    FEW_RHO,
    MOST_RHO,
    NOT_ALIKE,
    common_likeness,
    lag1,
    likeness,
    ranks_of,
)
from steelyard.stats.crossed_effects import crossed_interval
from steelyard.stats.line_fits import (
    Piece,
    f_tail,
    find_breaks,
    fit_pieces,
    median_noise,
    pieces_at,
    relative_fit,
)
from steelyard.stats.moderated_variance import degrees_of, moderated_variance

# ---- autocorrelation -----------------------------------------------------------------------------------

_RISING = (
    0.0,
    1.0,
    3.0,
    2.0,
    5.0,
    4.0,
)  # away from 2.5: products of neighbours 5.25, of each with itself 17.5


@pytest.mark.parametrize(
    ("series", "known"),
    [((1.0, 2.0, 3.0, 4.0), 1.25 / 5), (_RISING, 0.3), ((7.0, 7.0), 0.0), ((1, -1), -0.5)],
)
def test_lag1(series: Sequence[float], known: float) -> None:
    assert lag1(series) == pytest.approx(known)


def test_equal_values_share_their_ranks() -> None:
    assert ranks_of(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [2.5, 0.0, 2.5, 1.0]


@pytest.mark.parametrize(
    ("values", "known"),
    [
        (
            _RISING,
            2 / 3 + 0.2 * math.sqrt((1 - 4 / 9) / 6),
        ),  # 0.3 + (1 + 4 x 0.3) / 6, and a fifth of its error
        ([10 * value for value in _RISING], 2 / 3 + 0.2 * math.sqrt((1 - 4 / 9) / 6)),  # ranks alone count
        (range(6), MOST_RHO),
        ((0, 3, 1, 4, 2, 5), 0.0),
        ((5.0,) * 6, 0.0),
        (_RISING[:5], FEW_RHO),
    ],
)
def test_likeness(values: Sequence[float], known: float) -> None:
    assert likeness(values) == pytest.approx(known)


def test_series_that_are_copies_show_what_one_shows() -> None:
    """Constant series and short ones show nothing."""
    silent = [(1.0,) * 9, (1.0, 2.0)]
    assert common_likeness(silent) == NOT_ALIKE
    one, many = (common_likeness([*silent, *[_RISING] * count]) for count in (1, 20))
    assert (many.rho, many.series) == pytest.approx((one.rho, 1.0))


# ---- variances -----------------------------------------------------------------------------------------


def test_variances_are_drawn_towards_the_common_one() -> None:
    drawn = moderated_variance(np.array([8.0, 0.0]), 5, np.array([3.0, 2.0]))
    assert drawn.tolist() == [(4 * 3 + 8) / 8, 1.0]
    assert degrees_of(np.array([1, 2, 5]), 1).tolist() == [1, 1, 4]
    assert degrees_of(np.array([1, 2, 5]), 2).tolist() == [4, 5, 8]


def test_rows_and_columns_drawn_at_random() -> None:
    """Row means 1.5, 3.5, 5.5 scatter by 2, column means 3 and 4 by 0.7071; t(2) = 4.3027, t(1) = 12.7062."""
    found = crossed_interval(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    half = math.hypot(4.302653 * 2 / math.sqrt(3), 12.706205 * math.sqrt(0.5) / math.sqrt(2))
    assert (found.value, found.n, found.kind, found.level) == (3.5, 2, "crossed", 0.95)
    assert [found.low, found.high] == pytest.approx([3.5 - half, 3.5 + half])


@pytest.mark.parametrize("shape", [(2, 2), (3, 1)])
def test_few_rows_or_columns_have_no_interval(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="3 rows and 2 columns at least"):
        crossed_interval(np.ones(shape))


# ---- lines ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "times", "known"),
    [
        ((1, 2, 4), (13.0, 16.0, 22.0), (10.0, 3.0)),
        ((1, 2), (2.0, 1.0), (1.2, 0.0)),  # falls: (1/2 + 1) / (1/4 + 1), in relative least squares
        ((1, 2), (1.0, 4.0), (0.0, 1.2)),  # starts below 0: (1 + 2/4) / (1 + 4/16)
        ((5,), (7.0,), (7.0, 0.0)),
    ],
)
def test_a_line(sizes: Sequence[int], times: Sequence[float], known: tuple[float, float]) -> None:
    (piece,) = fit_pieces(sizes, times, ())
    assert (piece.least, piece.start, piece.slope) == (sizes[0], *map(pytest.approx, known))
    assert piece.at(10) == pytest.approx(known[0] + 10 * known[1])


def test_small_and_large_times_have_equal_weight() -> None:
    assert relative_fit(np.ones((2, 1)), [1.0, 100.0]).tolist() == [pytest.approx(1.01 / 1.0001)]


def test_a_size_where_a_line_begins_is_its_own() -> None:
    pieces = fit_pieces((1, 2, 4, 8), (2.0, 3.0, 18.0, 26.0), (4,))
    assert [piece.least for piece in pieces] == [1, 4]
    assert pieces_at(pieces, np.array([0.0, 1.0, 3.0, 4.0, 5.0])).tolist() == pytest.approx([1, 2, 4, 18, 20])
    with pytest.raises(ValueError, match="no size between 9 and inf"):
        fit_pieces((1, 2), (1.0, 2.0), (9,))


@pytest.mark.parametrize(
    ("more", "freedom", "ratio", "known"),
    [
        (2, 10, 4.1028, 0.05),
        (1, 5, 6.6079, 0.05),
        (3, 7, 8.4513, 0.01),
        (2, 10, 0.0, 1.0),
        (2, 10, -3.0, 1.0),
    ],
)
def test_the_table_of_f(more: int, freedom: int, ratio: float, known: float) -> None:
    assert f_tail(more, freedom, ratio) == pytest.approx(known, rel=1e-3)


def test_the_noise_of_medians() -> None:
    """Logarithms 0 1 / 0 0: what neither launch nor size explains is 1/4 each, with one degree of freedom."""
    table = np.exp(np.array([[0.0, 1.0], [0.0, 0.0]]))
    assert list(median_noise(table)) == pytest.approx([math.sqrt(4 / 16 / 2 * math.pi / 2), 1])
    even = np.ones((3, 4)) * np.array([[1.0], [2.0], [9.0]])
    assert list(median_noise(even)) == pytest.approx([0.0, 6], abs=1e-12)
    assert median_noise(table[:1]) == median_noise(table[:, :1]) == (0.0, 0)


_SIZES = (1, 100, 200, 300, 400, 500, 600, 700, 800)


def _times(*lines: tuple[float, float]) -> list[float]:
    """Three sizes of each line."""
    return [
        start + slope * size for i, size in enumerate(_SIZES) for start, slope in [lines[i // 3 % len(lines)]]
    ]


@pytest.mark.parametrize(
    ("times", "breaks"),
    [
        (_times((100.0, 1.0)), ()),
        (_times((100.0, 1.0), (1000.0, 1.0), (1000.0, 1.0)), (300,)),
        (_times((100.0, 1.0), (100.0, 1.0), (5000.0, 1.0)), (600,)),
        (_times((100.0, 1.0), (1000.0, 1.0), (5000.0, 1.0)), (300, 600)),
        (_times((1000.0, 0.0), (1010.0, 0.0), (1010.0, 0.0)), ()),  # 1 % is what any line may miss
        (_times((1000.0, 0.0), (1200.0, 0.0), (1200.0, 0.0)), (300,)),
    ],
)
@pytest.mark.parametrize("launches", [1, 4])
def test_breaks_of_exact_lines(times: list[float], breaks: tuple[int, ...], launches: int) -> None:
    effects = np.linspace(1.0, 1.3, launches)[:, None]
    assert find_breaks(_SIZES, (effects * np.array(times)).tolist()) == breaks


def test_a_piece_has_three_sizes() -> None:
    assert find_breaks(_SIZES[:5], [[1.0, 1.0, 1.0, 900.0, 900.0]]) == ()
    assert find_breaks(_SIZES[:6], [[1.0, 1.0, 1.0, 900.0, 900.0, 900.0]]) == (300,)


def test_a_piece_says_its_time() -> None:
    assert Piece(8, 100.0, 0.5).at(64) == 132.0
