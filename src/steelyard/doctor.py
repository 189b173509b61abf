"""What is doubtful about this machine before anything is measured: a table of doubts."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from steelyard.doctor_settings import ROWS, Found
from steelyard.machine import Machine
from steelyard.mpi import Mpi
from steelyard.records import Busy
from steelyard.settings import Settings
from steelyard.units import format_bytes

_BUSY_LOAD = 0.5  # runnable processes besides us, on average over the last minute
_COARSE_TICK_NS = 5  # a clock that ticks in such steps shows in what is timed singly


class Patient(Struct, frozen=True):
    """What the doctor looks at. `clocks`: as `gauge_clocks` says; none: no engine."""

    machine: Machine
    mpis: Sequence[Mpi]
    clocks: Sequence[Mapping[str, Any]]
    engine_problem: str | None  # why there is no engine
    settings: Settings = Settings()
    busy: Sequence[Busy] = ()  # processes that ran while somebody looked on


class Doubt(Struct, frozen=True):
    """What was seen, and what to do. `severity`: error, warning or note."""

    what: str
    evidence: str
    remedy: str
    severity: str


class _Row(Struct, frozen=True):
    what: str
    severity: str
    find: Callable[[Patient], str | None]  # the evidence, None where there is nothing to say
    remedy: str


def examine(patient: Patient) -> tuple[Doubt, ...]:
    """All doubts that apply, the gravest first."""
    found = [
        Doubt(row.what, evidence, row.remedy, row.severity)
        for row in _ROWS
        if (evidence := row.find(patient)) is not None
    ]
    system = Found(patient.machine, patient.settings, patient.busy)
    found += [
        Doubt(row.what, evidence, row.remedy, row.severity)
        for row in ROWS
        if (evidence := row.find(system)) is not None
    ]
    return tuple(sorted(found, key=lambda doubt: ("error", "warning", "note").index(doubt.severity)))


def default_clock(clocks: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The clock that the engine chooses; None where there is no engine."""
    return next((clock for clock in clocks if clock["default"]), None)


def machine_lines(machine: Machine, clocks: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The machine in words: pairs of a heading and a line."""
    caches = ", ".join(
        f"L{cache.level} {cache.type.lower()} {cache.instances} x {format_bytes(cache.bytes)}"
        for cache in machine.caches
    )
    lines = [
        ("host", f"{machine.host}, {machine.os}, Linux {machine.kernel}"),
        (
            "cpu",
            f"{machine.cpu_model}, {len(machine.cores)} cores, {len(machine.cpus)} CPUs",
        ),
        ("caches", caches or "not told"),
        ("memory", format_bytes(machine.memory_bytes)),
        ("load", ", ".join(f"{load:.2f}" for load in machine.load)),
    ]
    lines += [("clock", _clock_words(clock)) for clock in clocks if clock["available"]]
    return lines


def _clock_words(clock: Mapping[str, Any]) -> str:
    words = f"{clock['name']}: a reading costs {clock['cost_ns']:.1f} ns, ticks of {clock['tick_ns']:g} ns"
    if clock["hz"]:
        words += f", runs at {clock['hz'] / 1e6:.4f} MHz"
    if not clock["sound"]:
        words += f"; not sound: {clock['doubt']}"
    return f"{words}; the default" if clock["default"] else words


def _no_engine(patient: Patient) -> str | None:
    return patient.engine_problem


def _no_mpi(patient: Patient) -> str | None:
    return None if patient.mpis else "no mpiexec of MPICH, Open MPI or Intel MPI was found"


def _no_mpicc(patient: Patient) -> str | None:
    names = [mpi.name for mpi in patient.mpis if mpi.mpicc is None and not mpi.abi]
    return f"{', '.join(names)} has no mpicc" if names else None


def _no_compiler(patient: Patient) -> str | None:
    del patient
    return None if shutil.which("cc") or shutil.which("gcc") else "neither cc nor gcc is on PATH"


def _one_core(patient: Patient) -> str | None:
    return "this process may use one core" if len(patient.machine.cores) == 1 else None


def _virtual(patient: Patient) -> str | None:
    return f"it runs under {patient.machine.hypervisor}" if patient.machine.hypervisor else None


def _busy(patient: Patient) -> str | None:
    load = patient.machine.load[0]
    return f"the load was {load:.2f} over the last minute" if load > _BUSY_LOAD else None


def _governor(patient: Patient) -> str | None:
    governor = patient.machine.governor
    return f"the frequency governor is {governor}" if governor not in (None, "performance") else None


def _no_governor(patient: Patient) -> str | None:
    return None if patient.machine.governor else "the system does not tell the frequency governor"


def _smt(patient: Patient) -> str | None:
    shared = [core for core in patient.machine.cores if len(core) > 1]
    return f"{len(shared)} cores run {max(map(len, shared))} hardware threads each" if shared else None


def _quota(patient: Patient) -> str | None:
    quota = patient.machine.cpu_quota
    return f"the control group allows {quota:g} CPUs' worth of time" if quota is not None else None


def _restricted(patient: Patient) -> str | None:
    machine = patient.machine
    return f"{len(machine.cpus)} of {len(machine.online)} CPUs may be used" if machine.restricted else None


def _coarse_clock(patient: Patient) -> str | None:
    clock = default_clock(patient.clocks)
    if clock is None or clock["tick_ns"] < _COARSE_TICK_NS:
        return None
    return f"the clock {clock['name']} advances in steps of {clock['tick_ns']:g} ns"


def _unsound_clock(patient: Patient) -> str | None:
    doubts = [
        f"{clock['name']}: {clock['doubt']}"
        for clock in patient.clocks
        if clock["available"] and not clock["sound"]
    ]
    return "; ".join(doubts) or None


_ROWS = (
    _Row("the engine cannot be started", "error", _no_engine, "install steelyard again, or see 'make build'"),
    _Row(
        "there is no MPI", "warning", _no_mpi,
        "pip install 'steelyard[mpi]', or load your system's MPI module",
    ),
    _Row(
        "an MPI without its compiler wrapper", "warning", _no_mpicc,
        "install its development package, so that an engine can be built for it",
    ),
    _Row(
        "there is no C compiler", "note", _no_compiler,
        "install gcc: engines for other MPIs than the embedded one are built on demand",
    ),
    _Row(
        "a single core", "warning", _one_core,
        "use --oversubscribe for several ranks, and trust no time of theirs",
    ),
    _Row("other work on this machine", "warning", _busy, "wait until it is over, or measure on another node"),
    _Row(
        "a virtual machine", "note", _virtual,
        "expect modes and detours that nothing inside can switch off: compare ratios, over many launches",
    ),
    _Row(
        "the cores change their frequency", "warning", _governor,
        "set the governor to performance (cpupower frequency-set -g performance)",
    ),
    _Row(
        "the cores' frequency cannot be seen", "note", _no_governor,
        "compare what was measured close together in time",
    ),
    _Row(
        "cores with several hardware threads", "note", _smt,
        "ranks are bound to whole cores; keep the rest idle",
    ),
    _Row(
        "a limit on CPU time", "warning", _quota,
        "ranks that spin use it up and are stopped: ask for fewer ranks than it allows",
    ),
    _Row("only some CPUs may be used", "note", _restricted, "binding stays within them"),
    _Row(
        "a clock that is not sound", "note", _unsound_clock,
        "nothing: it is not taken unless --clock asks for it",
    ),
    _Row(
        "a coarse clock", "note", _coarse_clock,
        "nothing: single times are multiples of it, and medians are interpolated between them",
    ),
)  # fmt: skip
