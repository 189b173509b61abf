"""How often the intervals of what is made of several rows hold the truth, and how often noise makes a break.

    .venv/bin/python benchmarks/coverage_derived.py [--rounds 1000]

Tables as Markdown, beside those of `coverage.py`: p99, overhead, overlap, the ratio of rivals, LogGP. A
launch multiplies all that it measures by an effect of 3 %, and each median has noise of its own of 3 %, but
where a world says otherwise. What is called is what the results call.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from steelyard.models.overlap import overlap_of
from steelyard.stats import (
    Piece,
    difference_interval,
    find_breaks,
    fit_pieces,
    launch_interval,
    pieces_at,
    quantile,
)
from steelyard.stats.interval import Estimate

Floats = NDArray[np.float64]
Trial = Callable[[np.random.Generator, int], tuple[Estimate, float]]  # launches -> an interval, and the truth

LAUNCHES = (2, 3, 5, 6, 10, 20)
SIZES = [1, 64, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304]
LINE = (Piece(1, 400.0, 0.4),)


def noise(rng: np.random.Generator, *shape: int, sd: float = 0.03) -> Floats:
    """Factors around 1."""
    return np.asarray(np.exp(sd * rng.standard_normal(shape)))


def alike(rng: np.random.Generator, count: int, phi: float) -> Floats:
    """AR(1) of unit variance, stationary from the start."""
    own = rng.standard_normal(count) * math.sqrt(1 - phi**2)
    own[0] /= math.sqrt(1 - phi**2)
    return np.asarray(lfilter([1.0], [1.0, -phi], own), dtype=np.float64)


def _p99(rng: np.random.Generator, n: int) -> tuple[Estimate, float]:
    """Samples are lognormal, 30 %; 2000 of them in each launch."""
    samples = np.exp(0.3 * rng.standard_normal((n, 2000))) * noise(rng, n)[:, None]
    return launch_interval([quantile(one, (0.99,))[0] for one in samples]), math.exp(0.3 * 2.3263)


def _overhead(rng: np.random.Generator, n: int, wild: float) -> tuple[Estimate, float]:
    """50 ns beyond a reference of 1000 ns; the construct alone has a tail of `wild` times e^normal ns."""
    common = noise(rng, n)
    tail = wild * (np.exp(rng.standard_normal(n)) - 1)  # its median is 0
    construct, reference = 50 + 1000 * common + tail, 1000 * common
    own = 5 * rng.standard_normal((2, n))
    return launch_interval(list(construct + own[0] - reference - own[1]), logs=False), 50.0


def _overlap(rng: np.random.Generator, n: int) -> tuple[Estimate, float]:
    """Half of the shorter is hidden; launches differ by 20 %, the three times in each by 1 %."""
    pure, work, both = (
        np.array([[1000.0], [1000.0], [1500.0]]) * noise(rng, n, sd=0.2) * noise(rng, 3, n, sd=0.01)
    )
    values = [overlap_of(*three) for three in zip(pure, work, both, strict=True)]
    return launch_interval(values, logs=False), 0.5


def _ratio(own: Callable[[], Floats]) -> tuple[Estimate, float]:
    """Rivals that are alike, launches paired."""
    return difference_interval(list(own() - own())), 0.0


def _loggp(rng: np.random.Generator, n: int, which: str) -> tuple[Estimate, float]:
    sizes = np.array(SIZES, dtype=np.float64)
    times = pieces_at(LINE, sizes) * noise(rng, n)[:, None] * noise(rng, n, sizes.size)
    lines = [fit_pieces(SIZES, one.tolist(), ())[0] for one in times]
    return launch_interval([getattr(line, which) for line in lines]), getattr(LINE[0], which)


def _alike_medians(rng: np.random.Generator, n: int, phi: float) -> tuple[Estimate, float]:
    return launch_interval(list(np.exp(0.03 * alike(rng, n, phi)))), 1.0


def _modes_that_last(rng: np.random.Generator, n: int) -> tuple[Estimate, float]:
    """30 % of launches are twice as slow, and a launch stays in the mode of the one before with 0.8."""
    is_slow = [rng.random() < 0.3]
    while len(is_slow) < n:
        is_slow.append(is_slow[-1] if rng.random() < 0.8 else rng.random() < 0.3)
    return launch_interval(list(np.where(is_slow, 2.0, 1.0) * noise(rng, n))), 1.0166


TRIALS: dict[str, Trial] = {
    "median, lognormal 30 %": lambda rng, n: (launch_interval(list(noise(rng, n, sd=0.3))), 1.0),
    "median, Pareto 1.5": lambda rng, n: (
        launch_interval(list(1 + 0.1 * rng.pareto(1.5, n))),
        1 + 0.1 * (2 ** (1 / 1.5) - 1),
    ),
    "median, launches alike, lag 1 of 0.8": lambda rng, n: _alike_medians(rng, n, 0.8),
    "median, modes that last": _modes_that_last,
    "p99": _p99,
    "overhead": lambda rng, n: _overhead(rng, n, 0.0),
    "overhead, the construct with a tail": lambda rng, n: _overhead(rng, n, 20.0),
    "overlap": _overlap,
    "ratio of rivals": lambda rng, n: _ratio(lambda: 0.03 * rng.standard_normal(n)),
    "ratio, launches alike, lag 1 of 0.4": lambda rng, n: _ratio(lambda: 0.03 * alike(rng, n, 0.4)),
    "ratio, modes 70/30 x 2": lambda rng, n: _ratio(
        lambda: 0.03 * rng.standard_normal(n) + math.log(2) * (rng.random(n) < 0.3)
    ),
    "LogGP: L + 2 o": lambda rng, n: _loggp(rng, n, "start"),
    "LogGP: G": lambda rng, n: _loggp(rng, n, "slope"),
}


def held(trial: Trial, count: int, rounds: int) -> float:
    """The fraction of intervals over `count` launches that hold the truth."""
    found = 0
    for seed in range(rounds):
        estimate, truth = trial(np.random.default_rng([seed, count]), count)
        found += estimate.low <= truth <= estimate.high
    return found / rounds


def false_breaks(spread: float, count: int, rounds: int) -> float:
    """The fraction of models of one line in which noise makes a change of protocol."""
    sizes, found = np.array(SIZES, dtype=np.float64), 0
    for seed in range(rounds):
        rng = np.random.default_rng([seed, count])
        times = pieces_at(LINE, sizes) * noise(rng, count, sd=spread)[:, None]
        found += find_breaks(SIZES, (times * noise(rng, count, sizes.size, sd=spread)).tolist()) != ()
    return found / rounds


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """As Markdown."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="how often derived intervals hold the truth")
    parser.add_argument("--rounds", type=int, default=1000)
    rounds = parser.parse_args().rounds
    rows = [
        [name, *(f"{100 * held(trial, n, rounds):.0f} %" for n in LAUNCHES)] for name, trial in TRIALS.items()
    ]
    print(table(["launches", *map(str, LAUNCHES)], rows))
    print()
    counts = (1, 3, 10)
    rows = [
        [f"{100 * spread:.0f} %", *(f"{100 * false_breaks(spread, n, rounds // 3):.1f} %" for n in counts)]
        for spread in (0.02, 0.05, 0.1)
    ]
    print(table(["false changes of protocol: scatter", *(f"{n} launches" for n in counts)], rows))


if __name__ == "__main__":
    main()
