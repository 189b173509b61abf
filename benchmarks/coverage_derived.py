"""How often the intervals of what is made of several rows hold the truth, and how often noise makes a break.

    .venv/bin/python benchmarks/coverage_derived.py [--rounds 2000]

Tables as Markdown, beside those of `coverage.py`: p99, overhead, overlap, the ratio of rivals, LogGP, scaling
and the canary. A launch multiplies all that it measures by an effect of 3 %, and each median has noise of its
own of 3 %, but where a world says otherwise. What is called is what the results call.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np
from coverage_table import LAST, Held, held_by, row_of, states_row, table
from numpy.typing import NDArray
from scipy.signal import lfilter

from steelyard.analyses.overlap.model import overlap_of
from steelyard.analyses.scaling.model import ScalingCurve, scaling_curves
from steelyard.records.kinds import KERNEL
from steelyard.results.facets import Rate
from steelyard.results.mode_cause import blame
from steelyard.results.row import Row, RowLaunch
from steelyard.results.values import Look
from steelyard.stats import (
    Interval,
    Mode,
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
# launches -> an interval (None where none is stated), and the truth
Trial = Callable[[np.random.Generator, int], tuple[Estimate | Interval | None, float]]

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


def _fraction(rng: np.random.Generator, n: int) -> tuple[Estimate, float]:
    """Launches scatter around a half by 5 %, as fractions of time or of calls do."""
    return launch_interval(list(0.5 * noise(rng, n, sd=0.05)), logs=False), 0.5


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


COUNTS = (1, 2, 4, 8)  # ranks of a strong scaling
SERIAL = 0.05  # fraction of the time of one rank, by Amdahl's law


def launches_of(times: Floats, count: int = 10) -> tuple[RowLaunch, ...]:
    """Launches of these medians in ns, of `count` samples each, as a row has them."""
    return tuple(
        RowLaunch(
            launch=number,
            status="ok",
            why=None,
            flag="SETTLED",
            count=count,
            rejected=0,
            reps=1,
            median=time,
            ci_low=None,
            ci_high=None,
            lag1=None,
            drift=False,
        )
        for number, time in enumerate(times.tolist(), 1)
    )


def _scaling_row(ranks: int, times: Floats) -> Row:
    """A kernel of 10^9 operations, with launches of these times in ns."""
    median = float(np.median(times))
    return Row(
        point=ranks,
        op="npb.ep",
        role=KERNEL,
        method="each",
        bytes=0,
        ranks=ranks,
        threads=1,
        params={"class": "S"},
        placement=None,
        mpi="mpi-1",
        launch_count=times.size,
        count=10 * times.size,
        rejected=0,
        median=median,
        facets=(Rate(mops=1e9 / median),),
        launches=launches_of(times),
    )


def _strong(rng: np.random.Generator, n: int) -> ScalingCurve:
    """Launches of other numbers of ranks have effects of their own."""
    rows = [_scaling_row(p, 1e9 * (SERIAL + (1 - SERIAL) / p) * noise(rng, n)) for p in COUNTS]
    (curve,) = scaling_curves(rows)
    return curve


def _serial_fraction(rng: np.random.Generator, n: int) -> tuple[Interval, float]:
    return _strong(rng, n).fits[0].terms[0].span, SERIAL


def _efficiency(rng: np.random.Generator, n: int) -> tuple[Interval, float]:
    most = COUNTS[-1]
    return _strong(rng, n).points[-1].efficiency, 1 / (SERIAL * most + 1 - SERIAL)


def _canary(
    rng: np.random.Generator, n: int, truth: float, tail: float = 0.0
) -> tuple[Interval | None, float]:
    """n spells of four looks in either of two modes. A spell moves the canary by 5 %, a look by 5 % more.

    tail: the fraction of looks that another program made 20 times as long.
    """
    looks = []
    for _ in range(n):
        for value, ratio in ((100.0, 1.0), (200.0, truth)):
            canaries = 50.0 * ratio * noise(rng, 1, sd=0.05) * noise(rng, 4, sd=0.05)
            canaries = np.where(rng.random(4) < tail, 20 * canaries, canaries)
            looks += [Look(value, one, 0.0) for one in canaries.tolist()]
    return blame((Mode(100.0, 0.5), Mode(200.0, 0.5)), [looks]).canary_ratio, truth


# Spells of either mode, for an interval of 90 %.
CANARY: dict[str, Trial] = {
    "the same in both modes": lambda rng, n: _canary(rng, n, 1.0),
    "1.5 times as long in the slow one": lambda rng, n: _canary(rng, n, 1.5),
    "the same, one look in ten 20 times as long": lambda rng, n: _canary(rng, n, 1.0, tail=0.1),
}

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
    "LogGP: L + 2 o": lambda rng, n: _loggp(rng, n, "start"),
    "LogGP: G": lambda rng, n: _loggp(rng, n, "slope"),
    "fraction, such as of fairness": _fraction,
}

# Of rivals whose launches are paired, in logarithms: the truth is 0.
PAIRED: dict[str, Trial] = {
    "ratio of rivals": lambda rng, n: _ratio(lambda: 0.03 * rng.standard_normal(n)),
    "ratio, launches alike, lag 1 of 0.4": lambda rng, n: _ratio(lambda: 0.03 * alike(rng, n, 0.4)),
    "ratio, modes 70/30 x 2": lambda rng, n: _ratio(
        lambda: 0.03 * rng.standard_normal(n) + math.log(2) * (rng.random(n) < 0.3)
    ),
}

# Those of a model for each launch.
SCALING: dict[str, Trial] = {
    "scaling: Amdahl's serial fraction": _serial_fraction,
    "scaling: efficiency on 8 ranks": _efficiency,
}


def held(trial: Trial, count: int, rounds: int, level: float | None = None) -> Held:
    """Intervals over `count` launches or spells; `level` is what those state that do not say so."""
    stated = level or launch_interval([1.0 + i for i in range(count)]).level
    return held_by((trial(np.random.default_rng([seed, count]), count) for seed in range(rounds)), stated)


def false_breaks(spread: float, count: int, rounds: int) -> float:
    """The fraction of models of one line in which noise makes a change of protocol."""
    sizes, found = np.array(SIZES, dtype=np.float64), 0
    for seed in range(rounds):
        rng = np.random.default_rng([seed, count])
        times = pieces_at(LINE, sizes) * noise(rng, count, sd=spread)[:, None]
        found += find_breaks(SIZES, (times * noise(rng, count, sizes.size, sd=spread)).tolist()) != ()
    return found / rounds


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="how often derived intervals hold the truth")
    parser.add_argument("--rounds", type=int, default=2000)
    rounds = parser.parse_args().rounds
    heads = list(map(str, LAUNCHES))
    for title, trials in (("launches", TRIALS), ("launches, paired", PAIRED), ("launches", SCALING)):
        rows = []
        for name, trial in trials.items():
            found = [held(trial, n, rounds // 3 if trials is SCALING else rounds) for n in LAUNCHES]
            rows += [states_row(found)] if not rows else []
            rows.append(row_of(name, heads, found))
        print(table([title, *heads, LAST], rows), end="\n\n", flush=True)
    spells = (3, 4, 6, 10, 20, 40)
    heads, rows = list(map(str, spells)), []
    for name, trial in CANARY.items():
        found = [held(trial, n, rounds, 0.90) for n in spells]
        rows += [states_row(found)] if not rows else []
        rows.append(row_of(name, heads, found))
    print(table(["canary's ratio: spells of either mode", *heads, LAST], rows), end="\n\n", flush=True)
    counts = (1, 3, 10)
    rows = [
        [f"{100 * spread:.0f} %", *(f"{100 * false_breaks(spread, n, rounds // 3):.1f} %" for n in counts)]
        for spread in (0.02, 0.05, 0.1)
    ]
    print(table(["false changes of protocol: scatter", *(f"{n} launches" for n in counts)], rows))


if __name__ == "__main__":
    main()
