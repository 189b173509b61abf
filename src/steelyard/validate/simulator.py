"""SimGrid: our platform compiled for it, questions about hosts, and one simulation run to its end."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard import __version__
from steelyard.base.errors import InputError
from steelyard.base.files import read_regular, write_whole
from steelyard.base.units import format_time
from steelyard.engines.build import Engine, describe, simulated_engine
from steelyard.engines.cache import cache_folder, made_aside
from steelyard.engines.description import Description
from steelyard.engines.program_answers import ask
from steelyard.records.job_file import append_records
from steelyard.records.schema import SCHEMA, Job
from steelyard.system.process import Child, Done, run
from steelyard.validate.design import SimulatedMachine, Simulation, place_ranks, point_lines, simulated_words

_COMPILE_SECONDS = 300.0
_HOSTS_SECONDS = 60.0
_POLL_SECONDS = 0.5
# SMPI ends with code 0 after MPI_Abort() and after a deadlock: these words tell, the first first. That a rank
# died of a signal says less than what SimGrid said before.
_FAILURES = (
    r"steelyard: rank \d+: (?!died of signal)",
    "STEELYARD_PLATFORM",
    "Deadlock",
    "CRITICAL",
    "Parse error",
    "steelyard: rank ",
    "Segmentation",
)
_WHERE_IN_SIMGRID = r"^\[.*?/(CRITICAL|ERROR)\] (Uncaught exception \S+( by \S+)?: )?|^STEELYARD_PLATFORM: "
_REASON_MOST = 300  # characters
_OVERHEAD_S = 1.5e-7  # of processor time for a message, unless the user's platform sets it: as ours
# Computing and clocks cost no time, and events a picosecond apart stay apart: exact and reproducible.
_SETTINGS = (
    "smpi/simulate-computation:no",
    "smpi/wtime:0",
    "smpi/test:1e-7",
    "smpi/iprobe:1e-7",
    "smpi/grow-injected-times:no",
    "surf/precision:1e-12",
)


@dataclass(frozen=True, slots=True)
class Simulator:
    """The parts of a simulation: the engine, our platform, and a program that lists any platform's hosts."""

    engine: Engine
    platform: Path
    lister: Path


@dataclass(frozen=True, slots=True)
class Ran:
    """A simulation that has ended, or was ended: its time; `why` says what was wrong, if anything."""

    seconds: float
    why: str | None
    too_slow: bool


def find_simulator() -> Simulator:
    """Find or build all parts. Raises InputError: what is missing, and what to install."""
    engine = simulated_engine()
    platform = _compiled("platform", ("-shared", "-fPIC"), ".so")
    return Simulator(engine, platform, _compiled("hosts", (), ""))


def describe_simulated(simulator: Simulator, folder: Path) -> Description:
    """Ask the simulated engine for its description; `folder` is for scratch. Raises MeasurementError."""
    hosts = folder / "one-host"
    write_whole(hosts, b"node-0\n")
    launcher = _smpirun(1, hosts, simulator.platform, ("smpi/wtime:0",))
    return describe(simulator.engine, launcher, folder)


def host_names(simulator: Simulator, machine: SimulatedMachine, hosts: int) -> tuple[str, ...]:
    """List the hosts of a machine, in the order of the numbers in their names. Raises InputError."""
    if machine.file is None:
        return tuple(f"node-{index}" for index in range(hosts))
    return read_platform(simulator, machine, hosts)


def read_platform(simulator: Simulator, machine: SimulatedMachine, hosts: int) -> tuple[str, ...]:
    """List the hosts that SimGrid finds in a machine, in the order of the numbers in their names; `hosts` of
    ours.

    Raises InputError for one that SimGrid, or the file that starts SMPI's ranks, cannot take.
    """
    done = _ask(simulator, machine, hosts)
    names = done.out.splitlines()
    if done.code != 0 or not names:
        reason = _said(done.err) if done.code else "it names no host"
        raise InputError(f"SimGrid cannot read the platform '{machine.file or machine.name}': {reason}")
    blank = next((name for name in names if name.split() != [name]), None)
    if blank is not None:
        raise InputError(
            f"the host '{blank}' of '{machine.file}' has a blank in its name, as SMPI allows none; rename it"
        )
    return tuple(sorted(names, key=_natural))


def asymmetry(simulator: Simulator, machine: SimulatedMachine, hosts: int) -> str | None:
    """Find the pair among the first `hosts` hosts whose two directions differ most, in words.

    None if no pair differs. Paths that SimGrid cannot compare may differ.
    """
    done = _ask(simulator, machine, hosts, host_names(simulator, machine, hosts)[:hosts])
    if done.code != 0:
        return "SimGrid cannot compare them"
    if not done.out:
        return None
    first, second, *latencies = done.out.splitlines()
    there, back = (format_time(float(s) / 1e-9) if s != "inf" else "no path" for s in latencies)
    return f"{first} to {second} {there}, back {back if back != there else 'at another bandwidth'}"


def _ask(simulator: Simulator, machine: SimulatedMachine, hosts: int, names: Sequence[str] = ()) -> Done:
    """Ask SimGrid, by our program (hosts.cpp), about a machine of so many hosts, if we may choose their
    number.
    """
    argv = [str(simulator.lister), str(machine.file or simulator.platform), *names]
    argv += ["--log=root.thresh:error", "--cfg=network/model:SMPI"]
    return run(argv, env=_environment(machine, hosts), timeout=_HOSTS_SECONDS)


