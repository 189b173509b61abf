"""`steelyard doctor`: this machine before anything is measured."""

from __future__ import annotations

import textwrap
from typing import Any

from steelyard.base.errors import SteelyardError
from steelyard.cli.console import say, say_json, tell, width
from steelyard.cli.mpi import mpi_line
from steelyard.cli.options import JsonOnly
from steelyard.engines.build import solo_engine
from steelyard.engines.mpi import find_mpis
from steelyard.engines.shmem import find_shmems
from steelyard.system.machine import read_machine

_NAME_WIDTH = 10  # letters
_LOOK_SECONDS = 1.0  # how long other processes are watched


def doctor(options: JsonOnly) -> None:
    """Examine this machine: MPIs, cores and caches, clocks, other load; what is wrong, and what to do."""
    from steelyard.diagnostics.machine import MachineSnapshot, examine
    from steelyard.diagnostics.machine.installation import default_clock, machine_lines
    from steelyard.diagnostics.text import diagnostic_text
    from steelyard.engines.clocks import gauge_clocks
    from steelyard.render.terminal import folded
    from steelyard.system.kernel_settings import read_settings
    from steelyard.system.other_processes import Watcher

    watcher = Watcher()
    watcher.look()  # for others' work while we measure clocks
    machine, settings, mpis = read_machine(), read_settings(), find_mpis()
    shmems = find_shmems()
    clocks, problem = list[dict[str, Any]](), None
    try:
        clocks = gauge_clocks(solo_engine(tell))
    except SteelyardError as error:
        problem = str(error)
    watcher.look_after(_LOOK_SECONDS)
    busy = watcher.busiest()
    found = examine(MachineSnapshot(machine, mpis, clocks, problem, settings, busy))
    if options.json:
        told = {"clock": default_clock(clocks), "clocks": clocks, "doubts": found}
        seen = {"settings": settings, "busy": busy}
        say_json({"machine": machine, "mpis": mpis, "shmems": shmems, **seen, **told})
        return
    for name, value in machine_lines(machine, clocks):
        _say_row(name, value)
    for mpi in mpis:
        _say_row("mpi", mpi_line(mpi))
    for shmem in shmems:
        _say_row("shmem", mpi_line(shmem))
    say()
    for line in diagnostic_text(found, notes=True):
        say(folded(line, width()))
    if not found:
        say("No check found anything.")


def _say_row(name: str, value: str) -> None:
    """Print a name and its text, wrapped beside it; in a pipe on one line."""
    columns = width()
    indent = " " * (_NAME_WIDTH + 1)
    text = f"{name:<{_NAME_WIDTH}} {value}"
    lines = (
        textwrap.wrap(text, columns, subsequent_indent=indent, break_on_hyphens=False) if columns else [text]
    )
    for line in lines:
        say(line)
