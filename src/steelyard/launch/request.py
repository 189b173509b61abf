"""What one launch is asked for, whatever starts it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from steelyard.records.campaign_file import Placement


class LaunchRequest(Struct, frozen=True):
    """So many ranks of so many threads, and where and how they run."""

    ranks: int
    threads: int = 1
    placement: Placement | None = None
    omp: Mapping[str, str] = {}  # settings of OpenMP
    env: Mapping[str, str] = {}  # variables, MODULES and WRAPPER; UNSET takes one out
    oversubscribe: bool = False  # more ranks and threads than cores are wanted
    yield_mode: str = "real"
    hosts: int | None = None  # as many ranks on each; None: one host
    launcher: str | None = None  # what starts them; None: the usual one
