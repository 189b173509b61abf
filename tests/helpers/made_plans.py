"""Results and reports as shipped plans make them: their ops, sizes and parameters, with made-up times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import msgspec

from further import further
from make_records import FakePoint, steady, write_folder
from steelyard.analyses.overview import read_rows
from steelyard.plan.plan import Measure, read_plan
from steelyard.plan.shipped import shipped_plans
from steelyard.report.page import folder_of, render_report
from steelyard.results.core_noise import LENGTH_NAMES
from steelyard.results.row import Row

# Plans that are looked at: `rma-mt-seed` and `rma-mt-full` are `rma-mt` with more values, and some have
# pages as `quick` and `openmp` have.
_ALIKE = ("sphinx-pthreads", "sphinx-openmp", "mpibench-contention", "nemesis-placement", "algorithms")
PLANS = sorted(
    name
    for name in shipped_plans()
    if name not in _ALIKE and (not name.startswith("rma-mt-") or name == "rma-mt-apps")
)
# Whose pages are unlike: the others have tables and pictures of the same kinds, and a page takes a second.
UNLIKE = ("acceptance", "loggp", "noise", "one-sided-everywhere", "overlap", "quick", "rma-mt", "waiting")
PAGES = [name if name in UNLIKE else further(name) for name in PLANS]
MOST_VARIANTS = 4  # of the parameters of an op
# What ops of the family noise count.
COUNTS = {"noise.ftq": ("units",), "noise.selfish": (*LENGTH_NAMES, "lost_ns", "longest_ns")}
SIZES = (8, 1024, 65536)  # where a plan asks for several


def values_of(value: object) -> list[float | str]:
    """The values of a parameter of a plan; `*` is any word."""
    if value == "*":
        return ["one", "another_word"]
    return list(value) if isinstance(value, list | tuple) else [value]  # type: ignore[list-item]


def fakes_of(measure: Measure) -> Iterator[FakePoint]:
    """The test cases that a part of a plan asks for: ops x sizes x threads x parameters, under two MPIs."""
    plain = msgspec.to_builtins(measure)
    params = {name: values_of(value) for name, value in dict(plain.get("params") or {}).items()}
    variants = list(product(*params.values()))[:MOST_VARIANTS] or [()]
    text = str(plain.get("bytes") or "")
    sizes = SIZES if ".." in text or "," in text else (0,)
    for name, variant, size in product(plain["ops"], variants, sizes):
        op = str(name).replace("*", "all")
        mpis = ("mpich-4.0.2", "openmpi-4.1.4") if op.startswith(("app.", "mpi.", "npb.")) else (None,)
        for mpi in mpis:
            yield FakePoint(
                op,
                steady(150.0 + size / 8, count=40),
                bytes=size,
                ranks=2 if mpi else 1,
                mpi=mpi,
                params=dict(zip(params, variant, strict=False)),
                counts=COUNTS.get(op, ()),
            )


def made_plan(folder: Path, name: str) -> Path:
    """Results as the shipped plan of that name makes them; returns their folder."""
    plan = read_plan(shipped_plans()[name])
    points = [point for measure in plan.measure for point in fakes_of(measure)]
    return write_folder(folder / name, points, launches=2, name=name)


@dataclass(frozen=True, slots=True)
class Report:
    """The report of results, and the rows in it."""

    page: str
    rows: tuple[Row, ...]


def made_report(folder: Path, name: str) -> Report:
    """The report of results as the shipped plan of that name makes them."""
    read = folder_of(read_rows(made_plan(folder, name), name))
    return Report(render_report([read]), read.rows)


def made_arms(folder: Path) -> Path:
    """Results of two arms, some test cases slower and some faster in the second; returns their folder."""
    points = [
        FakePoint(
            f"mpi.{op}",
            steady(factor * (1000.0 + size / 8), count=40, between=0.01),
            bytes=size,
            mpi=mpi,
            params={"datatype": "a_long_word_for_a_parameter", "window": window},
        )
        for op in ("allreduce", "neighbor_alltoallw_init", "reduce_scatter_block_init")
        for size in (8, 1024, 65536)
        for window in (1, 64)
        for mpi, factor in (("mpich-4.0.2", 1.0), ("openmpi-4.1.4", {8: 1.2, 1024: 0.85}.get(size, 1.0)))
    ]
    return write_folder(folder, points, launches=12, plan={"arms": {"mpi": ["mpich", "openmpi"]}})
