"""Why a launch died or hangs: from what its ranks and its launcher said, and from what /proc says of them."""

from __future__ import annotations

import platform
import re
import signal
from collections.abc import Iterable
from pathlib import Path

from steelyard.errors import InputError, MeasurementError
from steelyard.process import process_state
from steelyard.records import Place

_SIGNAL_LINE = re.compile(r"steelyard: rank (\d+): died of signal (\d+)")
_SENTENCE = re.compile(r"steelyard: rank (\d+): (.+)")
_OTHER_LAUNCHER = "unsupported PMI version"  # MPICH 5 in MPI_Init, under the mpiexec of Open MPI
# States of a process in which it cannot go on by itself; None: there is no such process.
_HELD = {"T": "is suspended", "t": "is held by a debugger", None: "is gone", "Z": "is gone"}


def held_ranks(places: Iterable[Place]) -> str:
    """`; rank 1 (pid 4711) is suspended`, "" where none is or they are on other hosts."""
    here = platform.node()
    found = [
        f"; rank {place.rank} (pid {place.pid}) {_HELD[state]}"
        for place in places
        if place.host == here and place.pid > 0 and (state := process_state(place.pid)) in _HELD
    ]
    return "".join(found)


def never_began(command: list[str], ended: str, said: str) -> InputError | MeasurementError:
    """The error of a launch that ended before it measured anything."""
    sentence = _SENTENCE.search(said)
    if sentence is not None:
        return InputError(f"{sentence[2]} (from: {Path(command[0]).name})")
    if _OTHER_LAUNCHER in said:
        return InputError(
            f"'{command[0]}' belongs to another MPI than the library that this engine found; "
            "use the mpiexec of that library"
        )
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return MeasurementError(
        f"'{command[0]}' {ended} before anything was measured: "
        + (" / ".join(lines[:3]) or "it said nothing")
    )


def cause_of_death(code: int | None, said: str) -> str:
    """Why a launch died, from what its ranks and its launcher said."""
    if died := _SIGNAL_LINE.search(said):
        number = int(died[2])
        name = signal.Signals(number).name if number in set(signal.Signals) else "unknown"
        return f"signal {number} ({name}) on rank {died[1]}"
    if sentence := _SENTENCE.search(said):
        return f"abort: rank {sentence[1]}: {sentence[2]}"
    return f"abort: the launch ended with code {code} in the middle of the point"
