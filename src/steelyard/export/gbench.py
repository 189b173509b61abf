"""The JSON of Google Benchmark: a repetition for each launch, then their aggregates."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from steelyard import __version__
from steelyard.export.export_input import Export
from steelyard.export.tagged_rows import TaggedRow, tagged_rows
from steelyard.results.facets import Rate
from steelyard.results.row import RowLaunch

# Google Benchmark's own: the mean, the median and the sample's deviation of repetitions.
_AGGREGATES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": statistics.fmean,
    "median": statistics.median,
    "stddev": statistics.stdev,
}


def gbench_text(what: Export) -> bytes:
    """Write a benchmark for each launch of a row, and for each aggregate of its launches.

    Times are those of the launches' medians in ns. `cpu_time`, which its readers want, repeats `real_time`.
    """
    found = [entry for i, one in enumerate(tagged_rows(what)) for entry in _benchmarks(i, one)]
    context = {
        "executable": "steelyard",
        "library_version": f"steelyard {__version__}",
        "json_schema_version": 1,
    }
    document = {"context": context, "benchmarks": found}
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _benchmarks(family: int, tagged_row: TaggedRow) -> Iterator[dict[str, Any]]:
    name = _name(tagged_row)
    row = tagged_row.row
    launches = [launch for launch in row.launches if launch.median is not None]
    common: dict[str, Any] = {
        "family_index": family,
        "per_family_instance_index": 0,
        "run_name": name,
        "threads": row.threads,
        "repetitions": len(launches),
    }
    if not launches:
        failed = {"error_occurred": True, "error_message": row.why or "", "iterations": 0}
        yield {"name": name, **common, "run_type": "iteration", **failed, **_times(0.0)}
        return
    for i, launch in enumerate(launches):
        yield {"name": name, **common, "run_type": "iteration", "repetition_index": i, **_launch(launch)}
    medians = [launch.median for launch in launches if launch.median is not None]
    rate = row.get(Rate).bandwidth
    for aggregate, compute in _AGGREGATES.items() if len(medians) > 1 else ():
        times = {"iterations": len(medians), **_times(compute(medians))}
        moved = {"bytes_per_second": rate} if rate is not None and aggregate == "median" else {}
        own = {"run_type": "aggregate", "aggregate_name": aggregate, "aggregate_unit": "time"}
        yield {"name": f"{name}_{aggregate}", **common, **own, **times, **moved}


def _launch(launch: RowLaunch) -> dict[str, Any]:
    return {"iterations": launch.count * (launch.reps or 1), **_times(launch.median or 0.0)}


def _times(ns: float) -> dict[str, Any]:
    return {"real_time": ns, "cpu_time": ns, "time_unit": "ns"}


def _name(row: TaggedRow) -> str:
    """`mpi.bcast/bytes:8/ranks:2/mpi:mpich-5.0.2`, as Google Benchmark names arguments."""
    parts = [f"{name}:{value.replace('/', '_')}" for name, value in row.tags.items() if name != "op"]
    return "/".join([row.row.op, *parts])
