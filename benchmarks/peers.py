"""mpi.pingpong beside osu_latency, IMB's PingPong and NetPIPE: same MPI, same cores, launches interleaved.

    python benchmarks/peers.py --osu PATH --imb PATH --netpipe PATH [--mpi NAME] [--launches 10]

Each PATH is an executable built by its user for that MPI; leave one away to leave the tool away. One command
falls into modes from launch to launch, so modes are compared: the fastest mode of each tool, as a ratio to
Steelyard's, with the interval of that ratio over launches. Like is compared with like: OSU and IMB print
means, NetPIPE the least of seven trials. A tool that prints microseconds with two decimals resolves
5 ns at best, and OSU's latency holds two readings of MPI_Wtime in each repetition.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from steelyard.base.units import format_bytes, format_time, parse_sizes
from steelyard.engines.build import mpi_engine
from steelyard.engines.mpi import choose_mpi
from steelyard.launch.command import LaunchCommand, plan_launch
from steelyard.launch.request import LaunchRequest
from steelyard.records import schema as records
from steelyard.records.read import read_records
from steelyard.stats import Mode, find_modes, launch_interval, median
from steelyard.system.machine import read_machine
from steelyard.system.process import run

SECONDS = 600.0  # more than any of these commands takes


@dataclass(frozen=True)
class Tool:
    """A peer: its arguments for one size, and the latency in ns from what it prints or writes."""

    name: str
    arguments: Callable[[int, Path], list[str]]
    latency: Callable[[str, Path, int], float]
    statistic: str  # what of ours is the like: mean or least
    least_bytes: int = 0


def _row(text: str, size: int, column: int) -> float:
    """The number in a column of the line that begins with the size."""
    match = re.search(rf"^\s*{size}((?:\s+[\d.]+)+)\s*$", text, re.MULTILINE)
    if match is None:
        return math.nan
    return float(match[1].split()[column - 1])


def osu(size: int, scratch: Path) -> list[str]:
    """Arguments of osu_latency: none, for its older versions take no sizes; a sweep lasts some seconds."""
    del size, scratch
    return []


def imb(size: int, scratch: Path) -> list[str]:
    """Arguments of IMB-MPI1."""
    del scratch
    return ["PingPong", "-msgsize", str(size)]


def netpipe(size: int, scratch: Path) -> list[str]:
    """Arguments of NetPIPE 3, which writes a file."""
    return ["-l", str(size), "-u", str(size), "-p", "0", "-o", str(scratch)]


def netpipe_latency(text: str, scratch: Path, size: int) -> float:
    """NetPIPE 3 writes bytes, Mbit/s and seconds one way."""
    del text
    return 1e9 * _row(
        re.sub(r"\d\.\d+e[+-]\d+", lambda m: f"{float(m[0]):.12f}", scratch.read_text()), size, 2
    )


TOOLS = {
    "osu": Tool("OSU osu_latency", osu, lambda text, _, size: 1e3 * _row(text, size, 1), "mean"),
    "imb": Tool("IMB PingPong", imb, lambda text, _, size: 1e3 * _row(text, size, 2), "mean"),
    "netpipe": Tool("NetPIPE", netpipe, netpipe_latency, "least", least_bytes=1),
}
OURS = {"median": "Steelyard, median", "mean": "Steelyard, mean", "least": "Steelyard, least"}


@dataclass
class Sample:
    """What a tool said in each launch, one way in ns, and how long each launch took, in s."""

    latencies: list[float]
    seconds: list[float]


def measure_peer(
    tool: Tool, path: str, launch: LaunchCommand, environment: dict[str, str], size: int
) -> tuple[float, float]:
    """One launch of a peer: latency in ns and its wall time in s, the launcher's included."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder) / "out"
        begun = time.monotonic()
        done = run(
            [*launch.argv_prefix, path, *tool.arguments(size, scratch)], env=environment, timeout=SECONDS
        )
        took = time.monotonic() - begun
        if done.code != 0:
            raise SystemExit(f"{tool.name} failed: {done.err.strip()[-300:]}")
        return tool.latency(done.out, scratch, size), took


