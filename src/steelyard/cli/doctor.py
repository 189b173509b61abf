"""`steelyard doctor`: this machine before anything is measured."""

from __future__ import annotations

import textwrap

from msgspec.structs import replace

from steelyard.cli.console import say, say_json, tell, width
from steelyard.cli.options import JsonOnly

_NAME_WIDTH = 10  # letters
_LOOK_SECONDS = 1.0  # how long other processes are watched


def doctor(options: JsonOnly) -> None:
    """Examine this machine: MPIs, cores and caches, clocks, other load; what is wrong, and what to do."""
    from steelyard.diagnostics.machine import examine
    from steelyard.diagnostics.machine.installation import default_clock, machine_lines
    from steelyard.diagnostics.machine.snapshot import take_snapshot
    from steelyard.diagnostics.text import diagnostic_text
    from steelyard.render.terminal import folded
    from steelyard.system.other_processes import Watcher

    watcher = Watcher()
    watcher.look()  # for others' work while we measure clocks
    snapshot = take_snapshot(tell)
    watcher.look_after(_LOOK_SECONDS)
    snapshot = replace(snapshot, busy=watcher.busiest())
    found = examine(snapshot)
    if options.json:
        told = {"clock": default_clock(snapshot.clocks), "clocks": snapshot.clocks, "doubts": found}
        seen = {"settings": snapshot.settings, "busy": snapshot.busy}
        there = {"machine": snapshot.machine, "mpis": snapshot.mpis, "shmems": snapshot.shmems}
        say_json({**there, **seen, **told})
        return
    for name, value in machine_lines(snapshot):
        _say_row(name, value)
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
