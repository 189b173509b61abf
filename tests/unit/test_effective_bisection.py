"""The mean over drawn matchings from rates that are known, and how often its interval holds the truth."""

from __future__ import annotations

import numpy as np
import pytest

from macro_rows import row
from steelyard.analyses.effective_bisection.model import EffectiveBisection, effective_bisections
from steelyard.analyses.effective_bisection.tables import effective_bisection_tables
from steelyard.render.terminal import Paper, table_text
from steelyard.results.row import Row
from steelyard.stats.crossed_effects import crossed_interval

SIZE, RANKS = 65536, 8
LAUNCHES = (0.98, 1.0, 1.02)


def drawn(seed: int, rate: float, launches: tuple[float, ...] = LAUNCHES, size: int = SIZE) -> Row:
    moved = 4 * size * RANKS
    times = [moved / (rate * factor) * 1e9 for factor in launches]
    middle = float(np.median(times))
    return row(
        "mpi.pattern.matching",
        "a",
        times,
        ranks=RANKS,
        bytes=size,
        sized=True,
        bandwidth=moved / middle * 1e9,
        params={"seed": float(seed), "kind": "biwindow"},
    )


def only(rows: list[Row]) -> EffectiveBisection:
    (found,) = effective_bisections(rows)
    return found


def test_the_mean_over_draws_has_the_scatter_of_draws() -> None:
    found = only([drawn(seed, rate) for seed, rate in enumerate((8e9, 9e9, 10e9, 13e9))])
    assert (found.seeds, found.launches, found.ranks, found.bytes) == (4, 3, RANKS, SIZE)
    assert found.rate.value == pytest.approx(10e9)
    half = 3.1824 * np.std([8e9, 9e9, 10e9, 13e9], ddof=1) / 2  # Student of 3 degrees, over four draws
    of_launches = 4.3027 * 0.02 * 10e9 / 3**0.5
    assert found.rate.high == pytest.approx(10e9 + np.hypot(half, of_launches), rel=1e-3)
    assert (*found.least, *found.most) == pytest.approx((0, 8e9, 3, 13e9))
    assert "seed" not in found.params
    (table,) = effective_bisection_tables([found])
    assert max(map(len, table_text(table, Paper(80, is_pipe=False)).splitlines())) <= 80


def test_draws_of_one_launch_have_no_interval_and_few_draws_no_mean() -> None:
    assert only([drawn(seed, 1e10, (1.0,)) for seed in range(3)]).rate.low is None
    assert effective_bisections([drawn(1, 1e10), drawn(2, 1e10)]) == ()
    assert len(effective_bisections([drawn(s, 1e10, size=n) for s in range(3) for n in (64, 128)])) == 2
    assert effective_bisection_tables(()) == ()
    with pytest.raises(ValueError, match="3 rows and 2 columns"):
        crossed_interval(np.ones((2, 5)))


@pytest.mark.parametrize(("of_rows", "of_columns", "alone"), [(1, 1, 1), (3, 0, 0.3), (0, 3, 0.3), (0, 0, 1)])
def test_the_interval_holds_the_truth_as_often_as_it_says(
    of_rows: float, of_columns: float, alone: float
) -> None:
    """Planted: draws and launches that scatter by much or by nothing."""
    rng, held, tries = np.random.default_rng(381), 0, 1500
    for _ in range(tries):
        rows, columns = rng.normal(0, of_rows, (10, 1)), rng.normal(0, of_columns, (1, 5))
        found = crossed_interval(10 + rows + columns + rng.normal(0, alone, (10, 5)))
        held += found.low <= 10 <= found.high
    assert held / tries >= 0.94
