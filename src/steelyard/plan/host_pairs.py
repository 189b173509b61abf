"""Values of `--placement` among hosts: words, and two names or more, as the hosts of ranks.

Each host has as many of the ranks, in this order: half of them are on the first host of a pair. Pure: words
and the hosts of an allocation go in, placements come out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.product import check_test_cases
from steelyard.base.units import parse_counts
from steelyard.engines.description import Op
from steelyard.plan.axis import numbers_in
from steelyard.plan.plan import Measure
from steelyard.plan.teams import Team, hosts_of
from steelyard.records.campaign_file import OTHER_HOST, Placement
from steelyard.system.allocation import MOST_HOSTS, AllocatedHost
from steelyard.system.topology import host_class_of

HostPair = tuple[AllocatedHost, AllocatedHost]
HostGroup = tuple[AllocatedHost, ...]


def _of_each_class(hosts: Sequence[AllocatedHost]) -> list[HostPair]:
    """List the first pair of each class, from near to far.

    A class is of switches, so the first pair is among the first two hosts of each.
    """
    beside: dict[str | None, list[AllocatedHost]] = {}
    for host in hosts:
        beside.setdefault(host.switch, []).append(host)
    known = {host for two in beside.values() for host in two[:2]}
    found: dict[str, HostPair] = {}
    for a, b in itertools.combinations_with_replacement([one for one in hosts if one in known], 2):
        found.setdefault(host_class_of(a, b), (a, b))
    return list(found.values())


def _all(hosts: Sequence[AllocatedHost]) -> list[HostPair]:
    check_test_cases(math.comb(len(hosts), 2))
    return list(itertools.combinations(hosts, 2))


HOST_WORDS: dict[str, Callable[[Sequence[AllocatedHost]], list[HostPair]]] = {
    "hosts-each": _of_each_class,
    "hosts-all": _all,
}


def placement_words(measure: Measure) -> tuple[str, ...]:
    """List the placements of a measure, from `"0,1;0,2"` or a list."""
    axis = measure.placement if isinstance(measure.placement, tuple) else (measure.placement,)
    return tuple(word.strip() for text in axis if text is not None for word in str(text).split(";"))


def is_of_hosts(word: str, hosts: Sequence[AllocatedHost]) -> bool:
    """Is a placement's word about hosts: one of `HOST_WORDS`, or names that are no numbers?"""
    names = [name.strip() for name in word.split(",")]
    known = {host.name for host in hosts}
    return word in HOST_WORDS or (
        len(names) > 1 and not any(name.isdigit() for name in names) and bool(known & set(names))
    )


def stand_ins(words: Sequence[str], count: int) -> tuple[AllocatedHost, ...]:
    """Make placeholders for the hosts of a future allocation: those that placements name, and others.

    Raises InputError for more than any machine has.
    """
    if count > MOST_HOSTS:
        raise InputError(
            f"placements are made among at most {MOST_HOSTS} hosts, not {count}; give fewer with --hosts"
        )
    groups = (group for word in words if len(group := word.split(",")) > 1)
    names = dict.fromkeys(name.strip() for group in groups for name in group if not name.strip().isdigit())
    made_up = (f"host-{number + 1}" for number in range(count))
    every = itertools.islice(itertools.chain(names, made_up), count)
    return tuple(map(AllocatedHost, every))


def with_hosts(measure: Measure, hosts: tuple[int, ...]) -> Measure | None:
    """Restrict the measure to these numbers of hosts; None if nothing is left.

    A measure without hosts is for any number; placed on CPUs, or without MPI, for one; placed on pairs of
    hosts, for two and more. Raises InputError.
    """
    words = placement_words(measure)
    known: Sequence[int] = hosts if measure.hosts is None else hosts_of(measure) or ()
    if measure.hosts is None and words:
        of_hosts = all(is_of_hosts(word, stand_ins(words, 2 * len(words))) for word in words)
        known = [count for count in hosts if (count > 1 if of_hosts else count == 1)]
    if measure.hosts is None and measure.engine == "solo":
        known = (1,)
    chosen = tuple(count for count in hosts if count in known)
    return replace(measure, hosts=chosen) if chosen else None


