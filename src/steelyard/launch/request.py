"""The request for one launch, for any launcher."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from steelyard.records.campaign_file import Placement


class LaunchRequest(Struct, frozen=True):
    """A number of ranks and threads, where they are, and how they run."""

    ranks: int
    threads: int = 1
    placement: Placement | None = None
    omp: Mapping[str, str] = {}  # settings of OpenMP
    env: Mapping[str, str] = {}  # variables, those of AROUND; UNSET removes one
    oversubscribe: bool = False  # more ranks and threads than cores are allowed
    yield_mode: str = "real"
    hosts: int | None = None  # of equal numbers of ranks; None: one host
    launcher: str | None = None  # its name; None: the usual one
    loses: int = 0  # ranks that are started besides, and die: the launcher must let the others live
