"""Made-up hosts that meet in some rounds of a tournament, drawn from many."""

from __future__ import annotations

import numpy as np

from make_records import FakePoint, steady

DRAWN = 8  # rounds


def drawn_rounds(count: int, slow: int | None, link: tuple[int, int] | None = None) -> list[FakePoint]:
    """So many hosts, a rank on each; all messages of one take a quarter longer, or those of a link twice as
    long.
    """
    last = count - 1
    points = []
    for number in np.linspace(1, last, DRAWN).astype(int):
        partners = [int(number - rank) % last for rank in range(last)]
        alone = next(rank for rank in range(last) if partners[rank] == rank)
        partners = [last if rank == alone else partners[rank] for rank in range(last)] + [alone]
        slower = [1.25 if slow in pair else 1.0 for pair in enumerate(partners)]
        points.append(
            FakePoint(
                "mpi.pattern.round_robin",
                steady(2000.0, count=12),
                ranks=count,
                report="message",
                method="each",
                reps=1,
                params={"round": float(number)},
                partners=tuple(partners),
                pace=tuple(
                    2.0 if link in (pair, pair[::-1]) else time
                    for pair, time in zip(enumerate(partners), slower, strict=True)
                ),
            )
        )
    return points
