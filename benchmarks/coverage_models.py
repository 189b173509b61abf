"""How often models say what is true: LogGP and growth, of costs in their family and outside it.

    .venv/bin/python benchmarks/coverage_models.py [--rounds 200]

Rows of known costs are made, launches scatter by 3 % and each median by 3 % more, and the models of the
results are made of them. LogGP: L + 2 o is what an empty message takes, G what a byte more takes at the
largest size. Growth: collectives on 2, 3, 4, 6, 8, 12 and 16 ranks, and what they take on 32 and 64.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from coverage_derived import Floats, launches_of, noise
from coverage_table import LAST, Held, held_by, row_of, states_row, table

from steelyard.analyses.growth.model import growths_of
from steelyard.analyses.loggp.model import log_models
from steelyard.records.kinds import COLLECTIVE, LATENCY, MPI
from steelyard.results.row import Row
from steelyard.stats import Interval, launch_interval

Cost = Callable[[Floats], Floats]  # ns of messages of so many bytes, or on so many ranks

SIZES = np.array([0, 1, 8, 64, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304], dtype=np.float64)
COUNTS = np.array([2, 3, 4, 6, 8, 12, 16], dtype=np.float64)
AHEAD = (32, 64)
LAUNCHES = (3, 5, 10)


def _rising(x: Floats, *edges: float) -> Floats:
    """A cost per byte of 0.1 ns that doubles at each edge, as caches end."""
    found = 400 + 0.1 * x
    for k, edge in enumerate(edges):
        found = found + 0.1 * 2**k * np.maximum(x - edge, 0)
    return np.asarray(found)


LOGGP: dict[str, Cost] = {
    "one line": _rising,
    "the cost per byte doubles at 32 KiB": lambda x: _rising(x, 32768),
    "and at 512 KiB": lambda x: _rising(x, 32768, 524288),
    "and at 2 KiB, four lines": lambda x: _rising(x, 2048, 32768, 524288),
    "another protocol from 4 KiB on": lambda x: np.where(x >= 4096, 1500 + 0.1 * x, 400 + 0.1 * x),
    "square-root start-up": lambda x: 400 + 5 * np.sqrt(x) + 0.1 * x,
}
GROWTH: dict[str, Cost] = {
    "log2 p": lambda p: 1000 + 500 * np.log2(p),
    "p": lambda p: 1000 + 300 * p,
    "log2 p and p": lambda p: 500 + 500 * np.log2(p) + 100 * p,
    "the root of p": lambda p: 1000 + 700 * np.sqrt(p),
    "constant": lambda p: 0 * p + 1000,
    "p, no more from 32 on": lambda p: 1000 + 300 * np.minimum(p, 32),
    "p / (p + 16)": lambda p: 1000 + 9000 * p / (p + 16),
    "p squared": lambda p: 1000 + 20 * p**2,
}


def _row(point: int, times: Floats, **kind: object) -> Row:
    over = launch_interval(times.tolist())
    return Row(  # type: ignore[arg-type]
        point=point,
        method="batch",
        threads=1,
        params={},
        placement=None,
        mpi="mpi-1",
        launch_count=times.size,
        count=10 * times.size,
        rejected=0,
        median=over.value,
        ci_low=over.low,
        ci_high=over.high,
        ci_level=over.level,
        launches=launches_of(times),
        **kind,
    )


def _times(rng: np.random.Generator, cost: Floats, n: int, common: bool = True) -> Floats:
    """The launch medians of each cost, (costs, n); `common`: one launch has all of them, as all sizes."""
    launches = noise(rng, 1, n) if common else noise(rng, cost.size, n)
    return np.asarray(cost[:, None] * launches * noise(rng, cost.size, n))


def loggp_held(cost: Cost, n: int, rounds: int) -> dict[str, Held]:
    """How often L + 2 o of the first line and G of the last hold."""
    start, last = float(cost(np.zeros(1))[0]), SIZES[-2:]
    gap = float(np.diff(cost(last))[0] / np.diff(last)[0])

    def models() -> Iterator[tuple[Interval, Interval]]:
        for seed in range(rounds):
            rng = np.random.default_rng([seed, n])
            rows = [
                _row(k, own, op="mpi.pingpong", role=LATENCY, layer=MPI, bytes=int(size), ranks=2)
                for k, (size, own) in enumerate(zip(SIZES, _times(rng, cost(SIZES), n), strict=True))
            ]
            (model,) = log_models(rows)
            yield model.pieces[0].start, model.pieces[-1].gap

    found = list(models())
    level = launch_interval([1.0 + k for k in range(n)]).level
    return {
        "L + 2 o": held_by(((one, start) for one, _ in found), level),
        "last G": held_by(((other, gap) for _, other in found), level),
    }


def growth_held(cost: Cost, n: int, rounds: int) -> list[Held]:
    """How often the intervals of more ranks hold the truth."""
    ahead: list[list[Interval]] = [[] for _ in AHEAD]
    for seed in range(rounds):
        rng = np.random.default_rng([seed, n])
        rows = [
            _row(k, own, op="mpi.allreduce", role=COLLECTIVE, layer=MPI, bytes=8, ranks=int(p))
            for k, (p, own) in enumerate(zip(COUNTS, _times(rng, cost(COUNTS), n, common=False), strict=True))
        ]
        (model,) = growths_of(rows)
        for place, one in enumerate(model.ahead):
            ahead[place].append(one.time)
    truths = cost(np.array(AHEAD, dtype=np.float64))
    return [held_by((one, float(truth)) for one in own) for own, truth in zip(ahead, truths, strict=True)]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="how often models say what is true")
    parser.add_argument("--rounds", type=int, default=200)
    rounds = parser.parse_args().rounds
    heads, rows = [f"{what}, {n}" for n in LAUNCHES for what in ("L + 2 o", "last G")], []
    for name, cost in LOGGP.items():
        entries = [one for n in LAUNCHES for one in loggp_held(cost, n, rounds).values()]
        rows += [states_row(entries)] if not rows else []
        rows.append(row_of(name, heads, entries))
    print(table(["LogGP; launches", *heads, LAST], rows), end="\n\n", flush=True)
    heads, rows = [f"{p} ranks, {n}" for n in LAUNCHES for p in AHEAD], []
    for name, cost in GROWTH.items():
        entries = [one for n in LAUNCHES for one in growth_held(cost, n, max(1, rounds // 4))]
        rows += [states_row(entries)] if not rows else []
        rows.append(row_of(name, heads, entries))
    print(table(["growth, from 2 to 16 ranks; launches", *heads, LAST], rows))


if __name__ == "__main__":
    main()
