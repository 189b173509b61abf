"""The hosts that a batch system gave this process, and those that launches take."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.printable import visible

MOST_HOSTS = 100_000  # no machine has more: a longer list is no list of hosts
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")  # a word in a launcher's list, and no option


class AllocatedHost(Struct, frozen=True):
    """A host, the number of its CPUs that are ours, and its switch; None if the batch system does not say."""

    name: str
    cpus: int | None = None
    switch: str | None = None


class Allocation(Struct, frozen=True):
    """The hosts of a batch system for this process: `system` is slurm, pbs, lsf or flux."""

    system: str
    hosts: tuple[AllocatedHost, ...]


def named_hosts(allocation: Allocation | None, names: Sequence[str]) -> tuple[AllocatedHost, ...]:
    """Find the hosts of these names, each once. Raises InputError for one outside the allocation."""
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
    """Take so many hosts of the allocation, that of this process first. Raises InputError if it has fewer.

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
    """Expand a list of names such as `n[1-3,07],login`. Raises InputError, which names the variable."""
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
            names.append(checked_host("".join(chosen), variable))
            if len(names) > MOST_HOSTS:
                raise InputError(f"{variable} names more than {MOST_HOSTS} hosts; it is no list of hosts")
    return tuple(dict.fromkeys(names))


def _no_list(variable: str, text: str) -> InputError:
    return InputError(f"{variable} is no list of hosts: '{visible(text[:80])}'")


def checked_host(name: str, variable: str) -> str:
    """Check that a name is one of a host. Raises InputError, which names the variable."""
    if not _NAME.fullmatch(name):
        raise InputError(f"{variable} has '{visible(name[:80])}', which is no name of a host")
    return name


def _parts(text: str, variable: str) -> Iterator[str]:
    """Cut the list at the commas outside of brackets."""
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
    """Expand `1-3,07` to words that keep their zeros."""
    found: list[str] = []
    for part in text.split(","):
        match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", part)
        if match is None or int(match[2] or match[1]) < int(match[1]):
            raise _no_list(variable, whole)
        first, last = int(match[1]), int(match[2] or match[1])
        if len(found) + last - first > MOST_HOSTS:
            raise InputError(f"{variable} names more than {MOST_HOSTS} hosts; it is no list of hosts")
        found += [str(number).zfill(len(match[1])) for number in range(first, last + 1)]
    return found
