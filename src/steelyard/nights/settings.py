"""What a night was measured with, as its records say: what a hunter of a regression looks for first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from steelyard.records.job_file import JobFile
from steelyard.results.load import Measured
from steelyard.results.transport import transport_of

Settings = Mapping[str, str]  # name, as a sentence has it -> value; what is not known is not there

# Facts of the machine that campaign.json has, and their names.
_MACHINE = {"kernel": "kernel", "os": "system", "hypervisor": "hypervisor", "memory_bytes": "memory in bytes"}
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


def settings_of(measured: Measured) -> Settings:
    """The settings of a night; one in which its launches differ has all its values."""
    machine, files = measured.campaign.machine, measured.files
    told: dict[str, Iterable[object]] = {name: [machine.get(key)] for key, name in _MACHINE.items()}
    told["MPI"] = [file.job.mpi.name for file in files if file.job.mpi]
    told["mpiexec"] = [file.job.mpi.mpiexec for file in files if file.job.mpi]
    told["MPI library"] = [file.launch.mpi.library for file in files if file.launch and file.launch.mpi]
    told["thread level"] = [file.launch.mpi.thread_level for file in files if file.launch and file.launch.mpi]
    told["engine"] = [_engine(file) for file in files]
    told["binding"] = [_binding(file) for file in files]
    told["transport"] = [transport_of(file.launch.environment) for file in files if file.launch]
    for key, name in _JOB.items():
        told[name] = [file.job.settings.get(key) for file in files]
    for variable in sorted({name for file in files if file.launch for name in file.launch.environment}):
        told[variable] = [file.launch.environment.get(variable) for file in files if file.launch]
    found = {name: _values(values) for name, values in told.items()}
    return {name: text for name, text in found.items() if text}


def differences(before: Settings, after: Settings) -> tuple[tuple[str, str, str], ...]:
    """What two nights were set differently: name, value before and after; `-` for none."""
    return tuple(
        (name, before.get(name, "-"), after.get(name, "-"))
        for name in dict.fromkeys((*before, *after))
        if before.get(name) != after.get(name)
    )


def _values(values: Iterable[object]) -> str:
    known = dict.fromkeys(str(value) for value in values if value not in (None, "", [], ()))
    return " and ".join(sorted(known))


def _engine(file: JobFile) -> str | None:
    """`0.1.0, gcc 12.2.0 -O2`."""
    if file.launch is None:
        return None
    build = file.launch.build
    compiled = " ".join(str(build[key]) for key in ("compiler", "flags") if build.get(key))
    return ", ".join(part for part in (file.launch.version, compiled) if part)


def _binding(file: JobFile) -> str | None:
    """`2 ranks on 0|1`: to which CPUs ranks were bound."""
    if file.launch is None:
        return None
    places = sorted(file.launch.places, key=lambda place: place.rank)
    return f"{file.job.ranks} ranks on {'|'.join(place.cpus for place in places)}" if places else None
