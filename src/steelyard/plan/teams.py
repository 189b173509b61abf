"""Ranks of a test case, and their hosts: the axes `ranks`, `hosts` and `ranks_per_host`."""

from __future__ import annotations

import functools

from msgspec import Struct

from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.units import parse_counts
from steelyard.engines.description import Op
from steelyard.plan.axis import PlanAxis, numbers_in, read_ranks
from steelyard.plan.plan import Measure


class Team(Struct, frozen=True):
    """A number of ranks, equally many on each host; hosts None: the plan sets no number of hosts."""

    ranks: int
    hosts: int | None = None

    @property
    def per_host(self) -> int:
        """Ranks on each host."""
        return self.ranks // (self.hosts or 1)


def _numbers(ranks: PlanAxis, cores: int) -> tuple[int, ...]:
    return numbers_in(ranks, lambda text: read_ranks(text, cores))


def is_one(ranks: PlanAxis) -> bool:
    """Is it one rank, on any machine?"""
    return max(_numbers(ranks, 2)) == 1


def hosts_of(measure: Measure) -> tuple[int, ...] | None:
    """Read the numbers of hosts of a measure; one if only ranks per host are given. Raises InputError."""
    if measure.hosts is None:
        return None if measure.ranks_per_host is None else (1,)
    return _host_numbers(measure.hosts)


@functools.lru_cache(maxsize=64)  # a plan for thousands of hosts is asked once for each
def _host_numbers(hosts: PlanAxis) -> tuple[int, ...]:
    return numbers_in(hosts, lambda text: parse_counts(text, "hosts"))


def teams_of(measure: Measure, op: Op, cores: int, explicit: bool) -> tuple[Team, ...]:
    """Make the teams of an op on hosts of so many cores.

    Teams that are too small for it are left out, unless it is alone. Raises InputError.
    """
    hosts = hosts_of(measure)
    if measure.ranks is not None and measure.ranks_per_host is not None:
        raise InputError("ranks and ranks_per_host say the same twice; leave one of them out")
    if hosts is None:
        return tuple(Team(ranks) for ranks in _ranks(measure, op, cores, explicit))
    if measure.ranks is None:
        teams = [
            Team(count * each, count) for count in hosts for each in _per_host(measure, op, cores, count)
        ]
    else:
        teams = [
            Team(number, count)
            for count in hosts
            for number in _numbers(measure.ranks, cores * count)
            if number % count == 0
        ]
        if not teams:
            first = _numbers(measure.ranks, cores)[0]
            many = f"{counted(hosts[0], 'host')}; give a multiple of {hosts[0]}"
            raise InputError(f"{first} ranks cannot be shared evenly by {many}")
    fitting = tuple(team for team in teams if team.ranks >= op.min_ranks)
    if explicit and not fitting:
        raise InputError(
            f"{op.name} needs {op.min_ranks} ranks, not {max(team.ranks for team in teams)}; "
            "give more hosts or ranks"
        )
    return fitting


def _per_host(measure: Measure, op: Op, cores: int, hosts: int) -> tuple[int, ...]:
    """Choose the ranks on each host: all cores for collectives, one for local ops, two in all for pairs."""
    if measure.ranks_per_host is not None:
        return numbers_in(measure.ranks_per_host, lambda text: parse_counts(text, "ranks"))
    usual = {"local": 1, "p2p": 2 if hosts == 1 else 1}.get(op.class_, max(2, cores) if hosts == 1 else cores)
    return (usual,)


def _ranks(measure: Measure, op: Op, cores: int, explicit: bool) -> tuple[int, ...]:
    """Choose the numbers of ranks of an op: too small ones are left out, unless it is alone."""
    if measure.ranks is None:
        usual = {"local": 1, "p2p": 2}.get(op.class_, max(2, cores))
        return (max(usual, op.min_ranks),)
    ranks = _numbers(measure.ranks, cores)
    if not explicit:
        return tuple(count for count in ranks if count >= op.min_ranks)
    if min(ranks) < op.min_ranks:
        raise InputError(f"{op.name} needs {op.min_ranks} ranks, not {min(ranks)}; give -n {op.min_ranks}")
    return ranks
