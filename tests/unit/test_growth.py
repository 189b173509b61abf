"""Growth with ranks: models of times that are known, and what they say of more ranks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from further import further
from macro_rows import row
from steelyard.analyses.growth.model import Growth, growths_of
from steelyard.analyses.growth.normal_form import fit_normal_form, predict
from steelyard.analyses.growth.pictures import growth_charts
from steelyard.analyses.growth.tables import growth_tables, model_words, unmodelled_growth_tables
from steelyard.records.kinds import COLLECTIVE
from steelyard.render.terminal import Paper, table_text
from steelyard.results.row import Row

RANKS = (4, 8, 16, 32, 64)
TRUE: dict[str, Callable[[float], float]] = {
    "": lambda _: 700.0,
    "log2(p)": lambda p: 1000 + 300 * np.log2(p),
    "p": lambda p: 500 + 40 * p,
    "p log2(p)": lambda p: 100 + 5 * p * np.log2(p),
    "p^2": lambda p: 50 + 2 * p**2,
}


@pytest.mark.parametrize("name", TRUE)
def test_the_true_model_is_found_and_holds_beyond_the_ranks(name: str) -> None:
    true = TRUE[name]
    model = fit_normal_form(RANKS, [true(p) for p in RANKS])
    assert model is not None
    assert [shape.words for shape in model.shapes] == ([name] if name else [])
    assert model.error < 1e-6
    assert model.at(256) == pytest.approx(true(256))
    span = predict(model, 256)
    assert span.low is not None
    assert span.high is not None
    assert span.low < true(256) < span.high < 1.3 * true(256)


def test_two_terms_are_taken_where_counts_check_them() -> None:
    counts = (2, 4, 8, 16, 32, 64, 128)
    model = fit_normal_form(counts, [1000 + 900 * np.log2(p) + 4 * p**1.5 for p in counts])
    assert model is not None
    assert {shape.words for shape in model.shapes} == {"log2(p)", "p^3/2"}
    assert fit_normal_form(counts[:3], [1.0, 2.0, 3.0]) is None


@pytest.mark.parametrize("name", ["log2(p)", "p", "p log2(p)"])
def test_an_interval_of_noisy_times_holds_the_truth(name: str) -> None:
    """3 % noise: four times the ranks, in 90 of 100 curves at least."""
    rng, true = np.random.default_rng(7), TRUE[name]
    held = 0
    for _ in range(60):
        model = fit_normal_form(RANKS, [true(p) * np.exp(0.03 * rng.standard_normal()) for p in RANKS])
        assert model is not None
        span = predict(model, 256)
        held += (span.low or 0) <= true(256) <= (span.high or 0)
    assert held >= 54


@pytest.mark.parametrize(
    "true", [lambda p: 100 + 40 * min(p, 32), lambda p: 5000 * p / (p + 16)], ids=["ends at 32", "slows down"]
)
@pytest.mark.parametrize("count", [32, further(64)])
def test_an_interval_holds_growth_that_ends_beyond_the_ranks(
    true: Callable[[float], float], count: int
) -> None:
    """What no number of ranks up to 16 shows: in 90 of 100 curves at least."""
    rng, held, ranks = np.random.default_rng(11), 0, (2, 3, 4, 6, 8, 12, 16)
    for _ in range(20):
        model = fit_normal_form(ranks, [true(p) * np.exp(0.03 * rng.standard_normal()) for p in ranks])
        assert model is not None
        span = predict(model, count)
        held += (span.low or 0) <= true(count) <= (span.high or 0)
    assert held >= 18


def bcast(ranks: int, ns: float, size: int = 8, **more: object) -> Row:
    times = [ns * one for one in (0.99, 1.0, 1.01)]
    return row("mpi.bcast", "a", times, ranks=ranks, bytes=size, role=COLLECTIVE, sized=True, **more)


def only(rows: list[Row]) -> Growth:
    (found,) = growths_of(rows)
    return found


def test_rows_over_ranks_make_a_curve_with_a_table_and_a_picture() -> None:
    one = only([bcast(p, TRUE["log2(p)"](p)) for p in reversed(RANKS)])
    assert [point.ranks for point in one.points] == list(RANKS)
    assert (one.bytes, one.terms[0].words, one.rivals) == (8, "log2(p)", 1)  # steps and bytes
    assert [(ahead.ranks, round(ahead.time.value)) for ahead in one.ahead] == [(128, 3100), (256, 3400)]
    assert model_words(one) == "1.00 us + 300 ns log2(p)"
    (table,) = growth_tables([one])
    assert "256: 3.40 us" in table.lines[0].cells[-1]
    assert max(map(len, table_text(table, Paper(80, is_pipe=False)).splitlines())) <= 80
    assert "algorithm" in table.notes[0]
    (chart,) = growth_charts([one])
    assert chart.x.high > 256


def test_three_numbers_of_ranks_and_other_ops_make_none() -> None:
    assert growths_of([bcast(p, 1e3) for p in RANKS[:3]]) == ()
    assert growths_of([row("mpi.pingpong", "a", [1e3], ranks=p) for p in RANKS]) == ()
    assert growth_tables(()) == ()


def test_steps_and_bytes_are_told_from_five_numbers_of_ranks() -> None:
    """Whether they fit best, or another model fits as well: then they widen what is said of more ranks."""
    both = fit_normal_form(RANKS, [1000 + 1300 * np.log2(p) + 90 * p for p in RANKS])
    assert both is not None
    assert [shape.words for shape in both.shapes] == ["log2(p)", "p"]
    steps = fit_normal_form(RANKS, [1300 * np.log2(p) + 3 * p for p in RANKS])
    assert steps is not None
    span = predict(steps, 256)
    assert span.low is not None
    assert span.high is not None
    assert span.low < 1300 * 8 + 3 * 256 < span.high


def test_ranks_beyond_the_cores_are_no_curve_and_that_is_said() -> None:
    """The method changes there; with enough ranks by one method there is an answer, and no excuse."""
    few = [bcast(p, 1e3 * p, method="epoch" if p <= 4 else "barrier") for p in (2, 4, 8, 16)]
    assert growths_of(few) == ()
    (table,) = unmodelled_growth_tables(few)
    assert "needs 4 numbers of ranks by one method" in table.explained
    assert [line.cells for line in table.lines] == [
        ("mpi.bcast 8 B of a", "2 and 4 by epoch; 8 and 16 by barrier")
    ]
    assert unmodelled_growth_tables([*few, *(bcast(p, 1e3 * p, method="epoch") for p in (3, 5))]) == ()
    assert unmodelled_growth_tables(few[:3]) == ()
    assert unmodelled_growth_tables([bcast(p, 1e3 * p, method="barrier") for p in (2, 4, 8, 16)]) == ()
