"""Made-up nights: results folders of one plan, a day apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from make_records import BEGAN_NS, FakePoint, steady, write_folder

DAY_NS = 86_400 * 10**9


NIGHT_TIMES = {("mpi.allreduce", 8): 3000.0, ("mpi.allreduce", 1024): 5000.0, ("mpi.bcast", 8): 1500.0}


def made_night(
    store: Path, number: int, slow: dict[tuple[str, int], float] | None = None, **more: object
) -> Path:
    """A night of three launches; what the night adds to all launches of a test case scatters by 1 %."""
    rng = np.random.default_rng([7, number])
    mpi = str(more.pop("mpi", "mpich-4.0.2"))
    points = [
        FakePoint(
            op,
            steady(
                time * (slow or {}).get((op, size), 1.0) * np.exp(rng.normal(0, 0.01)),
                spread=0.02,
                count=60,
                between=0.01,
            ),
            bytes=size,
            mpi=mpi,
        )
        for (op, size), time in NIGHT_TIMES.items()
    ]
    began = BEGAN_NS + number * DAY_NS
    store.mkdir(exist_ok=True)
    return write_folder(
        store / f"night-{number:02d}",
        points,
        launches=3,
        seed=number,
        began_ns=began,
        **more,  # type: ignore[arg-type]
    )
