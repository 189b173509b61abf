"""sock.tcp beside NetPIPE's NPtcp: same two cores, loopback, interleaved in random order.

    python benchmarks/netpipe_tcp.py PATH/TO/NPtcp [--bytes 1,64,1Ki,64Ki,1Mi] [--rounds 10] [--cpus 0,1]
        [--launches 10] [--seconds 0.1]

NPtcp is of NetPIPE 3, built by its user. A figure of each tool is what its user gets by default: NetPIPE's
the least of seven trials in one process, each a mean, half a second in all; ours the median over ten
launches of 0.1 s, or of so many and so long ones as are asked for. The like of NetPIPE's is formed too: the
least of seven parts of a launch, each a mean. Printed for each size: NetPIPE's time as a ratio to our median,
with the interval of the ratio over rounds; and how far the figures of each tool spread, the middle half of
them and all, relative to their median.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from pathlib import Path

import numpy as np
from peers import netpipe, netpipe_latency, values_of

from steelyard.base.units import format_bytes, format_time, parse_sizes
from steelyard.engines.build import solo_engine
from steelyard.stats import launch_interval
from steelyard.system.process import Child, run

SECONDS = 300.0  # more than either takes
LISTENING = 0.5  # s, after which the receiver waits for a connection


def measure_netpipe(path: str, cpus: tuple[str, str], size: int) -> float:
    """One way in ns: the receiver on the second CPU, the transmitter on the first."""
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder) / "out"
        arguments = netpipe(size, scratch)
        environment = dict(os.environ)
        receiver = ["taskset", "-c", cpus[1], path, *arguments[:-2]]
        with Child(receiver, env=environment, cwd=folder):
            time.sleep(LISTENING)
            transmitter = ["taskset", "-c", cpus[0], path, "-h", "127.0.0.1", *arguments]
            done = run(transmitter, env=environment, timeout=SECONDS)
            if done.code != 0:
                raise SystemExit(f"NPtcp failed: {(done.err or done.out).strip()[-300:]}")
            return netpipe_latency(done.out, scratch, size)


def measure_ours(
    engine: str, cpus: tuple[str, str], size: int, launches: int, seconds: float
) -> dict[str, float]:
    """Our statistics, one way in ns, each the median over launches."""
    found = [launch(engine, cpus, size, seconds) for _ in range(launches)]
    return {name: float(np.median([one[name] for one in found])) for name in found[0]}


def launch(engine: str, cpus: tuple[str, str], size: int, seconds: float) -> dict[str, float]:
    """The statistics of one launch."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.jsonl"
        point = ["op=sock.tcp", f"bytes={size}", f"least_seconds={seconds}"]
        ranks = ["--ranks", "2", "--cpus", "/".join(cpus)]
        done = run([engine, "run", *ranks, "--out", str(path), *point], timeout=SECONDS)
        if done.code != 0:
            raise SystemExit(f"the engine failed: {done.err.strip()[-300:]}")
        return values_of(path)[0]


def spread(values: list[float]) -> str:
    """How far figures lie apart, relative to their median: the middle half of them, and all."""
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    return f"{100 * (high - low) / middle:.1f} %, {100 * (max(values) - min(values)) / middle:.1f} %"


def show(size: int, theirs: list[float], ours: list[dict[str, float]]) -> None:
    """A line for each tool, and the ratio."""
    least = [one["least"] for one in ours]
    medians = [one["median"] for one in ours]
    ratios = [one / float(np.median(medians)) for one in theirs]
    interval = launch_interval(ratios) if len(ratios) > 1 else None
    bounds = f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
    print(f"\n{format_bytes(size)}, {len(theirs)} rounds")
    for name, values in (
        ("NetPIPE TCP, least of 7", theirs),
        ("sock.tcp, least of 7", least),
        ("sock.tcp, median", medians),
    ):
        print(f"  {name:<24} {format_time(float(np.median(values))):>9}   spread {spread(values)}")
    print(f"  NetPIPE / sock.tcp       {np.median(ratios):9.3f}{bounds}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("netpipe", metavar="NPtcp")
    parser.add_argument("--bytes", default="1,64,1Ki,8Ki,64Ki,1Mi")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--cpus", default="0,1")
    parser.add_argument("--launches", type=int, default=10, help="of ours for a figure")
    parser.add_argument("--seconds", type=float, default=0.1, help="of each of them at least")
    options = parser.parse_args()
    first, second = options.cpus.split(",")
    engine = solo_engine().path
    for size in parse_sizes(options.bytes):
        theirs: list[float] = []
        ours: list[dict[str, float]] = []
        for _ in range(options.rounds):
            for is_ours in random.sample((True, False), 2):
                if is_ours:
                    ours.append(
                        measure_ours(engine, (first, second), size, options.launches, options.seconds)
                    )
                else:
                    theirs.append(measure_netpipe(options.netpipe, (first, second), size))
        show(size, theirs, ours)


if __name__ == "__main__":
    main()
