"""Checks for ReFrame: three lines make one.

    @rfm.simple_test
    class latency(SteelyardCheck):
        what = "mpi.pingpong -n 2 --bytes 8,1Ki"

ReFrame starts `steelyard run`, which starts the MPI itself, also inside an allocation. Each test case is a
performance variable: its time in us, and its bandwidth in MB/s where it moves bytes.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import run_before, sanity_function, variable

from steelyard.base.files import read_regular

_TIME, _BANDWIDTH = ("time", "us", 1e-3), ("bandwidth", "MB/s", 1e-6)


class SteelyardCheck(rfm.RunOnlyRegressionTest):
    """Measure `what`, words of `steelyard run`; every test case must end, with the right answers.

    `reference` takes names such as `mpi_pingpong_8B_time`: the op, the size, and `time` or `bandwidth`.
    """

    what = variable(str)
    valid_systems = ["*"]  # noqa: RUF012 - of ReFrame, which copies it
    valid_prog_environs = ["*"]  # noqa: RUF012
    executable = "steelyard"

    @run_before("run")
    def give_words(self) -> None:
        """Ask for a document on stdout, without the launcher of the partition: steelyard has its own."""
        self.executable_opts = [
            "run",
            *map(shlex.quote, shlex.split(self.what)),
            "--to",
            "json",
            "--out",
            "results",
        ]
        self.job.launcher = getlauncher("local")()

    @sanity_function
    def ends_well(self) -> Any:
        """Fail for a test case that failed or gave a wrong answer, and where there is none."""
        points = document(self.stdout.evaluate(), self.stagedir)["points"]
        measured = [point for point in points if point["status"] != "skipped"]
        wrong = [point for point in measured if point["status"] != "ok" or point["verified"] is False]
        why = "; ".join(f"{point['op']}: {point['why'] or 'the answers are wrong'}" for point in wrong)
        return sn.all([sn.assert_true(measured, "nothing was measured"), sn.assert_false(wrong, why)])

    @run_before("performance")
    def name_values(self) -> None:
        """Make a performance variable of each number."""
        points = document(self.stdout.evaluate(), self.stagedir)["points"]
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(value), unit)
            for name, (value, unit) in values_of(points).items()
        }


def document(stdout: str, folder: str) -> Mapping[str, Any]:
    """Read what `steelyard run --to json` has printed into a file of the stage folder."""
    found: Mapping[str, Any] = json.loads(read_regular(Path(folder) / stdout))
    return found


def values_of(points: list[Mapping[str, Any]]) -> dict[str, tuple[float, str]]:
    """Name the numbers of test cases, each with its unit; a name that is taken gets the case's number."""
    found: dict[str, tuple[float, str]] = {}
    for point in points:
        for key, unit, scale in (_TIME, _BANDWIDTH):
            if point.get(key) is not None:
                name = _name(point, key)
                name = name if name not in found else f"{name}_{point['point']}"
                found[name] = (point[key] * scale, unit)
    return found


def _name(point: Mapping[str, Any], key: str) -> str:
    """`mpi_pingpong_8B_time`."""
    size = f"{point['bytes']}B" if point["sized"] else ""
    return "_".join(part for part in (re.sub(r"\W", "_", point["op"]), size, key) if part)
