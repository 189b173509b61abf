"""The hosts that a batch system gave us, as its variables say: a row for each batch system."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from steelyard.base.errors import InputError, MeasurementError
from steelyard.base.files import read_regular
from steelyard.base.foreign import visible
from steelyard.base.plural import counted
from steelyard.system.process import run

_MOST_HOSTS = 100_000  # more than any machine has: a longer list is no list of hosts
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")  # a word of a launcher's list, and no option
_ASK_SECONDS = 30.0


class AllocatedHost(Struct, frozen=True):
    """A host, how many CPUs of it are ours and its switch; None where the batch system does not say."""

    name: str
    cpus: int | None = None
    switch: str | None = None


class Allocation(Struct, frozen=True):
    """What a batch system gave this process: `system` is slurm, pbs, lsf or flux."""

    system: str
    hosts: tuple[AllocatedHost, ...]


def read_allocation(environ: Mapping[str, str] = os.environ) -> Allocation | None:
    """The allocation that this process is in, the innermost of several; None outside.

    Raises InputError where the variables of a batch system make no sense.
    """
    for system, (variable, read) in _SYSTEMS.items():
        if environ.get(variable):
            try:
                hosts = read(environ)
            except (InputError, MeasurementError) as error:
                raise InputError(f"{error}; unset {variable} to measure without {system}") from None
            if not hosts:
                raise InputError(f"{variable} names no host; unset {variable} to measure without {system}")
            return Allocation(system, hosts)
    return None


def with_switches(allocation: Allocation) -> Allocation:
    """The allocation with the switch of each host, where the batch system knows them."""
    argv = _SWITCHES.get(allocation.system)
    if argv is None or shutil.which(argv[0]) is None:
        return allocation
    try:
        done = run(argv, timeout=_ASK_SECONDS)
    except (InputError, MeasurementError):
        return allocation
    switches = _read_switches(done.out) if done.code == 0 else {}
    hosts = tuple(replace(host, switch=switches.get(host.name)) for host in allocation.hosts)
    return replace(allocation, hosts=hosts)


def _read_switches(text: str) -> dict[str, str]:
    """The switch that each host hangs from, by host: the lines of Slurm's tree of switches at level 0."""
    found: dict[str, str] = {}
    for match in re.finditer(r"^SwitchName=(\S+) Level=0 .*?Nodes=(\S+)", text, re.MULTILINE):
        with contextlib.suppress(InputError):
            found |= dict.fromkeys(expand_hosts(match[2], "'scontrol show topology'"), match[1])
    return found


def named_hosts(allocation: Allocation | None, names: Sequence[str]) -> tuple[AllocatedHost, ...]:
    """The hosts of these names, each once. Raises InputError for one that the allocation does not have."""
    known = {host.name: host for host in (allocation.hosts if allocation else ())}
    for name in names:
        if name not in known:
            has = f"this allocation has {', '.join(known)}" if known else "this process is in no allocation"
            raise InputError(
                f"the plan places ranks on the host {visible(name)}, and {has}; start it where that host is, "
                "or give --out another name"
            )
    return tuple(known[name] for name in dict.fromkeys(names))


def take_hosts(allocation: Allocation | None, count: int, here: str) -> tuple[AllocatedHost, ...]:
    """So many hosts of the allocation, that of this process first. Raises InputError if it has fewer.

    Without an allocation there is one host, which needs no name.
    """
    if allocation is None:
        if count > 1:
            raise InputError(
                f"the plan needs {count} hosts, and this process is in no allocation of a batch system; "
                "start it inside one, or let --batch slurm ask for one"
            )
        return ()
    if len(allocation.hosts) < count:
        raise InputError(
            f"the plan needs {counted(count, 'host')}, and this allocation of {allocation.system} has "
            f"{len(allocation.hosts)}; ask for a larger one, or give --hosts up to {len(allocation.hosts)}"
        )
    short = here.partition(".")[0]
    ordered = sorted(allocation.hosts, key=lambda host: host.name.partition(".")[0] != short)
    return tuple(ordered[:count])


def expand_hosts(text: str, variable: str) -> tuple[str, ...]:
    """The names that a list such as `n[1-3,07],login` means. Raises InputError, which names the variable."""
    names: list[str] = []
    for part in _parts(text, variable):
        pieces = re.split(r"\[([^][]*)\]", part)
        if any(mark in piece for piece in pieces for mark in "[]"):
            raise _no_list(variable, text)
        choices = [
            (piece,) if index % 2 == 0 else _numbers(piece, text, variable)
            for index, piece in enumerate(pieces)
        ]
        for chosen in itertools.product(*choices):
            names.append(_checked("".join(chosen), variable))
            if len(names) > _MOST_HOSTS:
                raise InputError(f"{variable} names more than {_MOST_HOSTS} hosts; it is no list of hosts")
    return tuple(dict.fromkeys(names))


def _no_list(variable: str, text: str) -> InputError:
    return InputError(f"{variable} is no list of hosts: '{visible(text[:80])}'")


def _checked(name: str, variable: str) -> str:
    if not _NAME.fullmatch(name):
        raise InputError(f"{variable} has '{visible(name[:80])}', which is no name of a host")
    return name


