"""What the tests of records share: the lines that an engine writes of one launch."""

from __future__ import annotations

import json
import re
from typing import Any

# The lines of the contract between engine and package, in full, as an engine writes them.
LINES: list[dict[str, Any]] = [
    {
        "record": "job",
        "schema": 1,
        "job": "l01-openmpi-4.1.4-n2",
        "launch": 1,
        "mpi": {
            "name": "openmpi-4.1.4",
            "family": "openmpi",
            "version": "4.1.4",
            "mpiexec": "/usr/bin/mpiexec.openmpi",
            "prefix": None,
        },
        "engine": "/opt/steelyard-mpi",
        "command": ["/usr/bin/mpiexec.openmpi", "-n", "2"],
        "environment": {"OMPI_MCA_btl": "self,vader"},
        "preset": None,
        "ranks": 2,
        "threads": 1,
        "cores": 2,
        "notes": [],
    },
    {
        "record": "launch",
        "schema": 1,
        "engine": "mpi",
        "version": "0.1.0",
        "build": {"compiler": "gcc 12.2.0", "flags": "-O2", "openmp": 201511, "mpi_header": "5.0"},
        "mpi": {"library": "Open MPI v4.1.4", "version": "3.1", "thread_level": "single"},
        "ranks": 2,
        "seed": 42,
        "clock": {"name": "monotonic", "cost_ns": 27.4, "tick_ns": 10},
        "yield": "real",
        "start_unix_ns": 1795000000000000000,
        "places": [
            {
                "rank": r,
                "host": "vm",
                "pid": 9,
                "cpus": str(r),
                "cpu": r,
                "clock_cost_ns": 27.4,
                "clock_tick_ns": 10,
            }
            for r in (0, 1)
        ],
        "environment": {},
    },
    {
        "record": "point",
        "point": 0,
        "op": "mpi.pingpong",
        "bytes": 8,
        "ranks": 2,
        "threads": 1,
        "params": {"window": 64},
        "method": "batch",
        "method_params": {},
        "rule": "median",
        "rule_params": {"tolerance": 0.01, "level": 0.95, "most_seconds": 10},
        "moved_bytes": 16,
        "parts": 2,
        "report": "root",
        "reps": 128,
        "start_ns": 123456,
    },
    {
        "record": "obs",
        "point": 0,
        "first": 0,
        "count": 2,
        "start_ns": [[0, 100000], [10, 100010]],
        "stop_ns": [[60000, 160010], [60000, 160000]],
        "yields": [12, 34],
    },
    {
        "record": "end",
        "point": 0,
        "status": "ok",
        "why": None,
        "flag": "SETTLED",
        "count": 2,
        "rejected": 0,
        "verified": True,
        "stop_ns": 456789,
    },
]


def text_of(lines: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(line) + "\n" for line in lines)


_SEAL = re.compile(r'(, *"line": *\d+)?, *"crc": *"[0-9a-f]{8}"(?=\}$)', re.MULTILINE)


def unsealed(text: str) -> str:
    """The lines of an older version, without numbers and checksums, which a test may change."""
    return _SEAL.sub("", text)
