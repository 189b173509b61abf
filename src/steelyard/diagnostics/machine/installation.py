"""Checks of a machine before anything is measured: MPIs, cores, clocks; and the machine in words."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.base.diagnostic import ERROR, NOTE, WARNING, check
from steelyard.base.plural import counted
from steelyard.base.units import format_memory
from steelyard.diagnostics.machine.snapshot import MachineSnapshot
from steelyard.engines.installed import scripts_folder
from steelyard.engines.mpi import Mpi
from steelyard.engines.shadowed_mpi import hidden_mpi
from steelyard.records.command_line import installing

_COARSE_TICK_NS = 5  # ticks of such steps show in single timings


def default_clock(clocks: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Find the clock that the engine chooses; None without an engine."""
    return next((clock for clock in clocks if clock["default"]), None)


def machine_lines(snapshot: MachineSnapshot) -> list[tuple[str, str]]:
    """Describe the machine and its libraries: pairs of a heading and a line."""
    machine = snapshot.machine
    caches = ", ".join(
        f"L{cache.level} {cache.type.lower()} {cache.instances} x {format_memory(cache.bytes)}"
        for cache in machine.caches
    )
    lines = [
        ("host", f"{machine.host}, {machine.os}, Linux {machine.kernel}"),
        (
            "cpu",
            f"{machine.cpu_model}, {len(machine.cores)} cores, {len(machine.cpus)} CPUs",
        ),
        ("caches", caches or "not told"),
        ("memory", format_memory(machine.memory_bytes)),
        ("load", ", ".join(f"{load:.2f}" for load in machine.load)),
    ]
    lines += [("clock", _clock_words(clock)) for clock in snapshot.clocks if clock["available"]]
    lines += [("mpi", mpi_line(mpi)) for mpi in snapshot.mpis]
    lines += [("shmem", mpi_line(shmem)) for shmem in snapshot.shmems]
    return lines


def mpi_line(mpi: Mpi) -> str:
    """Describe an MPI in a line: its name, its path, and the compiler for engines."""
    compiler = mpi.mpicc or ("the embedded engine fits" if mpi.abi else "no mpicc")
    return f"{mpi.name} ({mpi.origin}): {mpi.mpiexec}, {compiler}"


def _clock_words(clock: Mapping[str, Any]) -> str:
    words = f"{clock['name']}: a reading costs {clock['cost_ns']:.1f} ns, ticks of {clock['tick_ns']:g} ns"
    if clock["hz"]:
        words += f", runs at {clock['hz'] / 1e6:.4f} MHz"
    if not clock["sound"]:
        words += f"; not sound: {clock['doubt']}"
    return f"{words}; the default" if clock["default"] else words


# ---- checks ------------------------------------------------------------------------------------------------


@check(
    "engine",
    ERROR,
    "The engine cannot be started",
    why="Nothing can be measured without it.",
    remedy="Install steelyard again.",
)
def no_engine(snapshot: MachineSnapshot) -> str | None:
    """Say why there is no engine."""
    return snapshot.engine_problem and snapshot.engine_problem.rstrip(".") + "."


@check(
    "mpi",
    WARNING,
    "There is no MPI",
    why="Only what needs no MPI can be measured.",
    remedy=f"Run {installing('mpi')}, or load the MPI module of this system.",
)
def no_mpi(snapshot: MachineSnapshot) -> str | None:
    """Check that a launcher of an MPI was found."""
    return None if snapshot.mpis else "No mpiexec of MPICH, Open MPI or Intel MPI was found."


@check(
    "mpicc",
    WARNING,
    "An MPI without its compiler wrapper",
    why="An engine for this MPI is compiled with it.",
    remedy="Install the development package of that MPI.",
)
def no_mpicc(snapshot: MachineSnapshot) -> str | None:
    """Find MPIs that the embedded engine does not fit and for which none can be built."""
    names = [mpi.name for mpi in snapshot.mpis if mpi.mpicc is None and not mpi.abi]
    return f"{', '.join(names)} {'has' if len(names) == 1 else 'have'} no mpicc." if names else None


@check(
    "hidden-mpi",
    WARNING,
    "An activated environment hides your MPI",
    why="MPICH's wheel puts its programs beside steelyard, which knows both MPIs; your own commands do not.",
    remedy="Leave it (deactivate), and call steelyard by its path, or by an alias.",
)
def hides_mpi(snapshot: MachineSnapshot) -> str | None:
    """Check which mpirun and mpicc are first on PATH."""
    del snapshot
    found = hidden_mpi(os.environ.get("PATH", ""), scripts_folder())
    return f"{found}." if found else None


