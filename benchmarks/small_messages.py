"""Why OSU prints more than ours for rooted collectives and one-sided calls of few bytes: causes, planted.

    python benchmarks/small_messages.py --osu DIR [--mpi NAME] [--launches 6] [--tests osu_bcast,...]

DIR is where a user built OSU Micro-Benchmarks for that MPI. Each way of a test is a launch of two ranks, all
by turns, for 8 bytes. Ours are medians over samples of the mean over ranks, from the records: a stall of a
millisecond does not move them. What was found is in docs/results/small-messages.md.

A collective is measured after one instant (`epoch`) and after a barrier of the library, as in OSU's loop. A
barrier lets one rank go first: how long it waits for the other is in the records. In a further way that rank
is delayed by just that time; in another the root changes with each call, so that another rank goes first.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from peers_like import SECONDS, Peer, peers_of, table_of

from steelyard.analyses.overview import read_rows
from steelyard.engines.build import mpi_engine
from steelyard.engines.installed import scripts_folder
from steelyard.engines.mpi import choose_mpi
from steelyard.launch.command import LaunchCommand, plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.records import schema as records
from steelyard.records.read import read_records
from steelyard.stats import launch_interval
from steelyard.system.machine import read_machine
from steelyard.system.process import run

RANKS = 2
SIZE = 8
_TESTS = "osu_bcast,osu_scatter,osu_gather,osu_reduce,osu_get_latency,osu_put_latency,osu_acc_latency"
_ROTATES = ("osu_gather", "osu_scatter", "osu_reduce")  # that take -k
_SAMPLES = ("--rule", "fixed", "--param", "count=1000")
_EPOCH, _BARRIER = ("--method", "epoch"), ("--method", "library-barrier")


@dataclass(frozen=True)
class Seen:
    """What a launch says, in us: the mean over ranks; and how long each rank waits for the last one."""

    own: float
    waits: tuple[float, ...] = (math.nan,) * RANKS


def seen_in(folder: Path, delays: Sequence[float] = (0.0,) * RANKS) -> Seen:
    """Read the only test case of a folder; ranks were busy for `delays` (us) before each call."""
    starts, stops, cost = list[np.ndarray](), list[np.ndarray](), 0.0
    (path,) = (folder / "records").glob("*.jsonl")
    for record in read_records(path).records:
        match record:
            case records.Launch():
                cost = record.clock.cost_ns
            case records.Obs():
                starts.append(np.array(record.start_ns, float))
                stops.append(np.array(record.stop_ns, float))
    start = np.concatenate(starts, axis=1) + 1e3 * np.array(delays)[:, None]
    stop = np.concatenate(stops, axis=1)
    own = np.median((stop - start - cost).mean(axis=0))
    waits = np.median(start.max(axis=0) - start, axis=1)
    return Seen(float(own) / 1e3, tuple(map(float, waits / 1e3)))


def run_ours(words: Sequence[str], folder: Path, mpi: str) -> None:
    """One launch of ours into a folder. Raises SystemExit if it fails."""
    options = ["-n", str(RANKS), "--mpi", mpi, "--launches", "1", "--out", str(folder)]
    done = run([str(scripts_folder() / "steelyard"), "run", *words, *options], timeout=SECONDS)
    if done.code != 0:
        raise SystemExit(f"steelyard run {' '.join(words)} failed: {done.err.strip()[-300:]}")


def ours(name: str, mpi: str, words: Sequence[str] = (), delays: Sequence[float] = (0.0,) * RANKS) -> Seen:
    """A collective as ours measures it, with ranks busy for `delays` (us) first."""
    with tempfile.TemporaryDirectory() as scratch:
        late: list[str] = []
        if any(delays):
            file = Path(scratch) / "arrivals"
            file.write_text(" ".join(f"{delay:.3f}" for delay in delays) + "\n")
            late = ["--param", "arrival=file", "--arrivals", str(file)]
        folder = Path(scratch) / "out"
        run_ours(["--like", name, "--bytes", str(SIZE), *words, *late, *_SAMPLES], folder, mpi)
        return seen_in(folder, delays)


def time_of(words: Sequence[str], mpi: str) -> float:
    """The time of the only row, in us."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "out"
        run_ours(words, folder, mpi)
        (row,) = read_rows(folder).rows
        return (row.time or math.nan) / 1e3


