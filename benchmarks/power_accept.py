"""How often is a machine accused whose places only differ lastingly, and which odd place is found?

Made-up times of equal cores, hosts or links, judged as `steelyard accept` judges them. Places differ
lastingly by a standard deviation, and launches scatter by 1 %. Each machine has four tests of its places; an
odd place is slower in one of them. With --rounds, hosts are those of messages: each meets another one in so
many drawn rounds, links differ lastingly, too, and each message of an odd host takes longer.

    .venv/bin/python benchmarks/power_accept.py --kind core --places 64 --lasting 0,2 --machines 200
    .venv/bin/python benchmarks/power_accept.py --kind host --places 1000 --rounds 16 --machines 100
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from steelyard.analyses.hosts.model import host_medians
from steelyard.judges.accept import NOT_WELL, Weighed
from steelyard.judges.accept.criterion import Candidate, Finding
from steelyard.judges.accept.peer_groups import BETWEEN, CORE, HOST, LINK, PeerGroup
from steelyard.judges.accept.places import cores, hosts, links
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.records.campaign_file import CampaignFile
from steelyard.results.load import Measured
from steelyard.stats import peer_outliers as peers

CRITERIA = {CORE: cores, HOST: hosts, LINK: links}
SLOWER = (1.05, 1.10, 1.25)
TESTS, SCATTER = 4, 0.01
LINKS, MESSAGES = 0.03, 0.03  # with --rounds: lasting differences of links, scatter of a pair over launches
OTHER_KIND = (3, 1.4)  # with --kinds: one in so many places takes so many times as long, in all tests


@dataclasses.dataclass(frozen=True)
class MadeUp(Weighed):
    """A folder of which only the tests of places exist."""

    given: tuple[PeerGroup, ...] = ()

    @property
    def tests(self) -> tuple[PeerGroup, ...]:
        """The tests that were made up."""
        return self.given


def names_of(kind: str, places: int) -> tuple[str, ...]:
    """Name so many places; links are the pairs of the fewest hosts that have as many."""
    if kind != LINK:
        return tuple(f"{kind}-{i}" for i in range(places))
    pairs = ((a, b) for b in range(places + 1) for a in range(b))
    return tuple(f"n{a}{BETWEEN}n{b}" for (a, b), _ in zip(pairs, range(places), strict=False))


def judged(
    kind: str,
    places: int,
    launches: int,
    lasting: float,
    slow: Sequence[float],
    seed: int,
    *,
    kinds: bool = False,
    rounds: int = 0,
    tests: int = TESTS,
) -> Finding | None:
    """Judge one machine, of whose places the first are so many times as slow in the first test; with `kinds`
    the last ones are of another kind; with `rounds` they are hosts that meet in so many.
    """
    rng = np.random.default_rng(seed)

    def table(times: Sequence[float]) -> NDArray[np.float64]:
        own = lasting * rng.standard_normal(places)
        own[: len(times)] += np.log(times)
        if kinds:
            own[-(-places // OTHER_KIND[0]) :] += math.log(OTHER_KIND[1])
        if rounds:
            return _by_messages(own, launches, rounds, rng)
        launch = 0.05 * rng.standard_normal((launches, 1))
        return np.asarray(own + launch + SCATTER * rng.standard_normal((launches, places)))

    names = names_of(kind, places)
    made = tuple(PeerGroup(f"test {i}", kind, names, table(slow if i == 0 else ())) for i in range(tests))
    nothing = Measured(Path("made-up"), CampaignFile(), (), ())
    return CRITERIA[kind].find(Candidate(MadeUp(nothing, (), given=made)))


def _by_messages(
    own: NDArray[np.float64], launches: int, rounds: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Make the table of hosts that meet in drawn rounds of a tournament: (launches, hosts), logarithms.

    own: what each host adds to its messages, in logarithms. An even number of hosts.
    """
    hosts = own.size
    met: list[tuple[int, int]] = []
    for number in rng.choice(hosts - 1, rounds, replace=False):
        other = (number - np.arange(hosts - 1)) % (hosts - 1)
        other[other == np.arange(hosts - 1)] = hosts - 1
        met += [(a, int(b)) for a, b in enumerate(other) if a < b]
    ends = np.array(met)
    of_host = np.argsort(ends.ravel(), kind="stable").reshape(hosts, rounds) // 2
    lasting = own[ends].sum(axis=1) + LINKS * rng.standard_normal(len(ends))
    ns = lasting + MESSAGES * rng.standard_normal((launches, len(ends)))
    return np.log(host_medians(np.exp(ns), of_host))


