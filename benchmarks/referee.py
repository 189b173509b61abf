"""How often what `show` and `compare` print holds, of processes as machines have them.

    .venv/bin/python benchmarks/referee.py rows|quantiles|nights [--rounds 400] [--only NAME ...]

Samples of launches are planted, and rows are made of them as `show` makes them. An entry is as in
`coverage_table.py`: how often `time_low` to `time_high` holds the median over launches of launch medians, and
`p99_low` to `p99_high` that of the launches' own p99. The truth is that of launches of all sittings, hosts
and modes that there are.

`quantiles` compares two arms of four test cases by their launches' p99, as `compare --quantile 0.99` does:
how often anything is called slower or faster where nothing is, how often a test case is found of which the
second arm takes longer, and how often all intervals hold together. `nights` does so for
`check --quantile 0.99`, five launches a night.
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
from msgspec import structs

from planted import BEGAN_NS, HOUR_NS, measured, planted
from steelyard.judges.compare.arms import rivals_by
from steelyard.judges.compare.scale import FASTER, SLOWER, Question
from steelyard.judges.compare.verdicts import Verdicts, compare
from steelyard.judges.history.store import Night, pool
from steelyard.judges.history.verdicts import Checked, check_tonight
from steelyard.results.facets import Samples
from steelyard.results.quantiles import rows_at
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


def lognormal(rng: np.random.Generator) -> Floats:
    """Samples that scatter by 30 %."""
    return np.asarray(np.exp(0.3 * rng.standard_normal(SAMPLES)))


def tailed(rng: np.random.Generator) -> Floats:
    """3 % of the samples take half as long again."""
    return noise(rng) * np.where(rng.random(SAMPLES) < 0.03, 1.5, 1.0)


TAILS = {
    "samples: lognormal 30 %": World(inside=lognormal),
    "samples: 3 % take 1.5 times as long": World(inside=tailed),
    "samples: Pareto 2.5": World(inside=lambda rng: 1 + 0.1 * rng.pareto(2.5, SAMPLES)),
    "samples: spells in one launch of ten": World(inside=spells),
    "and modes 70/30 x 1.5": World(lambda rng, n: modes(rng, n, 1.5, 0.3), inside=tailed),
}
CASES = 4  # of a comparison
PAIRS = (8, 12, 20)
EFFECTS = (0.1,)


def compared(world: World, n: int, effect: float, seed: int, quantile: float | None) -> Verdicts:
    """What `compare` says of two arms by turns; the first test case takes longer in the second."""
    rng = np.random.default_rng([seed, n])
    points = []
    for case in range(CASES):
        for arm in "ab":
            factor = BASE * (1 + effect if case == 0 and arm == "b" else 1)
            samples = [factor * math.exp(one) * world.inside(rng) for one in world.launches(rng, n)]
            points.append(planted(samples, point=len(points), env={"ARM": arm}, size=8 << case))
    rows = rows_at(measured(points), quantile)
    return compare(rivals_by(rows, "env.ARM"), True, Question(quantile=quantile), seed)


def quantile_cells(world: World, n: int, rounds: int) -> tuple[float, list[float], float]:
    """The fraction of comparisons with an alarm, of slower test cases found, of comparisons that hold."""
    equal = [compared(world, n, 0.0, seed, 0.99) for seed in range(rounds)]
    alarms = [any(one.verdict in (SLOWER, FASTER) for one in (*said.points, *said.ops)) for said in equal]
    held, power = [], []
    for effect in EFFECTS:
        found = [compared(world, n, effect, seed, 0.99) for seed in range(rounds)]
        power.append(float(np.mean([said.points[0].verdict == SLOWER for said in found])))
        held += [
            all(
                (one.low or 0) <= truth <= (one.high or 0)
                for one, truth in zip(said.points, truths, strict=True)
            )
            for said in found
            for truths in [[1 + effect, *[1.0] * (CASES - 1)]]
        ]
    return float(np.mean(alarms)), power, float(np.mean(held))


def quantile_table(rounds: int, names: Sequence[str] = tuple(TAILS)) -> None:
    """Print the table of comparisons of p99."""
    rows = []
    for name in names:
        cells = [quantile_cells(TAILS[name], n, rounds) for n in PAIRS]
        text = [f"{100 * alarms:.1f}" for alarms, _, _ in cells]
        text += [f"{100 * power[k]:.0f}" for k in range(len(EFFECTS)) for _, power, _ in cells]
        text += [f"{100 * held:.1f}" for *_, held in cells]
        rows.append([name, *text])
    parts = ["alarms", *(f"+{100 * effect:.0f} % found" for effect in EFFECTS), "all hold"]
    heads = [f"{part}, {n} pairs" for part in parts for n in PAIRS]
    print(table(["p99 of two arms, in %", *heads], rows), end="\n\n", flush=True)


NIGHTS = (5, 12)  # before tonight
NIGHT = 0.01  # what a night adds to all launches of a test case
OF_A_NIGHT = 5  # launches
DAY_NS = 24 * HOUR_NS


def checked(world: World, nights: int, effect: float, seed: int) -> Checked:
    """What `check --quantile 0.99` says of tonight, in which the first of the test cases takes longer."""
    rng = np.random.default_rng([seed, nights])
    found = []
    for night in range(nights + 1):
        points = []
        for case in range(CASES):
            factor = BASE * (1 + effect if case == 0 and night == nights else 1)
            factor *= math.exp(NIGHT * rng.standard_normal())
            logs = world.launches(rng, OF_A_NIGHT)
            points.append(
                planted(
                    [factor * math.exp(one) * world.inside(rng) for one in logs], point=case, size=8 << case
                )
            )
        rows = tuple(structs.replace(row, facets=()) for row in rows_at(measured(points), 0.99))
        found.append(Night(Path(f"n{night}"), BEGAN_NS + night * DAY_NS, rows, {}, {}, ()))
    return check_tonight(pool(found[-1], found[:-1]), Question(quantile=0.99), seed)[0]


def nights_table(rounds: int, names: Sequence[str] = tuple(TAILS)) -> None:
    """Print the table of nights that are checked by their p99."""
    rows = []
    for name in names:
        cells = []
        for effect in (0.0, 0.1, 0.3):
            for nights in NIGHTS:
                said = [checked(TAILS[name], nights, effect, seed) for seed in range(rounds)]
                told = [
                    [
                        one.verdict in (SLOWER, FASTER)
                        for one in (each.points if effect else (*each.points, *each.ops))
                    ]
                    for each in said
                ]
                cells.append(f"{100 * float(np.mean([own[0] if effect else any(own) for own in told])):.0f}")
        rows.append([name, *cells])
    heads = [f"{what}, {n} nights" for what in ("alarms", "+10 % found", "+30 % found") for n in NIGHTS]
    print(table(["p99 of tonight, in %", *heads], rows), end="\n\n", flush=True)


PARTS = {
    "rows": (WORLDS, rows_tables),
    "quantiles": (TAILS, quantile_table),
    "nights": (TAILS, nights_table),
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="how often what show and compare print holds the truth")
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--only", nargs="*", help="names of worlds")
    given = parser.parse_args()
    worlds, tables = PARTS[given.part]
    tables(given.rounds, tuple(given.only or worlds))


if __name__ == "__main__":
    main()
