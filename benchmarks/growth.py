"""Does what is said of 256 ranks from 4 to 64 hold? Collectives in simulation, by SMPI's selections.

    python benchmarks/growth.py [--ops barrier,bcast] [--selectors ompi,mpich] [--bytes 8,1024] [--keep FILE]

Each collective of each size is simulated on 4, 8, 16, 32 and 64 ranks of one switch, without noise, and on
256. The model is fitted to the first five; prints what it says of 256, its interval, the truth, and in how
many cases the interval holds it. Simulations that take more than --seconds are left out. --keep holds the
simulated times (JSON), so that a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
import threading
from pathlib import Path

from steelyard.analyses.growth.normal_form import fit_normal_form, predict
from steelyard.base.units import format_time
from steelyard.results.rows import results
from steelyard.validate.design import TRUTH, SimulatedMachine, Simulation
from steelyard.validate.simulator import Simulator, find_simulator, simulate

_RANKS, _AHEAD = (4, 8, 16, 32, 64), 256
_OPS = ("barrier", "bcast", "scatter", "gather", "reduce", "allreduce", "allgather", "alltoall",
        "reduce_scatter_block")  # fmt: skip
_UNSIZED = ("barrier",)

Times = dict[str, float]  # by `op selector ranks bytes`, in ns


def _simulated(
    simulator: Simulator, op: str, selector: str, ranks: int, sizes: tuple[int, ...], seconds: float
) -> Times:
    """The true times of a collective, of the sizes that were done in time."""
    one = Simulation(
        op=f"mpi.{op}",
        ranks=ranks,
        per_host=1,
        machine=SimulatedMachine("flat", {"topology": "flat"}),
        selector=selector,
        barrier=None,
        sizes=(0,) if op in _UNSIZED else sizes,
        methods=(),
        seed=1,
    )
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "records").mkdir()
        records = Path(folder) / "records" / "simulated.jsonl"
        simulate(simulator, one, records, seconds, threading.Event())
        return {
            f"{op} {selector} {ranks} {row.bytes}": row.time
            for row in results(Path(folder))
            if row.method == TRUTH and row.time
        }


def _line(times: Times, op: str, selector: str, size: int) -> tuple[str, bool] | None:
    """A line of the table and whether the interval holds the truth; None where a time is missing."""
    told = [times.get(f"{op} {selector} {ranks} {size}") for ranks in (*_RANKS, _AHEAD)]
    if None in told:
        return None
    *seen, truth = (one or 0.0 for one in told)
    model = fit_normal_form(_RANKS, seen)
    assert model is not None
    span = predict(model, _AHEAD)
    low, high = span.low or 0.0, span.high or 0.0
    shapes = " + ".join(["c", *(shape.words for shape in model.shapes)])
    holds = low <= truth <= high
    interval = f"{format_time(low)} - {format_time(high)}"
    words = f"{op:22}{selector:8}{size:8}  {shapes:20}{format_time(span.value):>10}  {interval:24}"
    return f"{words}{format_time(truth):>10}  {'holds' if holds else 'MISSED'}", holds


def main() -> None:
    """Simulate, fit and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ops", default=",".join(_OPS))
    parser.add_argument("--selectors", default="ompi,mpich")
    parser.add_argument("--bytes", default="8,1024,65536")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    sizes = tuple(int(one) for one in given.bytes.split(","))
    selectors = given.selectors.split(",")
    kept: Times = json.loads(given.keep.read_text()) if given.keep and given.keep.exists() else {}
    simulator = find_simulator()
    ops = given.ops.split(",")
    for op, selector, ranks in itertools.product(ops, selectors, (*_RANKS, _AHEAD)):
        if any(f"{op} {selector} {ranks} {size}" in kept for size in (0, *sizes)):
            continue
        kept |= _simulated(simulator, op, selector, ranks, sizes, given.seconds)
        if given.keep:
            given.keep.write_text(json.dumps(kept))
    cases = [
        (op, one, size) for op in ops for one in selectors for size in ((0,) if op in _UNSIZED else sizes)
    ]
    lines = [line for case in cases if (line := _line(kept, *case)) is not None]
    print("\n".join(words for words, _ in lines))
    print(f"{sum(holds for _, holds in lines)} of {len(lines)} hold; {len(cases) - len(lines)} not simulated")


if __name__ == "__main__":
    main()