def rates(
    kind: str,
    places: int,
    launches: int,
    lasting: float,
    slow: Sequence[float],
    machines: int,
    rounds: int = 0,
    tests: int = TESTS,
) -> Iterator[tuple[str, int]]:
    """Count the verdicts; of machines with odd places, those that name them all and no other."""
    found: Counter[str] = Counter()
    for seed in range(machines):
        said = judged(kind, places, launches, lasting, slow, seed, rounds=rounds, tests=tests)
        assert said is not None
        names = names_of(kind, places)[: len(slow)]
        named = all(f"{name} is " in said.evidence for name in names)
        right = said.verdict == NOT_WELL and named and said.evidence.count("slower in test") == len(slow)
        found["right" if right and slow else said.verdict] += 1
    yield from found.items()


def kinds_row(kind: str, places: int, launches: int, lasting: float, machines: int) -> str:
    """Count the machines of two kinds of places that are said to be such, and those that are accused."""
    found: Counter[str] = Counter()
    for seed in range(machines):
        said = judged(kind, places, launches, lasting, (), seed, kinds=True)
        assert said is not None
        found["kinds" if "of two kinds" in said.evidence else said.verdict] += 1
    return f"{_percent(found['kinds'], machines)} | {found[NOT_WELL]} of {machines}"


def main() -> None:
    """Print a row of a table for each amount of lasting differences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", choices=CRITERIA, default=CORE)
    parser.add_argument("--places", type=int, default=64)
    parser.add_argument("--launches", type=int, default=10)
    parser.add_argument("--lasting", default="0,1,2,3", help="per cent, standard deviation")
    parser.add_argument("--odd", type=int, default=1, help="places that are slower")
    parser.add_argument("--machines", type=int, default=200)
    parser.add_argument("--shuffles", type=int, default=peers.DRAWN, help="fewer are faster, and as exact")
    parser.add_argument("--kinds", action="store_true", help="the places are of two kinds")
    parser.add_argument("--tests", type=int, default=TESTS, help="of the same places")
    parser.add_argument("--rounds", type=int, default=0, help="hosts meet in so many; 0: places work alone")
    options = parser.parse_args()
    peers.DRAWN = options.shuffles
    for words in options.lasting.split(","):
        fixed = (options.kind, options.places, options.launches, float(words) / 100)
        if options.kinds:
            print(f"| {options.places} {options.kind}s | {words} % | {kinds_row(*fixed, options.machines)} |")
            continue
        sound = dict(rates(*fixed, (), options.machines, options.rounds, options.tests))
        alarms = sound.get(NOT_WELL, 0)
        high = binomtest(alarms, options.machines).proportion_ci(0.95, "exact").high
        cells = [f"{alarms} of {options.machines} (up to {100 * high:.1f} %)"]
        cells.append(_percent(sound.get(CANNOT_TELL, 0), options.machines))
        for times in SLOWER:
            count = math.ceil(options.machines / 2)
            odd = dict(rates(*fixed, (times,) * options.odd, count, options.rounds, options.tests))
            cells.append(
                f"{_percent(odd.get('right', 0), count)}, {_percent(odd.get(CANNOT_TELL, 0), count)}"
            )
        print(f"| {options.places} {options.kind}s | {words} % |", " | ".join(cells), "|", flush=True)


def _percent(count: int, of: int) -> str:
    return f"{100 * count / of:.0f} %"


if __name__ == "__main__":
    main()
