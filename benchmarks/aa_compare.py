"""How often `steelyard compare` calls equals slower or faster, and how often it finds what is slower.

    python benchmarks/aa_compare.py OUT [--comparisons 200] [--seconds 60] [--launches 8] [--ops OP,...]
    python benchmarks/aa_compare.py OUT --slower 10 --launches 12 --ops mpi.allreduce,mpi.bcast [--folders]

Each comparison is a real campaign of two arms that differ in an environment variable that nobody reads. With
`--slower` they differ in a preloaded library: in the second arm each MPI_Allreduce and MPI_Bcast takes so
many per cent longer. With `--takes 50 --scatter 3` each call lasts until 50 us are over, times a lognormal
factor of 3 % that each process draws: launches that scatter by a known amount, whatever the machine is.
With `--folders` the arms are two campaigns, one after the other. Folders and verdicts stay in OUT, so that
the same command goes on where it was; `--seconds` ends a slice.

Prints the comparisons with an alarm, for each op how often which verdict was given, with Clopper's and
Pearson's interval of 95 %, its ratios and how its launches scatter, and how often "same" was said of what was
made 5 % slower or more. At most 1 % of comparisons of equals may have an alarm, whatever else the machine
does, and in at most 10 % of them the least p of all test cases may be 10 % or less. What was made slower
should be found as often as in simulated launches that scatter as much: it is printed beside.

All campaigns run in this process: what each `steelyard run` would do again (imports, looking for engines and
asking them, tables, a report) is done once, or not at all.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from rates import rate_words

from steelyard.base.files import write_whole
from steelyard.campaign.folder import open_folder
from steelyard.campaign.jobs import CampaignSetup, setup_for
from steelyard.campaign.run import run_campaign
from steelyard.cli.plan_options import planned
from steelyard.cli.run_options import RunOptions
from steelyard.engines.mpi import choose_mpi
from steelyard.judges.compare.arms import Rivals, rivals_by, rivals_of
from steelyard.judges.compare.scale import FALSE_ALARM, FASTER, MARGIN, SAME, SLOWER, Question
from steelyard.judges.compare.verdicts import Verdicts, compare
from steelyard.plan.plan import Plan
from steelyard.plan.resolve import resolve
from steelyard.results.row import Row, has_time
from steelyard.results.rows import results
from steelyard.stats.paired_permutation import compare_arms
from steelyard.stats.unpaired import compare_sittings
from steelyard.system.machine import read_machine
from steelyard.system.process import run

# Few samples make many comparisons of equals. A slow-down is looked for in longer launches: 50 samples are
# over in some ms, in which a rank may be without its core, and their medians scatter more than they must.
EQUAL_SAMPLES, SLOWED_SAMPLES = 50, 2000
SIMULATED = 200  # comparisons, of launches that scatter as the real ones
LEVELS = (0.5, 0.2, 0.1, 0.05)  # of equals so many have such a p, or fewer: more of them than alarms tell
SLOW = """
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>
static double lasts; /* s that a call takes; 0: what it takes by itself */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
__attribute__((constructor)) static void draw(void)
{
    unsigned int words[2] = {1, 1};
    FILE *random = fopen("/dev/urandom", "rb");
    if (random && fread(words, sizeof words, 1, random) == 1) {
        const double u = (words[0] + 1.0) / 4294967297.0, v = words[1] / 4294967296.0;
        const double normal = sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v); /* Box and Muller 1958 */
        lasts = TAKES_US * 1e-6 * exp(SCATTER_PER_CENT / 100.0 * normal);
    }
    if (random)
        fclose(random);
}
static int longer(double begin, int err)
{
    const double end = now(), took = lasts > 0 ? lasts : end - begin;
    const double until = begin + (1 + PER_CENT / 100.0) * took;
    while (until > end && now() < until) { }
    return err;
}
int MPI_Allreduce(const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{
    const double begin = now();
    return longer(begin, PMPI_Allreduce(s, r, n, t, o, c));
}
int MPI_Bcast(void *b, int n, MPI_Datatype t, int root, MPI_Comm c)
{
    const double begin = now();
    return longer(begin, PMPI_Bcast(b, n, t, root, c));
}
"""


class Slow(msgspec.Struct, frozen=True):
    """How long each call takes, in us, and how launches scatter, in per cent; 0: as they are."""

    takes_us: float
    scatter: float


class Kept(msgspec.Struct, frozen=True):
    """A comparison, and the logarithms of the ratios of its pairs, by test case."""

    verdicts: Verdicts
    pairs: dict[str, list[float]]


def main() -> None:
    """Measure until there are so many comparisons, or the time is over; print what all of them say."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--launches", type=int, default=8)
    parser.add_argument("--ops", default="mpi.pingpong,mpi.bcast")
    parser.add_argument("--bytes", default="8")
    parser.add_argument(
        "--ranks", default="2", help="1: what no other core, nor what is between them, can move"
    )
    parser.add_argument("--slower", type=float, default=0.0, help="per cent")
    parser.add_argument("--takes", type=float, default=0.0, help="with --slower: us that each call takes")
    parser.add_argument("--scatter", type=float, default=0.0, help="with --takes: of launches, in per cent")
    parser.add_argument("--folders", action="store_true", help="one arm after the other, not by turns")
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--method", help="default: the op's own")
    parser.add_argument(
        "--samples", type=int, help="of a launch and test case; default: 50, with --slower 2000"
    )
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    options.out.mkdir(parents=True, exist_ok=True)
    factor, values = "env.NOTHING_READS_THIS", ["1", "2"]
    if options.slower:
        factor = "env.LD_PRELOAD"
        slow = Slow(options.takes, options.scatter)
        values = [library(options.out, options.mpi, slow, per_cent) for per_cent in (0.0, options.slower)]
    asked = RunOptions(
        what=options.ops.split(","),
        bytes_=options.bytes,
        ranks=options.ranks,
        method=options.method,
        rule="fixed",
        param=[f"count={options.samples or (SLOWED_SAMPLES if options.slower else EQUAL_SAMPLES)}"],
        mpi=[options.mpi],
        arms=None if options.folders else f"{factor}={','.join(values)}",
        launches=options.launches,
    )
    plan = planned(asked)
    setup = setup_for(plan, read_machine())
    for number in range(1, options.comparisons + 1):
        kept = options.out / f"{number:04}.json"
        if not kept.exists():
            if time.monotonic() > end:
                break
            seeded, place = msgspec.structs.replace(plan, seed=number), options.out / f"{number:04}"
            found = (
                measure_folders(place, seeded, setup, factor.removeprefix("env."), values)
                if options.folders
                else measure(place, seeded, setup)
            )
            write_whole(kept, msgspec.json.encode(found))
    kept_ones = sorted(options.out.glob("*.json"))
    report([msgspec.json.decode(kept.read_bytes(), type=Kept) for kept in kept_ones], options.slower)


