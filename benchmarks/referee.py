"""How often what `show` prints holds, of processes as machines have them.

    .venv/bin/python benchmarks/referee.py [--rounds 400] [--only NAME ...]

Samples of launches are planted, and rows are made of them as `show` makes them. An entry is as in
`coverage_table.py`: how often `time_low` to `time_high` holds the median over launches of launch medians, and
`p99_low` to `p99_high` that of the launches' own p99. The truth is that of launches of all sittings, hosts
and modes that there are.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/helpers"))

import numpy as np
from coverage_derived import Floats, alike
from coverage_table import LAST, Held, held_by, row_of, states_row, table

from planted import BEGAN_NS, HOUR_NS, measured, planted
from steelyard.results.facets import Samples
from steelyard.results.row import Row
from steelyard.results.rows import rows_of
from steelyard.stats import Interval, quantile

BASE = 1000.0  # ns
SAMPLES = 1200  # of a launch
LAUNCHES = (3, 5, 6, 10, 20, 30)
POPULATION = 3000  # launches that a truth is taken from
SCATTER = 0.03  # of launches

Logs = Callable[[np.random.Generator, int], Floats]  # the logarithms of launches, (n,)
Inside = Callable[[np.random.Generator], Floats]  # the samples of a launch, around 1


def scattered(rng: np.random.Generator, n: int) -> Floats:
    """Launches that are independent."""
    return np.asarray(SCATTER * rng.standard_normal(n))


def noise(rng: np.random.Generator) -> Floats:
    """Samples that scatter by 5 %."""
    return np.asarray(np.exp(0.05 * rng.standard_normal(SAMPLES)))


@dataclass(frozen=True, slots=True)
class World:
    """Launches in time, samples in a launch; `sittings` so many hours apart, `hosts` in rotation.

    `marginal` draws launches that have nothing in common, of which the truth is.
    """

    launches: Logs = scattered
    inside: Inside = noise
    marginal: Logs | None = None
    sittings: int = 1
    hosts: int = 1
    between: float = 0.0  # what a sitting, or a host, adds

    def row(self, rng: np.random.Generator, n: int) -> Row:
        """The row of so many launches."""
        logs = self.launches(rng, n)
        sitting = np.arange(n) * self.sittings // n
        host = np.arange(n) % self.hosts
        logs = logs + (self.between * rng.standard_normal(self.sittings))[sitting] * (self.sittings > 1)
        logs = logs + (self.between * rng.standard_normal(self.hosts))[host] * (self.hosts > 1)
        began = [BEGAN_NS + int(s) * 9 * HOUR_NS + k * 1_000_000_000 for k, s in enumerate(sitting)]
        samples = [BASE * math.exp(one) * self.inside(rng) for one in logs]
        point = planted(samples, began_ns=began, hosts=[f"n{one}" for one in host], tick=self.tick)
        return rows_of(measured([point]))[0]

    @property
    def tick(self) -> float:
        """Of the timer, in ns."""
        return TICK if self.inside is ticking else 0.0

    def truth(self, p: float) -> float:
        """The median over launches of their own quantiles."""
        rng = np.random.default_rng(5)
        logs = (self.marginal or self.launches)(rng, POPULATION)
        logs = logs + self.between * rng.standard_normal(POPULATION)
        own = [math.exp(one) * quantile(self.inside(rng), (p,), self.tick / BASE)[0] for one in logs]
        return BASE * float(np.median(own))


def modes(rng: np.random.Generator, n: int, ratio: float, share: float, stay: float = 0.0) -> Floats:
    """Launches of two modes; one stays in that of the launch before."""
    is_slow = rng.random(n) < share
    for k in range(1, n):
        is_slow[k] = is_slow[k - 1] if rng.random() < stay else is_slow[k]
    return scattered(rng, n) + math.log(ratio) * is_slow


def spells(rng: np.random.Generator) -> Floats:
    """In one launch of ten, a spell of 5 % of the samples takes three times as long."""
    values = noise(rng)
    if rng.random() < 0.1:
        length = SAMPLES // 20
        at = rng.integers(SAMPLES - length)
        values[at : at + length] *= 3
    return values


def shifting(rng: np.random.Generator) -> Floats:
    """From a random instant on, all takes 20 % longer."""
    values = noise(rng)
    values[rng.integers(SAMPLES) :] *= 1.2
    return values


TICK = 100.0  # ns


def ticking(rng: np.random.Generator) -> Floats:
    """Durations of BASE by a timer of 100 ns, whose phase is random."""
    true = noise(rng) * BASE
    phase = rng.random(SAMPLES) * TICK
    return np.asarray((np.floor((true + phase) / TICK)) * TICK / BASE)


WORLDS = {
    "independent, 3 %": World(),
    "samples: AR(1) for 50 of 1200": World(
        inside=lambda rng: np.exp(0.05 * alike(rng, SAMPLES, math.exp(-1 / 50)))
    ),
    "samples: Pareto 1.2": World(inside=lambda rng: 1 + 0.1 * rng.pareto(1.2, SAMPLES)),
    "samples: ticks of 100 ns": World(inside=ticking),
    "samples: spells in one launch of ten": World(inside=spells),
    "samples: +20 % from a random instant on": World(inside=shifting),
    "launches: t with 2 degrees": World(lambda rng, n: SCATTER * rng.standard_t(2, n)),
    "launches: modes 70/30 x 1.3": World(lambda rng, n: modes(rng, n, 1.3, 0.3)),
    "launches: modes 70/30 x 2": World(lambda rng, n: modes(rng, n, 2.0, 0.3)),
    "two sittings, 3 %": World(sittings=2, between=0.03),
    "five sittings, 3 %": World(sittings=5, between=0.03),
    "five sittings, 10 %": World(sittings=5, between=0.1),
    "five hosts by turns, 3 %": World(hosts=5, between=0.03),
    "launches: drift by 10 %": World(
        lambda rng, n: scattered(rng, n) + np.linspace(-0.05, 0.05, n),
        marginal=lambda rng, n: scattered(rng, n) + rng.uniform(-0.05, 0.05, n),
    ),
    "launches: AR(1), 0.2": World(lambda rng, n: SCATTER * alike(rng, n, 0.2), marginal=scattered),
    "launches: AR(1), 0.4": World(lambda rng, n: SCATTER * alike(rng, n, 0.4), marginal=scattered),
    "launches: AR(1), 0.8": World(lambda rng, n: SCATTER * alike(rng, n, 0.8), marginal=scattered),
    "launches: modes x 2 that stay with 0.5": World(
        lambda rng, n: modes(rng, n, 2.0, 0.3, 0.5), marginal=lambda rng, n: modes(rng, n, 2.0, 0.3)
    ),
    "launches: modes x 2 that stay with 0.8": World(
        lambda rng, n: modes(rng, n, 2.0, 0.3, 0.8), marginal=lambda rng, n: modes(rng, n, 2.0, 0.3)
    ),
}


def row_interval(row: Row, p: float) -> Interval:
    """What the row prints of its median, or of its p99."""
    if p == 0.5:
        return Interval(row.time or math.nan, row.time_low, row.time_high)
    found = row.get(Samples)
    return Interval(found.p99 or math.nan, found.p99_low, found.p99_high)


def rows_held(world: World, n: int, rounds: int) -> tuple[Held, Held]:
    """How often intervals of time and of p99 hold."""
    rows = [world.row(np.random.default_rng([seed, n]), n) for seed in range(rounds)]
    return tuple(
        held_by(((row_interval(row, p), truth) for row in rows), rows[0].ci_level or 0.95)
        for p, truth in ((0.5, world.truth(0.5)), (0.99, world.truth(0.99)))
    )  # type: ignore[return-value]


def rows_tables(rounds: int, names: Sequence[str] = tuple(WORLDS)) -> None:
    """Print the tables of time and of p99."""
    heads = list(map(str, LAUNCHES))
    found = {name: [rows_held(WORLDS[name], n, rounds) for n in LAUNCHES] for name in names}
    for place, what in enumerate(("time", "p99")):
        rows = [states_row([one[place] for one in next(iter(found.values()))])]
        rows += [row_of(name, heads, [one[place] for one in each]) for name, each in found.items()]
        print(table([f"{what}, launches", *heads, LAST], rows), end="\n\n", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="how often what show prints holds the truth")
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--only", nargs="*", help="names of worlds")
    given = parser.parse_args()
    rows_tables(given.rounds, given.only or tuple(WORLDS))


if __name__ == "__main__":
    main()
