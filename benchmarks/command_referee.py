"""How often what `show`, `compare`, `check` and `accept` print of planted folders holds, and what they alarm.

    .venv/bin/python benchmarks/command_referee.py rows|p99|arms|found|looks|nights|models|accept [--rounds N]

`--seed N` plants other processes of the same kind.

Everything is asked through the command line: samples of launches are planted, written as records, and the
document that the command prints is held against the truth. Seeds are those of no other benchmark. Tables as
Markdown, for docs/results/coverage.md; an entry of intervals is as in `coverage_table.py`.

rows: the times of `show`. p99: those of launches of 1200 samples. arms: comparisons of equals, how many of
which call anything slower or faster, and how many have an interval that does not hold. found: comparisons in
which something differs. looks: equals that were looked at 17 times. nights: `check`, with nothing changed and
with slower test cases tonight. models: LogGP and growth in what `show` prints. accept: machines of sound
places, and with one that is slow.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import referee
from command_machines import MACHINES, accused
from command_worlds import CASES, EQUALS, NIGHTS, OF_A_NIGHT, OTHER_MODES, ROWS, Nights
from coverage_derived import Floats
from coverage_models import AHEAD, COUNTS, GROWTH, LOGGP, SIZES, Cost
from coverage_table import LAST, Held, figures, held_by, row_of, states_row, table
from planted_folders import BEGAN_NS, SECOND_NS, Case, around, steelyard, two_arms, write_planted
from power_compare import MAJORITIES, Majority
from referee import HOUR_NS, SCATTER, World

from make_records import REPS
from steelyard.judges.compare.scale import FASTER, SAME, SLOWER
from steelyard.stats import Interval

SEED = 2611  # with what a cell is, and the number of its round
TOGETHER = 40  # test cases of a folder of rows: each is a campaign of its own
LAUNCHES = (3, 5, 6, 10, 20)
PAIRS = (8, 12, 20)
ALARMS = (SLOWER, FASTER)


_seeded = argparse.Namespace(seed=SEED)


def rng_of(*cell: int | str) -> np.random.Generator:
    """Seed a generator by what a cell is."""
    return np.random.default_rng(
        [_seeded.seed, *(sum(one.encode()) if isinstance(one, str) else one for one in cell)]
    )


# ---- rows ------------------------------------------------------------------------------------------------


KEYS = {0.5: "time", 0.99: "p99"}


def planted_rows(world: World, n: int, rng: np.random.Generator, count: int) -> list[Mapping[str, Any]]:
    """What `show` prints of so many test cases in n launches."""
    sitting, host = np.arange(n) * world.sittings // n, np.arange(n) % world.hosts
    cases = []
    for number in range(count):
        logs = world.launches(rng, n)
        for groups, place in ((world.sittings, sitting), (world.hosts, host)):
            logs = logs + (world.between * rng.standard_normal(groups))[place] * (groups > 1)
        samples = [referee.BASE * math.exp(one) * world.inside(rng) for one in logs]
        cases.append(Case(samples, size=8 * (number + 1)))
    began = [BEGAN_NS + int(s) * 9 * HOUR_NS + 10 * k * SECOND_NS for k, s in enumerate(sitting)]
    with TemporaryDirectory() as folder:
        names = [f"n{one}" for one in host]
        ticks = {"tick_ns": world.tick * REPS} if world.tick else {}
        path = write_planted(Path(folder) / "x", cases, began_ns=began, hosts=names, **ticks)
        rows: list[Mapping[str, Any]] = steelyard("show", path, "--json").document["points"]
    return rows


def rows_held(name: str, n: int, rounds: int, p: float) -> Held:
    """How often the printed intervals of times, or of another quantile, hold."""
    world, rng, key = ROWS[name], rng_of("rows", name, n), KEYS[p]
    truth = world.truth(p)
    rows = [
        row
        for first in range(0, rounds, TOGETHER)
        for row in planted_rows(world, n, rng, min(TOGETHER, rounds - first))
    ]
    found = [(Interval(row[key] or math.nan, row[f"{key}_low"], row[f"{key}_high"]), truth) for row in rows]
    return held_by(found, rows[0]["ci_level"])


def rows_table(rounds: int, names: Sequence[str], p: float = 0.5, samples: int = 100) -> Iterator[str]:
    """How often what `show` prints holds, in each world."""
    referee.SAMPLES = samples
    heads, rows = list(map(str, LAUNCHES)), []
    for name in names:
        entries = [rows_held(name, n, rounds, p) for n in LAUNCHES]
        rows += [states_row(entries)] if not rows else []
        rows.append(row_of(name, heads, entries))
        _dot()
    yield table([f"{KEYS[p]} of show, launches", *heads, LAST], rows)


# ---- arms ------------------------------------------------------------------------------------------------


def compared(arms: Floats, rng: np.random.Generator, looks: Sequence[int] = ()) -> Mapping[str, Any]:
    """What `compare` prints of a folder of two arms."""
    with TemporaryDirectory() as folder:
        path = write_planted(Path(folder) / "x", two_arms(rng, arms), looks=looks)
        document: Mapping[str, Any] = steelyard("compare", path, "--by", "env.ARM", "--json").document
    return document


def alarmed(document: Mapping[str, Any]) -> bool:
    """Is anything called slower or faster?"""
    return any(one["verdict"] in ALARMS for one in (*document["points"], *document["ops"]))


def all_held(document: Mapping[str, Any], truth: Floats) -> bool:
    """Hold all intervals that are printed?"""
    return all(
        one["low"] is None or one["low"] <= math.exp(value) <= one["high"]
        for one, value in zip(document["points"], truth, strict=True)
    )


def arms_table(rounds: int, names: Sequence[str]) -> Iterator[str]:
    """Comparisons of equals: alarms, and comparisons of which an interval does not hold, in %."""
    rows, total = [], 0
    for name in names:
        cells = [name]
        for n in PAIRS:
            said = []
            for number in range(rounds):
                rng = rng_of("arms", name, n, number)
                said.append(compared(EQUALS[name](rng, n, CASES), rng))
            alarms, lost = sum(map(alarmed, said)), sum(not all_held(one, np.zeros(CASES)) for one in said)
            total += alarms
            cells.append(f"{100 * alarms / rounds:.1f}, {100 * lost / rounds:.1f}")
            _dot()
        rows.append(cells)
    title = f"equals, {rounds} comparisons each, in %: alarms, an interval does not hold"
    yield table([title, *(f"{n} pairs" for n in PAIRS)], rows)
    yield f"{total} alarms in {rounds * len(PAIRS) * len(names)} comparisons."


def found_table(rounds: int, names: Sequence[str]) -> Iterator[str]:
    """Most test cases change at once."""
    rows = []
    for name in names:
        one = MAJORITIES[name]
        truth = np.where(np.arange(one.cases) < one.changed, math.log1p(one.effect), 0.0)
        halves, found, held = [], [], []
        for number in range(rounds):
            rng = rng_of("found", name, number)
            said = compared(_majority(one, rng, truth), rng)
            halves.append(np.median([math.log(each["high"] / each["low"]) / 2 for each in said["points"]]))
            found += [each["verdict"] == SLOWER for each in said["points"][: one.changed]]
            held.append(all_held(said, truth))
        cells = (
            f"{100 * np.median(halves):.1f} %",
            f"{100 * np.mean(found):.0f}",
            f"{100 * np.mean(held):.0f}",
        )
        rows.append([name, *cells])
        _dot()
    yield table(["most test cases change", "±", "found, in %", "all intervals hold, in %"], rows)


def _majority(one: Majority, rng: np.random.Generator, truth: Floats) -> Floats:
    shape = (one.pairs, one.cases)
    arms = one.scatter * rng.standard_normal((2, *shape))
    if one.more:
        arms = arms + np.stack([one.more(rng, shape) for _ in range(2)])
    return np.asarray(arms + np.stack([0 * truth, truth])[:, None, :])


def looks_table(rounds: int, names: Sequence[str]) -> Iterator[str]:
    """Equals that were looked at 17 times, from 8 to 40 pairs."""
    rows = []
    for name in names:
        said = []
        for number in range(rounds):
            rng = rng_of("looks", name, number)
            said.append(compared(EQUALS[name](rng, 40, 1), rng, range(8, 40, 2)))
        rows.append([name, str(rounds), str(sum(map(alarmed, said)))])
        _dot()
    yield table(["one test case, looked at 17 times", "campaigns", "alarms"], rows)


# ---- nights ----------------------------------------------------------------------------------------------

BEFORE = (3, 4, 5, 12)  # nights
EFFECTS = (0.1, 0.3)
SLOWED = 4  # test cases that take longer tonight
DAY_NS = 24 * HOUR_NS


def write_store(store: Path, logs: Floats, rng: np.random.Generator) -> list[Path]:
    """Write a folder for each night, a day apart."""
    return [
        write_planted(
            store / f"night-{night:02d}",
            [Case(around(rng, own), size=8 * (case + 1)) for case, own in enumerate(logs[night])],
            began_ns=[BEGAN_NS + night * DAY_NS + 10 * k * SECOND_NS for k in range(OF_A_NIGHT)],
        )
        for night in range(len(logs))
    ]


def checked(store: Path, night: Path) -> Mapping[str, Any]:
    """What `check` prints of a night."""
    document: Mapping[str, Any] = steelyard(
        "check", "--history", store, "--tonight", night, "--json"
    ).document
    return document


def tonight_says(draw: Nights, before: int, rng: np.random.Generator, effect: float) -> Mapping[str, Any]:
    """What `check` says of a night in which the first test cases take longer by `effect`."""
    logs = draw(rng, before + 1)
    logs[-1, :SLOWED] += math.log1p(effect)
    with TemporaryDirectory() as folder:
        nights = write_store(Path(folder), logs, rng)
        return checked(Path(folder), nights[-1])


def nights_tables(rounds: int, names: Sequence[str]) -> Iterator[str]:
    """Alarms of nights in which nothing changed, intervals that do not hold, and what is found."""
    rows = []
    for name in names:
        if name in NIGHTS:
            rows += [[f"{before}, {name}", *_night_cells(name, before, rounds)] for before in BEFORE]
    heads = ["alarms", "an interval does not hold", *(f"+{100 * effect:.0f} % found" for effect in EFFECTS)]
    yield table([f"nights before tonight, {CASES} test cases, in %", *heads], rows)
    rows = []
    for name in names:
        for before in BEFORE if name in OTHER_MODES else ():
            said = [
                tonight_says(OTHER_MODES[name], before, rng_of("modes", name, before, number), 0.0)["points"]
                for number in range(max(1, rounds // 5))
            ]
            cells = [
                np.mean([one["verdict"] == SAME for points in said for one in points]),
                np.mean([one["suspected"] or one["verdict"] in ALARMS for points in said for one in points]),
            ]
            rows.append([f"{before}, {name}", *(f"{100 * cell:.0f}" for cell in cells)])
            _dot()
    yield table(["nights before tonight, in %", "called the same", "suspected"], rows)


def _night_cells(name: str, before: int, rounds: int) -> list[str]:
    draw = NIGHTS[name]
    equal = [
        tonight_says(draw, before, rng_of("nights", name, before, number), 0.0) for number in range(rounds)
    ]
    truth = np.zeros(CASES)
    cells = [sum(map(alarmed, equal)) / rounds, sum(not all_held(one, truth) for one in equal) / rounds]
    for effect in EFFECTS:
        some = [
            tonight_says(draw, before, rng_of("slowed", name, before, number), effect)
            for number in range(max(1, rounds // 4))
        ]
        cells.append(np.mean([one["verdict"] == SLOWER for said in some for one in said["points"][:SLOWED]]))
    _dot()
    return [f"{100 * cell:.1f}" for cell in cells]


# ---- models ----------------------------------------------------------------------------------------------


def printed_models(cost: Cost, op: str, axis: Floats, n: int, rng: np.random.Generator) -> Mapping[str, Any]:
    """What `show` prints of an op at sizes, or on ranks, that cost so much; launches scatter by 3 %."""
    common = SCATTER * rng.standard_normal(n) * (op == "mpi.pingpong")  # a launch has all sizes
    cases = [
        Case(
            around(rng, common + SCATTER * rng.standard_normal(n), time),
            op=op,
            size=int(x) if op == "mpi.pingpong" else 8,
            ranks=2 if op == "mpi.pingpong" else int(x),
        )
        for x, time in zip(axis, cost(axis), strict=True)
    ]
    with TemporaryDirectory() as folder:
        path = write_planted(Path(folder) / "x", cases)
        document: Mapping[str, Any] = steelyard("show", path, "--json").document
    return document


def models_tables(rounds: int, names: Sequence[str]) -> Iterator[str]:
    """LogGP: L + 2 o, and G of the last line. Growth from 2 to 16 ranks: times on 32 and 64."""
    loggp, growth = [], []
    for name in names:
        for n in (3, 10) if name in LOGGP else ():
            loggp.append([f"{n}, {name}", *_loggp_cells(LOGGP[name], n, rounds, name)])
        for n in (3, 10) if name in GROWTH else ():
            growth.append([f"{n}, {name}", *_growth_cells(GROWTH[name], n, rounds, name)])
        _dot()
    yield table(["LogGP; launches", "L + 2 o", "last G"], loggp)
    yield table(["growth; launches", *(f"{p} ranks" for p in AHEAD)], growth)


def _loggp_cells(cost: Cost, n: int, rounds: int, name: str) -> list[str]:
    start, gap = float(cost(np.zeros(1))[0]), float(np.diff(cost(SIZES[-2:]))[0] / np.diff(SIZES[-2:])[0])
    pieces = [
        printed_models(cost, "mpi.pingpong", SIZES, n, rng_of("loggp", name, n, number))["messages"][0][
            "pieces"
        ]
        for number in range(rounds)
    ]
    found = ([one[0]["start"] for one in pieces], start), ([one[-1]["gap"] for one in pieces], gap)
    return [_held_cell(values, truth) for values, truth in found]


def _growth_cells(cost: Cost, n: int, rounds: int, name: str) -> list[str]:
    ahead = [
        printed_models(cost, "mpi.allreduce", COUNTS, n, rng_of("growth", name, n, number))["growth"][0][
            "ahead"
        ]
        for number in range(max(1, rounds // 4))
    ]
    truths = cost(np.array(AHEAD, dtype=np.float64))
    return [_held_cell([one[k]["time"] for one in ahead], float(truth)) for k, truth in enumerate(truths)]


def _held_cell(printed: Sequence[Mapping[str, float]], truth: float) -> str:
    held = held_by((Interval(one["value"], one["low"], one["high"]), truth) for one in printed)
    return f"{100 * held.held:.1f} ±{figures(100 * held.half)}"


def accept_table(rounds: int, names: Sequence[str]) -> Iterator[str]:
    """How often places of a machine are called not well, and whether it is the right one alone."""
    rows = []
    for name in names:
        machine = MACHINES[name]
        said = [accused(machine, rng_of("accept", name, number)) for number in range(rounds)]
        right = sum(machine.accused in one and one.count(" slower in ") == 1 for one in said)
        rows.append([name, str(rounds), str(sum(map(bool, said))), str(right) if machine.accused else ""])
        _dot()
    yield table(["accept", "machines", "not well", "that place, and no other"], rows)


def _dot() -> None:
    print(".", end="", file=sys.stderr, flush=True)


PARTS: Mapping[str, tuple[Mapping[str, object], Callable[[int, Sequence[str]], Iterator[str]]]] = {
    "rows": (ROWS, rows_table),
    "p99": (ROWS, lambda rounds, names: rows_table(rounds, names, 0.99, 1200)),
    "arms": (EQUALS, arms_table),
    "found": (MAJORITIES, found_table),
    "looks": (EQUALS, looks_table),
    "nights": (NIGHTS | OTHER_MODES, nights_tables),
    "models": (LOGGP | GROWTH, models_tables),
    "accept": (MACHINES, accept_table),
}


def main() -> None:
    """Print the tables of a part."""
    parser = argparse.ArgumentParser(description="what commands print of planted results folders")
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--only", nargs="*", help="names of worlds")
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    _seeded.seed = given.seed
    names, tables = PARTS[given.part]
    for text in tables(given.rounds, tuple(given.only or names)):
        print(text, end="\n\n", flush=True)


if __name__ == "__main__":
    main()