def library(folder: Path, mpi: str, slow: Slow, per_cent: float) -> str:
    """Build what is preloaded to make calls so much longer, and return its path."""
    source, built = folder / "slow.c", (folder / f"slow-{per_cent:g}.so").resolve()
    source.write_text(SLOW)
    mpicc = choose_mpi(mpi).mpicc or sys.exit(f"{mpi} has no compiler")
    named = {"PER_CENT": per_cent, "TAKES_US": slow.takes_us, "SCATTER_PER_CENT": slow.scatter}
    flags = ["-shared", "-fPIC", "-O1", *(f"-D{name}={value!r}" for name, value in named.items())]
    done = run([str(mpicc), *flags, "-o", str(built), str(source), "-lm"], timeout=60)
    if done.code != 0:
        sys.exit(done.err)
    return str(built)


def measure(folder: Path, plan: Plan, setup: CampaignSetup) -> Kept:
    """Run one campaign, or the rest of it, and compare its arms."""
    rows = _rows(folder, plan, setup)
    (factor,) = plan.arms
    return _compared(rivals_by(rows, factor), True, plan.seed or 0)


def measure_folders(
    folder: Path, plan: Plan, setup: CampaignSetup, variable: str, values: Sequence[str]
) -> Kept:
    """Run a campaign for each value of a variable of the environment, one after the other; compare them."""
    found = {}
    for name, value in zip("ab", values, strict=True):
        os.environ[variable] = value
        try:
            found[name] = _rows(folder / name, plan, setup)
        finally:
            del os.environ[variable]
    return _compared(rivals_of(found), False, plan.seed or 0)


