"""The max-rate model from rates that are known."""

from __future__ import annotations

import pytest

from macro_rows import row
from steelyard.analyses.max_rate.model import MaxRate, max_rates_of
from steelyard.analyses.max_rate.tables import max_rate_tables, unmodelled_rate_tables
from steelyard.render.terminal import Paper, table_text
from steelyard.results.row import Row

SIZE, PAIR = 65536, 8e9
FACTORS = (0.98, 1.0, 1.01, 1.02)


def pattern(
    pairs: int, shared: float = float("inf"), op: str = "mpi.pattern.neighbours", method: str = "batch"
) -> Row:
    """A window of 64 messages of each pair."""
    moved = 64 * SIZE * pairs
    times = [moved / min(pairs * PAIR, shared) * 1e9 / one for one in FACTORS]
    middle = sorted(times)[1] / 2 + sorted(times)[2] / 2
    rate = moved / middle * 1e9
    return row(op, "a", times, ranks=2 * pairs, bytes=SIZE, sized=True, bandwidth=rate, method=method)


def only(rows: list[Row]) -> MaxRate:
    (found,) = max_rates_of(rows)
    return found


@pytest.mark.parametrize("shared", [20e9, 40e9])
def test_a_pair_and_what_all_share_are_found(shared: float) -> None:
    one = only([pattern(pairs, shared) for pairs in (16, 8, 4, 2, 1)])
    assert [pairs for pairs, _ in one.points] == [1, 2, 4, 8, 16]
    assert one.pair.value == pytest.approx(PAIR, rel=0.02)
    assert one.shared is not None
    assert one.shared.value == pytest.approx(shared, rel=0.02)
    assert (one.shared.low or 0) < shared < (one.shared.high or 0)
    assert one.missed < 0.05


def test_pairs_that_all_add_share_nothing_yet() -> None:
    one = only([pattern(pairs) for pairs in (1, 2, 4)])
    assert one.shared is None
    (table,) = max_rate_tables([one])
    assert max(map(len, table_text(table, Paper(80, is_pipe=False)).splitlines())) <= 80
    assert "not reached" in table.lines[1].cells


def test_few_pairs_and_other_patterns_make_none() -> None:
    assert max_rates_of([pattern(1), pattern(2)]) == ()
    assert max_rates_of([pattern(pairs, op="mpi.pattern.ring") for pairs in (1, 2, 4)]) == ()
    assert max_rate_tables(()) == ()


def test_pairs_beyond_the_cores_are_no_curve_and_that_is_said() -> None:
    few = [pattern(pairs, method="epoch" if pairs == 1 else "barrier") for pairs in (1, 2, 4)]
    assert max_rates_of(few) == ()
    (table,) = unmodelled_rate_tables(few)
    assert [line.cells for line in table.lines] == [
        ("mpi.pattern.neighbours 64 KiB of a", "2 by epoch; 4 and 8 by barrier")
    ]
    assert unmodelled_rate_tables([*few, pattern(8, method="barrier")]) == ()