@check(
    "compiler",
    NOTE,
    "There is no C compiler",
    why="Engines for other MPIs than the embedded one are built when they are first used.",
    remedy="Install gcc.",
)
def no_compiler(snapshot: MachineSnapshot) -> str | None:
    """Check that cc or gcc is on PATH."""
    del snapshot
    return None if shutil.which("cc") or shutil.which("gcc") else "Neither cc nor gcc is on PATH."


@check(
    "one-core",
    WARNING,
    "There is one core",
    why="Ranks that share a core take turns: their times show the scheduler.",
    remedy="Use --oversubscribe for several ranks, and trust no time of theirs.",
)
def one_core(snapshot: MachineSnapshot) -> str | None:
    """Check that this process may use more than one core."""
    return "This process may use one core." if len(snapshot.machine.cores) == 1 else None


@check(
    "virtual",
    NOTE,
    "This is a virtual machine",
    why="Its host may move its CPUs, and makes modes and pauses that nothing inside can switch off.",
    remedy="Compare ratios, over many launches.",
)
def virtual(snapshot: MachineSnapshot) -> str | None:
    """Check for a known hypervisor."""
    return f"It runs under {snapshot.machine.hypervisor}." if snapshot.machine.hypervisor else None


@check(
    "governor",
    WARNING,
    "The cores change their frequency",
    why="The same work takes longer at one time than at another.",
    remedy="Set the governor to performance (cpupower frequency-set -g performance).",
)
def governor(snapshot: MachineSnapshot) -> str | None:
    """Find a governor that may lower the frequency."""
    name = snapshot.machine.governor
    return f"The frequency governor is {name}." if name not in (None, "performance") else None


@check(
    "no-governor",
    NOTE,
    "The frequency of the cores cannot be seen",
    why="The same work may take longer at one time than at another.",
    remedy="Compare what was measured close together in time.",
)
def no_governor(snapshot: MachineSnapshot) -> str | None:
    """Check that the system shows the governor."""
    return None if snapshot.machine.governor else "The system does not tell the frequency governor."


@check(
    "smt",
    NOTE,
    "Cores have several hardware threads",
    why="What runs on one thread of a core slows the other down.",
    remedy="Ranks are bound to whole cores. Keep the other threads idle.",
)
def smt(snapshot: MachineSnapshot) -> str | None:
    """Count the cores with several usable threads."""
    shared = [core for core in snapshot.machine.cores if len(core) > 1]
    if not shared:
        return None
    verb = "runs" if len(shared) == 1 else "run"
    return f"{counted(len(shared), 'core')} {verb} {max(map(len, shared))} hardware threads each."


@check(
    "quota",
    WARNING,
    "CPU time is limited",
    why="Ranks that spin use the limit up and are stopped for the rest of a period, some 0.1 s.",
    remedy="Ask for fewer ranks than the limit allows.",
)
def quota(snapshot: MachineSnapshot) -> str | None:
    """Find the limit of the control group."""
    allowed = snapshot.machine.cpu_quota
    return f"The control group allows the time of {allowed:g} CPUs." if allowed is not None else None


@check(
    "restricted",
    NOTE,
    "Only some CPUs may be used",
    why="Binding stays within them.",
    remedy="Start from a shell without taskset or cpuset to use all.",
)
def restricted(snapshot: MachineSnapshot) -> str | None:
    """Check whether taskset, a cpuset or the like exclude CPUs."""
    machine = snapshot.machine
    if not machine.restricted:
        return None
    return f"{len(machine.cpus)} of {counted(len(machine.online), 'CPU')} may be used."


@check(
    "unsound-clock",
    NOTE,
    "A clock is not sound",
    why="A clock that steps, or that runs differently on another core, makes durations of any length.",
    remedy="Nothing need be done: it is not taken unless --clock asks for it.",
)
def unsound_clock(snapshot: MachineSnapshot) -> str | None:
    """Find clocks that exist and are not used, each with its reason."""
    doubts = [
        f"{clock['name']}: {clock['doubt']}"
        for clock in snapshot.clocks
        if clock["available"] and not clock["sound"]
    ]
    return "; ".join(doubts) + "." if doubts else None


@check(
    "coarse-clock",
    NOTE,
    "The clock is coarse",
    why="Times of single calls are multiples of the tick.",
    remedy="Nothing need be done: medians are interpolated between ticks.",
)
def coarse_clock(snapshot: MachineSnapshot) -> str | None:
    """Find a default clock whose tick shows in single timings."""
    clock = default_clock(snapshot.clocks)
    if clock is None or clock["tick_ns"] < _COARSE_TICK_NS:
        return None
    return f"The clock {clock['name']} advances in steps of {clock['tick_ns']:g} ns."