def _rows(folder: Path, plan: Plan, setup: CampaignSetup) -> tuple[Row, ...]:
    mpis = [name for name in setup.engines if name is not None]
    points = resolve(plan, setup.ops, mpis, len(setup.machine.cores))
    campaign = open_folder(folder, plan, points, setup.machine)
    run_campaign(folder, plan, campaign, setup, lambda _: None)
    return results(folder)


def _compared(rivals: Rivals, by_turns: bool, seed: int) -> Kept:
    pairs = {f"{case[0].op} {case[0].bytes} B": _log_ratios(*case) for case in rivals.cases}
    return Kept(compare(rivals, by_turns, Question(), seed), pairs)


def _log_ratios(first: Row, second: Row) -> list[float]:
    """Pairs of the launches that both arms have, in their order."""
    times = [{one.launch: one.median for one in row.launches if has_time(one)} for row in (first, second)]
    return [math.log((times[1][k] or 0) / (times[0][k] or 0)) for k in times[0] if k in times[1]]


def scatter_of(pairs: Sequence[float]) -> float:
    """How launches scatter, as a fraction: from the median deviation of pairs, which are of two launches."""
    return 1.4826 * float(np.median(np.abs(np.array(pairs) - np.median(pairs)))) / math.sqrt(2)


def simulated_power(scatter: Sequence[float], slower: float, launches: int, by_turns: bool = True) -> float:
    """The fraction of test cases found, in normal launches that scatter so, a scatter for each test case."""
    found = 0
    for seed in range(SIMULATED):
        both = np.random.default_rng(seed).standard_normal((2, launches, len(scatter))) * np.array(scatter)
        arms = both[0], both[1] + math.log1p(slower)
        said = compare_arms(*arms, seed=seed) if by_turns else compare_sittings(*arms)
        found += int((said.p <= FALSE_ALARM).sum())
    return found / SIMULATED / len(scatter)


def report(kept: Sequence[Kept], slower: float) -> None:
    """A line for each alarm and for each verdict of an op, and the rate of comparisons with an alarm.

    Where the second arm was made slower by so many per cent, an alarm is what is hoped for.
    """
    if not kept:
        sys.exit("no comparison was made")
    found = [one.verdicts for one in kept]
    alarms = 0
    for number, verdicts in enumerate(found, 1):
        different = [one for one in (*verdicts.points, *verdicts.ops) if one.verdict in (SLOWER, FASTER)]
        alarms += bool(different)
        for one in different:
            print(f"{number:04}: {one.op} {one.verdict}, ratio {one.ratio:.3f}, p {one.p:.4f}")
    points = [one for verdicts in found for one in verdicts.points]
    for op in dict.fromkeys(one.op for one in points):
        own = [one.verdict for one in points if one.op == op]
        for verdict in sorted(set(own)):
            print(f"{op} {verdict}: {rate_words(own.count(verdict), len(own))}")
        ratios = [one.ratio for one in points if one.op == op and one.ratio is not None]
        if ratios:
            low, middle, high = np.quantile(ratios, (0.05, 0.5, 0.95))
            print(f"{op} ratio: median {middle:.3f}, 90 % of them from {low:.3f} to {high:.3f}")
    each = {
        name: [scatter_of(one.pairs[name]) for one in kept if len(one.pairs.get(name, ())) > 1]
        for name in kept[0].pairs
    }
    scatters = {name: float(np.median(own)) for name, own in each.items() if own}
    for name, scatter in scatters.items():
        print(f"{name}: launches scatter by {100 * scatter:.1f} %, median over comparisons")
    if slower:
        pairs = max(one.launches for one in found)
        power = simulated_power(list(scatters.values()), slower / 100, pairs, found[0].by_turns)
        slowed = rate_words(sum(one.verdict == SLOWER for one in points), len(points))
        print(f"found slower: {slowed}; simulated with this scatter {100 * power:.0f} %")
    if slower >= 100 * MARGIN:
        print(f"called the same: {rate_words(sum(one.verdict == SAME for one in points), len(points))}")
    least = [
        min((one.p for one in (*said.points, *said.ops) if one.p is not None), default=1.0) for said in found
    ]
    for level in LEVELS:
        below = sum(p <= level for p in least)
        print(f"comparisons whose least p is {100 * level:g} % or less: {rate_words(below, len(found))}")
    print(f"comparisons with an alarm: {rate_words(alarms, len(found))}")


if __name__ == "__main__":
    main()