def _environment(machine: SimulatedMachine, hosts: int) -> dict[str, str]:
    """Make the environment: a file of the user's may read words of its own."""
    ours = {} if machine.file else {"STEELYARD_PLATFORM": simulated_words(machine, hosts)}
    return os.environ | ours


def simulate(
    simulator: Simulator,
    simulation: Simulation,
    records: Path,
    limit_seconds: float,
    stop: threading.Event,
    words: Sequence[str] = (),
    lines: Sequence[str] | None = None,
) -> Ran:
    """Run one simulation, its records into the file `records`; it ends at its time limit or at `stop`.

    `words` are further options of the engine; `lines` its test cases, if they are not the simulation's.
    """
    names = host_names(simulator, simulation.machine, simulation.hosts)
    hosts, points = records.with_suffix(".hosts"), records.with_suffix(".points")
    places = place_ranks(names, simulation.ranks, simulation.per_host)
    for path, said in ((hosts, places), (points, lines or point_lines(simulation))):
        write_whole(path, "".join(f"{line}\n" for line in said).encode())
    seed = str(simulation.seed)
    platform = simulation.machine.file or simulator.platform
    argv = [
        *_smpirun(simulation.ranks, hosts, platform, _settings(simulation)),
        *(simulator.engine.path, "run", "--points", points.name, "--out", records.name),
        *("--ranks", str(simulation.ranks), "--seed", seed, "--skew", seed),
        *words,
    ]
    if simulation.machine.certain:
        argv += ["--paths", "asymmetric"]  # only guaranteed errors of the clocks are stated
    write_whole(records, b"")  # append_records begins no file
    append_records(
        records,
        [Job(schema=SCHEMA, job=records.stem, launch=1, ranks=simulation.ranks, command=tuple(argv))],
    )
    begin = time.monotonic()
    environment = _environment(simulation.machine, simulation.hosts)
    with Child(argv, env=environment, cwd=records.parent, tidy=False) as child:
        code = None
        while code is None and not stop.is_set() and (left := begin + limit_seconds - time.monotonic()) > 0:
            code = child.wait(min(_POLL_SECONDS, left))
        seconds = time.monotonic() - begin
        if code is None:
            return Ran(seconds, f"not done within {limit_seconds:g} s", True)
        return Ran(seconds, failure_reason(code, child.err), False)


def _settings(simulation: Simulation) -> tuple[str, ...]:
    """Make the options of SimGrid for one simulation; a later one wins."""
    found = [*_SETTINGS, f"smpi/coll-selector:{simulation.selector}", *simulation.algorithms]
    if simulation.barrier is not None:
        found.append(f"smpi/barrier:{simulation.barrier}")
    if simulation.machine.file is not None:  # a compiled platform that sets it otherwise wins
        found += [f"smpi/{end}:0:{_OVERHEAD_S}:0" for end in ("os", "or", "ois")]
    return tuple(found)


def _smpirun(ranks: int, hosts: Path, platform: Path, settings: Sequence[str]) -> list[str]:
    """Make the launcher's command, for the folder of `hosts`: SimGrid takes no path with a blank
    or a comma.
    """
    argv = ["smpirun", "-np", str(ranks), "-hostfile", hosts.name, "-platform", str(platform)]
    return [*argv, *(f"--cfg={setting}" for setting in settings), "--log=root.thresh:error"]


def failure_reason(code: int, text: str) -> str | None:
    """Find what went wrong in the last words of the simulator; None if nothing did."""
    if code == 0 and not any(re.search(word, text) for word in _FAILURES):
        return None
    return f"code {code}: {_said(text)}"


def _said(text: str) -> str:
    """Take the line with the error, without its place in SimGrid."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = (line for word in _FAILURES for line in lines if re.search(word, line))
    line = next(telling, (lines or ["it said nothing"])[-1])
    return re.sub(_WHERE_IN_SIMGRID, "", line)[:_REASON_MOST]


def _natural(name: str) -> list[tuple[int, str]]:
    """Sort node-2 before node-10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def _compiled(name: str, flags: Sequence[str], suffix: str) -> Path:
    """Compile our C++ source of that name against libsimgrid, or take it from the cache. Raises
    InputError.
    """
    compiler = next((word for word in ("g++", "c++", "clang++") if shutil.which(word)), None)
    if compiler is None:
        raise InputError("there is no C++ compiler to build the simulated machine with; install g++")
    source = Path(__file__).with_name(f"{name}.cpp")
    shown = shlex.split(ask("smpicc", "-show", os.environ))
    places = [word for word in shown if re.match(r"-[IL]/|-Wl,-rpath", word) and word != "-I/usr/include"]
    command = [compiler, "-std=c++17", "-O2", *flags, str(source), *places, "-lsimgrid"]
    digest = hashlib.sha256(read_regular(source))
    versions = (ask(compiler, "--version", os.environ), ask("smpicc", "-version", os.environ))
    for text in (__version__, shlex.join(command), *versions):
        digest.update(text.encode() + b"\0")
    home = cache_folder("simulator", digest.hexdigest()[:16])
    path = home / f"{name}{suffix}"
    if path.is_file():
        return path
    with made_aside(home) as aside:
        new = aside / path.name
        done = run([*command, "-o", str(new)], timeout=_COMPILE_SECONDS)
        if done.code != 0:
            reason = next((line for line in done.err.splitlines() if "error" in line), done.err.strip())
            raise InputError(f"{source.name} could not be compiled with {compiler}: {reason}")
        new.replace(path)
    return path
