"""The benchmark of small messages: what it reads of records, and what it tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaded import load_benchmark
from make_records import FakePoint, steady, write_folder

load_benchmark("peers_like")  # which it imports
small = load_benchmark("small_messages")


def test_what_ranks_wait_for_each_other_is_read_and_a_delay_is_taken_out(tmp_path: Path) -> None:
    """Rank 1 starts 200 ns late, and rank 0 waits as long; had it been busy so long, it would not."""
    point = FakePoint(
        "mpi.bcast", steady(500.0), reps=1, method="library-barrier", clock_error=5.0, skew=200.0
    )
    folder = write_folder(tmp_path, [point], launches=1)
    seen = small.seen_in(folder)
    assert seen.waits == pytest.approx((0.2, 0.0), abs=0.01)
    held = small.seen_in(folder, (0.2, 0.0))
    assert held.waits == pytest.approx((0.0, 0.0), abs=0.01)
    assert held.own == pytest.approx(seen.own - 0.1, abs=0.01)  # the mean over two ranks


def test_a_line_has_each_way_with_its_interval() -> None:
    turns = [{"one": small.Seen(1.0), "two": small.Seen(2.0, (0.19, 0.0))} for _ in range(6)]
    assert small.lines_of("osu_bcast", turns) == [
        "| osu_bcast | one | 1 [1, 1] | - |",
        "| osu_bcast | two | 2 [2, 2] | 190, 0 |",
    ]