def _parts(text: str, variable: str) -> Iterator[str]:
    """The list cut at the commas that are outside of brackets."""
    start = depth = 0
    for index, letter in enumerate(text):
        depth += {"[": 1, "]": -1}.get(letter, 0)
        if depth not in (0, 1):
            raise _no_list(variable, text)
        if letter == "," and depth == 0:
            yield text[start:index]
            start = index + 1
    if depth:
        raise _no_list(variable, text)
    yield text[start:]


def _numbers(text: str, whole: str, variable: str) -> list[str]:
    """`1-3,07` as words that keep their zeros."""
    found: list[str] = []
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise _no_list(variable, whole)
        first, last = int(match[1]), int(match[2] or match[1])
        if len(found) + last - first > _MOST_HOSTS:
            raise InputError(f"{variable} names more than {_MOST_HOSTS} hosts; it is no list of hosts")
        found += [str(number).zfill(len(match[1])) for number in range(first, last + 1)]
    return found


def _slurm(environ: Mapping[str, str]) -> tuple[AllocatedHost, ...]:
    variable = "SLURM_JOB_NODELIST"
    names = expand_hosts(environ.get(variable) or environ.get("SLURM_NODELIST", ""), variable)
    text = environ.get("SLURM_JOB_CPUS_PER_NODE") or environ.get("SLURM_TASKS_PER_NODE", "")
    cpus: list[int] = []
    for part in text.split(",") if text else ():
        match = re.fullmatch(r"([0-9]{1,9})(?:\(x([0-9]{1,6})\))?", part)
        if match is None:
            raise InputError(f"SLURM_JOB_CPUS_PER_NODE is no list such as 4(x2),8: '{visible(text[:80])}'")
        cpus += [int(match[1])] * int(match[2] or 1)
    if cpus and len(cpus) != len(names):
        raise InputError(
            f"SLURM_JOB_CPUS_PER_NODE is of {counted(len(cpus), 'host')}, and {variable} of {len(names)}"
        )
    if not cpus:
        return tuple(AllocatedHost(name) for name in names)
    return tuple(AllocatedHost(name, count) for name, count in zip(names, cpus, strict=True))


def _pbs(environ: Mapping[str, str]) -> tuple[AllocatedHost, ...]:
    """A line for each rank that was asked for; one line each says nothing of CPUs."""
    path = Path(environ["PBS_NODEFILE"])
    try:
        text = read_regular(path).decode()
    except (OSError, UnicodeDecodeError, InputError):
        raise InputError(f"PBS_NODEFILE names '{visible(str(path))}', which cannot be read") from None
    lines = Counter(_checked(line.strip(), "PBS_NODEFILE") for line in text.splitlines() if line.strip())
    return tuple(AllocatedHost(name, count if count > 1 else None) for name, count in lines.items())


def _lsf(environ: Mapping[str, str]) -> tuple[AllocatedHost, ...]:
    variable = "LSB_MCPU_HOSTS"
    words = environ[variable].split()
    if len(words) % 2 or not all(re.fullmatch("[0-9]{1,9}", word) for word in words[1::2]):
        raise InputError(f"{variable} is no list of hosts and numbers: '{visible(environ[variable][:80])}'")
    pairs = zip(words[::2], words[1::2], strict=True)
    return tuple(AllocatedHost(_checked(name, variable), int(cpus)) for name, cpus in pairs)


def _flux(environ: Mapping[str, str]) -> tuple[AllocatedHost, ...]:
    """Flux tells its resources on request: how many hosts and cores, and their names."""
    if shutil.which("flux", path=environ.get("PATH")) is None:
        raise InputError("FLUX_URI is set, as in an allocation of flux, but there is no flux on PATH")
    argv = ["flux", "resource", "list", "-n", "-s", "up", "-o", "{nnodes} {ncores} {nodelist}"]
    done = run(argv, env=environ, timeout=_ASK_SECONDS)
    match = re.search(r"^\s*([0-9]+)\s+([0-9]+)\s+(\S+)\s*$", done.out, re.MULTILINE)
    if done.code != 0 or match is None:
        raise InputError(f"'{' '.join(argv[:3])}' did not name its hosts: {visible(done.err.strip()[:200])}")
    hosts, cores = int(match[1]), int(match[2])
    each = cores // hosts if hosts and cores % hosts == 0 else None  # not told of each
    return tuple(AllocatedHost(name, each) for name in expand_hosts(match[3], "'flux resource list'"))


# What tells of the switches between hosts.
_SWITCHES = {"slurm": ("scontrol", "show", "topology")}

# The innermost first: Flux is often started inside another system's allocation.
_SYSTEMS: dict[str, tuple[str, Callable[[Mapping[str, str]], tuple[AllocatedHost, ...]]]] = {
    "flux": ("FLUX_URI", _flux),
    "slurm": ("SLURM_JOB_NODELIST", _slurm),
    "lsf": ("LSB_MCPU_HOSTS", _lsf),
    "pbs": ("PBS_NODEFILE", _pbs),
}