def host_placements(
    words: Sequence[str], measure: Measure, op: Op, hosts: Sequence[AllocatedHost], alone: bool
) -> Iterator[tuple[Team, Placement]]:
    """List the teams of an op on the hosts that words such as `hosts-all`, `n1,n2` or `n1,n2,n5` mean, each
    once.

    Each team has the measure's ranks per host on each of them, one if it sets none. Pairs are taken from as
    many hosts as the measure names, from all if it names none. A team that is too small for the op is left
    out, unless the op is `alone`. Raises InputError.
    """
    if not words:
        return
    groups = dict.fromkeys(
        group for word in words for pool in _pools(word, measure, hosts) for group in _groups(word, pool)
    )
    sides = {size: _each_host(measure, size) for size in set(map(len, groups))}
    check_test_cases(sum(len(sides[len(group)]) for group in groups))
    for group in groups:
        for each in sides[len(group)]:
            ranks = len(group) * each
            if ranks >= op.min_ranks:
                names = tuple(host.name for host in group)
                kind = host_class_of(*group) if len(group) == 2 else OTHER_HOST
                yield Team(ranks, len(set(names))), Placement(kind, hosts=names)
            elif alone:
                raise InputError(
                    f"{op.name} needs {op.min_ranks} ranks, not {ranks}; give --ranks-per-host "
                    f"{-(-op.min_ranks // len(group))}"
                )


def _pools(word: str, measure: Measure, hosts: Sequence[AllocatedHost]) -> Iterator[Sequence[AllocatedHost]]:
    """List the hosts from which pairs are taken: the first N, for each number N in the measure."""
    if not hosts:
        raise InputError(
            f"the placement '{word}' is of hosts, and this process is in no allocation of a batch system; "
            "start it inside one, or let --batch slurm ask for one"
        )
    named = hosts_of(measure) if measure.hosts is not None else None
    for count in named or (len(hosts),):
        if count > len(hosts):
            raise InputError(
                f"the plan needs {counted(count, 'host')}, and this allocation has {len(hosts)}; ask for a "
                f"larger one, or give --hosts up to {len(hosts)}"
            )
        yield hosts[:count]


def _groups(word: str, hosts: Sequence[AllocatedHost]) -> Sequence[HostGroup]:
    if word in HOST_WORDS:
        found = HOST_WORDS[word](hosts)
        if not found:
            raise InputError(
                f"'{word}' places ranks on pairs of different hosts, and there is only {hosts[0].name}; ask "
                "for a larger allocation, or give --placement hosts-each"
            )
        return found
    by_name = {host.name: host for host in hosts}
    names = [name.strip() for name in word.split(",")]
    for name in names:
        if name not in by_name:
            raise InputError(f"there is no host '{name}' to place ranks on; give one of {', '.join(by_name)}")
        if len(names) > 2 and names.count(name) > 1:
            raise InputError(f"the host {name} stands twice in '{word}'; name each of several hosts once")
    return [tuple(by_name[name] for name in names)]


def _each_host(measure: Measure, hosts: int) -> tuple[int, ...]:
    """Find the ranks on each host of a group."""
    if measure.ranks is not None and measure.ranks_per_host is not None:
        raise InputError("ranks and ranks_per_host say the same twice; leave one of them out")
    axis = measure.ranks_per_host if measure.ranks is None else measure.ranks
    if axis is None:
        return (1,)
    numbers = numbers_in(axis, lambda text: parse_counts(text, "ranks"))
    if measure.ranks is None:
        return numbers
    if odd := [number for number in numbers if number % hosts]:
        of = "two hosts; give an even number" if hosts == 2 else f"{hosts} hosts; give a multiple of {hosts}"
        raise InputError(f"{odd[0]} ranks cannot be shared evenly by {of}")
    return tuple(number // hosts for number in numbers)