def measure_ours(
    engine: str, launch: LaunchCommand, environment: dict[str, str], size: int, tolerance: float
) -> tuple[dict[str, float], float, float]:
    """One launch of Steelyard: its statistics in ns, wall time in s, and the s until the rule stopped."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        point = ["op=mpi.pingpong", f"bytes={size}", f"tolerance={tolerance}"]
        begun = time.monotonic()
        command = [*launch.argv_prefix, engine, "run", *launch.engine_args, "--out", str(path), *point]
        done = run(command, env=environment, timeout=SECONDS)
        took = time.monotonic() - begun
        if done.code != 0:
            raise SystemExit(f"the engine failed: {done.err.strip()[-300:]}")
        statistics, measuring = values_of(path)
        return statistics, took, measuring


def values_of(path: Path) -> tuple[dict[str, float], float]:
    """Statistics one way in ns and seconds of measuring, from the records of one launch of one point."""
    cost = tick = 0.0
    values: list[float] = []
    per_observation, begun, ended = 1, 0, 0
    for record in read_records(path).records:
        match record:
            case records.Launch():
                cost, tick = record.clock.cost_ns, record.clock.tick_ns
            case records.Point():
                per_observation, begun = record.reps * record.parts, record.start_ns
            case records.Obs():
                pairs = zip(record.start_ns[0], record.stop_ns[0], strict=True)
                values += [stop - start - cost for start, stop in pairs]
            case records.End():
                ended = record.stop_ns
    seventh = [float(np.mean(part)) for part in np.array_split(values, 7)]
    statistics = {"median": median(values, tick), "mean": float(np.mean(values)), "least": min(seventh)}
    return {name: value / per_observation for name, value in statistics.items()}, (ended - begun) / 1e9


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for key in TOOLS:
        parser.add_argument(f"--{key}", metavar="PATH")
    parser.add_argument("--mpi")
    parser.add_argument("--launches", type=int, default=10)
    parser.add_argument("--bytes", default="0,8,1Mi")
    parser.add_argument("--tolerance", type=float, default=0.01)
    options = parser.parse_args()
    engine = mpi_engine(choose_mpi(options.mpi))
    launch = plan_launch(engine, read_machine(), LaunchRequest(2))
    environment = {**os.environ, **launch.environment}
    peers = {key: path for key in TOOLS if (path := getattr(options, key))}
    for size in parse_sizes(options.bytes):
        samples = {name: Sample([], []) for name in (*OURS, *peers)}
        inside: list[float] = []
        for _ in range(options.launches):
            order = ["ours", *(key for key in peers if size >= TOOLS[key].least_bytes)]
            random.shuffle(order)
            for name in order:
                if name == "ours":
                    statistics, took, measuring = measure_ours(
                        engine.path, launch, environment, size, options.tolerance
                    )
                    inside.append(measuring)
                    for statistic, latency in statistics.items():
                        samples[statistic].latencies.append(latency)
                        samples[statistic].seconds.append(took)
                else:
                    latency, took = measure_peer(TOOLS[name], peers[name], launch, environment, size)
                    samples[name].latencies.append(latency)
                    samples[name].seconds.append(took)
        show(size, samples, inside)


def show(size: int, samples: dict[str, Sample], inside: list[float]) -> None:
    """A table: modes of each tool, its fastest mode as a ratio to the like of ours, wall time of a launch."""
    print(f"\n{format_bytes(size)}, {len(inside)} launches; our interval took {np.median(inside):.3f} s")
    fast = {name: fastest(sample.latencies) for name, sample in samples.items() if sample.latencies}
    for name, values in fast.items():
        sample = samples[name]
        like = name if name in OURS else TOOLS[name].statistic
        ratios = [value / float(np.median(fast[like])) for value in values]
        interval = launch_interval(ratios) if len(ratios) > 1 else None
        bounds = f"[{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
        label = OURS[name] if name in OURS else TOOLS[name].name
        modes = ", ".join(
            f"{format_time(m.value)} ({100 * m.share:.0f} %)" for m in modes_of(sample.latencies)
        )
        print(
            f"  {label:<18} fast mode {format_time(float(np.median(values))):>8} "
            f"ratio {np.median(ratios):.3f} {bounds:<15} modes {modes:<34} "
            f"launch {np.median(sample.seconds):.2f} s"
        )


def modes_of(latencies: list[float]) -> tuple[Mode, ...]:
    """The modes of a tool over launches: each launch has one value, which counts as eight blocks."""
    return find_modes([[value] * 8 for value in latencies])


def fastest(latencies: list[float]) -> list[float]:
    """The values of the fastest mode: those below the geometric mean of it and the next."""
    modes = modes_of(latencies)
    limit = math.sqrt(modes[0].value * modes[1].value) if len(modes) > 1 else math.inf
    return [value for value in latencies if value < limit]


if __name__ == "__main__":
    main()