def theirs(peer: Peer, launch: LaunchCommand, words: Sequence[str] = ()) -> Seen:
    """What the original prints. Raises SystemExit if it prints nothing."""
    command = [*launch.argv_prefix, *peer.words, "-m", f"{SIZE}:{SIZE}", *words]
    done = run(command, env={**os.environ, **launch.environment}, timeout=SECONDS)
    table = table_of(done.out, peer.column, sized=True)
    if SIZE not in table:
        raise SystemExit(f"{peer.row.name}: nothing was printed for {SIZE} bytes: {done.err.strip()[-300:]}")
    return Seen(table[SIZE])


def one_sided(peer: Peer, mpi: str, launch: LaunchCommand) -> dict[str, Seen]:
    """The ways of a one-sided call, of which the original reads its clock twice a call."""
    name = peer.row.name
    alone = time_of(["--like", name, "--bytes", str(SIZE)], mpi)
    clock = time_of(["mpi.wtime"], mpi)
    return {
        "the original": theirs(peer, launch),
        "ours": Seen(alone),
        "ours and two readings of MPI_Wtime": Seen(alone + 2 * clock),
    }


def collective(peer: Peer, mpi: str, launch: LaunchCommand) -> dict[str, Seen]:
    """The ways of a rooted collective."""
    name = peer.row.name
    found = {"the original": theirs(peer, launch)}
    if name in _ROTATES:
        found["the original, -k rotate"] = theirs(peer, launch, ("-k", "rotate"))
    found["ours (epoch)"] = ours(name, mpi, _EPOCH)
    after = found["ours, library-barrier"] = ours(name, mpi, _BARRIER)
    held = "ours, library-barrier, who goes first is held as long as it waits"
    found[held] = ours(name, mpi, _BARRIER, after.waits)
    rotating = (*_BARRIER, "--param", "roots=rotate")
    found["ours, library-barrier, roots=rotate"] = ours(name, mpi, rotating)
    return found


def lines_of(name: str, found: Sequence[Mapping[str, Seen]]) -> list[str]:
    """A row of a table for each way: the median over launches, with its interval; the median waits."""
    lines = []
    for way in found[0]:
        seen = [one[way] for one in found]
        own = f"{launch_interval([one.own for one in seen]):.3g}"
        waits = np.median([one.waits for one in seen], axis=0) * 1e3
        told = ", ".join(f"{wait:.0f}" for wait in waits) if np.isfinite(waits).all() else "-"
        lines.append(f"| {name} | {way} | {own} | {told} |")
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--osu", type=Path, required=True, help="a folder with osu_bcast somewhere below it")
    parser.add_argument("--mpi", default=None)
    parser.add_argument("--launches", type=int, default=6)
    parser.add_argument("--tests", default=_TESTS)
    given = parser.parse_args()
    peers = {peer.row.name: peer for peer in peers_of(given.osu, None)}
    mpi = choose_mpi(given.mpi)
    launch = plan_launch(mpi_engine(mpi), read_machine(), LaunchRequest(RANKS))
    print(f"{mpi.name}, {SIZE} bytes, {RANKS} ranks, {given.launches} launches of each")
    print("| test | way | us | ranks wait for the last one, ns |\n| --- | --- | --- | --- |")
    for name in given.tests.split(","):
        if name not in peers:
            raise SystemExit(f"{name} was not found below {given.osu}")
        ways = one_sided if name.endswith("_latency") else collective
        found = [ways(peers[name], mpi.name, launch) for _ in range(given.launches)]
        print("\n".join(lines_of(name, found)), flush=True)


if __name__ == "__main__":
    main()
