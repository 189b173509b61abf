"""The settings of a night in its records, where the search for a regression begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from steelyard.records.job_file import JobFile
from steelyard.results.libraries import PROGRAM, known_libraries
from steelyard.results.transport import transport_of

KnownSettings = Mapping[str, str]  # name, as in a sentence -> value; unknown ones are left out

# Facts of the machine that campaign.json has, and their names.
_MACHINE = {"kernel": "kernel", "os": "system", "hypervisor": "hypervisor", "memory_bytes": "memory in bytes"}
_LIBRARY, _NETWORK, _BUILD = "library", "network", "engine build"
_KINDS = (_LIBRARY, _NETWORK, _BUILD)  # older records lack them
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*_\w+")  # of the environment: OMPI_MCA_btl, UCX_TLS
# Settings that each job finds, and their names.
_JOB = {
    "governor": "frequency governor",
    "turbo": "turbo frequencies",
    "smt": "SMT",
    "thp": "transparent huge pages",
    "cpu_quota": "CPU quota",
    "isolated": "CPUs without a scheduler",
    "mitigations": "mitigations",
    "numa_balancing": "NUMA balancing",
    "LD_PRELOAD": "LD_PRELOAD",
    "LD_LIBRARY_PATH": "LD_LIBRARY_PATH",
}


_MPI_FACTS = ("MPI", "mpiexec", "MPI library", "thread level", "engine", "binding", "transport")
_FACTS = frozenset((*_MACHINE.values(), *_JOB.values(), *_MPI_FACTS))
_NONE = "-"  # no value
_OF_PLAN = ("plan ", "measure ")
_STATED = "MPIR_CVAR_"  # MPICH states all of them, whether they are set or not


def settings_of(machine: Mapping[str, Any], files: Sequence[JobFile]) -> KnownSettings:
    """List the settings of a night on a machine; one in which its launches differ has all its values."""
    told: dict[str, Iterable[object]] = {name: [machine.get(key)] for key, name in _MACHINE.items()}
    told["MPI"] = [file.job.mpi.name for file in files if file.job.mpi]
    told["mpiexec"] = [file.job.mpi.mpiexec for file in files if file.job.mpi]
    told["MPI library"] = [file.launch.mpi.library for file in files if file.launch and file.launch.mpi]
    told["thread level"] = [file.launch.mpi.thread_level for file in files if file.launch and file.launch.mpi]
    told["engine"] = [_engine(file) for file in files]
    told["binding"] = [_binding(file) for file in files]
    told["transport"] = [transport_of(file.launch) for file in files if file.launch]
    for key, name in _JOB.items():
        told[name] = [file.job.settings.get(key) for file in files]
    told |= _of_libraries(files)
    told |= _of_mpi(files)
    for device in _networks(machine):
        told[f"{_NETWORK} {device.get('name')}"] = [_network_words(device)]
    for variable in sorted({name for file in files if file.launch for name in file.launch.environment}):
        told[variable] = [file.launch.environment.get(variable) for file in files if file.launch]
    found = {name: _values(values) for name, values in told.items()}
    return {name: text for name, text in found.items() if text}


def is_variable(name: str) -> bool:
    """Is a setting of a night a variable of the environment?"""
    return _VARIABLE.fullmatch(name) is not None


def differences(before: KnownSettings, after: KnownSettings) -> tuple[tuple[str, str, str], ...]:
    """Find the settings in which two nights differ: name, value before and after; `-` for none.

    What somebody set or installed comes before what follows from it, see `_place`. If the records of one
    night lack a kind of setting, it is no difference.
    """
    unknown = tuple(
        kind
        for kind in _KINDS
        if not all(any(name.startswith(kind) for name in one) for one in (before, after))
    )
    found = (
        (name, before.get(name, _NONE), after.get(name, _NONE))
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name) and not (unknown and name.startswith(unknown))
    )
    of_another = before.get("MPI") != after.get("MPI")
    return tuple(sorted(found, key=lambda one: _place(*one, of_another=of_another)))


def _place(name: str, before: str, after: str, *, of_another: bool) -> int:
    """Say how early a reader looks for a difference: the plan, variables, facts of machine and MPI, libraries
    that were exchanged, settings that the MPI states, libraries that were loaded in one night only.

    `of_another`: by another MPI, which states other variables.
    """
    is_stated = of_another and name.startswith(_STATED) and _NONE in (before, after)
    if name.startswith(_OF_PLAN) or (is_variable(name) and not is_stated):
        return 0
    if name in _FACTS or name.startswith((_NETWORK, _BUILD)):
        return 1
    if not name.startswith(_LIBRARY):
        return 3
    return 4 if _NONE in (before, after) else 2


def _of_libraries(files: Sequence[JobFile]) -> dict[str, Iterable[object]]:
    """Find the build id or hash of each library that ranks had loaded, by the name of its file."""
    found: dict[str, list[object]] = {}
    for file in files:
        for name, known in (known_libraries(file.launch) if file.launch else {}).items():
            found.setdefault(_BUILD if name == PROGRAM else f"{_LIBRARY} {name}", []).append(known)
    return dict(found)


def _of_mpi(files: Sequence[JobFile]) -> dict[str, Iterable[object]]:
    """Find the control variables of each MPI in the records."""
    found: dict[str, list[object]] = {}
    for file in files:
        mpi = file.launch.mpi if file.launch else None
        for name, value in mpi.cvars.items() if mpi else ():
            found.setdefault(name, []).append(value)
    return dict(found)


def _networks(machine: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    known = machine.get("networks")
    return [one for one in known if isinstance(one, dict)] if isinstance(known, list) else []


def _network_words(device: Mapping[str, Any]) -> str:
    """Describe a device: `virtio_net, up, 10000 Mb/s`."""
    return (
        ", ".join(str(device[key]) for key in ("driver", "state", "rate") if device.get(key)) or "by software"
    )


def _values(values: Iterable[object]) -> str:
    known = dict.fromkeys(str(value) for value in values if value not in (None, "", [], ()))
    return " and ".join(sorted(known))


def _engine(file: JobFile) -> str | None:
    """Describe the engine: `0.1.0, gcc 12.2.0 -O2`."""
    if file.launch is None:
        return None
    build = file.launch.build
    compiled = " ".join(str(build[key]) for key in ("compiler", "flags", "added") if build.get(key))
    return ", ".join(part for part in (file.launch.version, compiled) if part)


def _binding(file: JobFile) -> str | None:
    """Describe the binding of ranks to CPUs: `2 ranks on 0|1`."""
    if file.launch is None:
        return None
    places = sorted(file.launch.places, key=lambda place: place.rank)
    return f"{file.job.ranks} ranks on {'|'.join(place.cpus for place in places)}" if places else None
