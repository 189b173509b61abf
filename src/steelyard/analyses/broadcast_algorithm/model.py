"""The algorithm that a broadcast or a scatter seems to use, deduced from the end of each rank.

A synchronised method (epoch, window, round-time) records when each rank left the call, after the first one
began it. Each launch compares its ranks' medians with every tree (`trees`). It votes for the family with the
least error, if that error is small and no other family's error is nearly as small. A family with the votes of
two thirds of the launches is named, with the interval of its share (`share_interval`). Otherwise the families
that launches chose are listed. If ping-pong of the same MPI was measured, too, trees whose hop takes much
more or less than such a message are left out.

It cannot see a tree of hosts above a tree inside each host. If all ranks read a message in shared memory at
once, it looks like a flat tree in which no rank waits for another.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct

from steelyard.analyses.broadcast_algorithm.trees import (
    BINOMIAL,
    FAMILIES,
    FLAT,
    Children,
    Message,
    TreeFit,
    fit_trees,
)
from steelyard.records.fields import Params
from steelyard.results.facets import Windows
from steelyard.results.key import key_of
from steelyard.results.row import Row
from steelyard.results.row_kinds import is_pingpong
from steelyard.stats import share_interval
from steelyard.stats.arrays import FloatArray

LEAST_RANKS = 5  # with fewer ranks, trees cannot be distinguished
# Ops that send from one rank to all others, and the families that each may use.
_FAN_OUTS = {"mpi.bcast": FAMILIES, "mpi.scatter": (FLAT, BINOMIAL)}
_MISFIT = 0.06  # relative to the mean over ranks: a tree with a larger error explains nothing
_EXACT = 0.002  # trees with smaller errors are equally good
_NEARLY = 2.0  # a family whose error is below this multiple of the best one's is as good as the best
_MAJORITY = 2 / 3  # of the launches


class SeenTree(Struct, frozen=True, kw_only=True):
    """A broadcast or a scatter of one size.

    `family` is None if it is not known; `between` has the candidates. `votes` of `launches` were for the
    family, or for none; `share_low`..`share_high` is the interval (95 %) of that share. `missed` is the error
    of its tree against the medians over launches, relative to their mean. `parents[r]` is the rank that
    serves rank r, itself for the root; `finishes` are the ends of the ranks.
    """

    bytes: int
    family: str | None
    between: tuple[str, ...]
    votes: int
    launches: int
    share_low: float
    share_high: float
    missed: float | None
    parents: tuple[int, ...]
    finishes: tuple[float, ...]


class SeenAlgorithms(Struct, frozen=True, kw_only=True):
    """A broadcast under one MPI over ascending sizes; `changes` are the sizes from which on another family is
    used.

    Each change is `(bytes, family)`; the first one is the smallest size whose family is known. `message`:
    whether ping-pong of the same MPI helped.
    """

    op: str
    mpi: str | None
    ranks: int
    method: str
    params: Params
    root: int
    message: bool
    sizes: tuple[SeenTree, ...]
    changes: tuple[tuple[int, str], ...]


def algorithms_of(rows: Sequence[Row]) -> tuple[SeenAlgorithms, ...]:
    """Model every broadcast of enough ranks with recorded ends, in the order of the rows."""
    series: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        is_seen = row.status == "ok" and any(_is_whole(row, launch.finishes) for launch in row.launches)
        if row.base in _FAN_OUTS and row.ranks >= LEAST_RANKS and is_seen:
            series.setdefault(key_of(row, ("bytes",)), []).append(row)
    return tuple(_algorithms(members, rows) for members in series.values())


def unseen_fan_outs(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Find each broadcast beside ping-pong whose tree cannot be determined: no record of when ranks ended."""
    found: dict[tuple[object, ...], Row] = {}
    told = set()
    for row in rows:
        if row.base in _FAN_OUTS and row.ranks >= LEAST_RANKS and row.status == "ok":
            team = (row.op, row.mpi, row.ranks)
            found.setdefault(team, row)
            told |= {team} if any(_is_whole(row, launch.finishes) for launch in row.launches) else set()
    messages = [row for row in rows if is_pingpong(row)]
    return tuple(
        row
        for team, row in found.items()
        if team not in told and any(_beside(message, row) for message in messages)
    )


def _is_whole(row: Row, finishes: Sequence[float]) -> bool:
    return len(finishes) == row.ranks and min(finishes) > 0


def _algorithms(members: Sequence[Row], rows: Sequence[Row]) -> SeenAlgorithms:
    first = members[0]
    root = int(first.params.get("root", 0))
    messages = {row.bytes: row for row in reversed(rows) if is_pingpong(row) and _beside(row, first)}
    short = min((row.time or 0.0 for row in messages.values()), default=0.0)
    sizes = []
    for row in sorted(members, key=lambda member: member.bytes):
        whole = messages[row.bytes].time if row.bytes in messages else None
        sizes.append(_seen(row, root, Message(whole, short) if whole else None))
    return SeenAlgorithms(
        op=first.op,
        mpi=first.mpi,
        ranks=first.ranks,
        method=first.method,
        params=first.params,
        root=root,
        message=bool(messages),
        sizes=tuple(sizes),
        changes=tuple(_changes(sizes)),
    )


def _beside(pingpong: Row, row: Row) -> bool:
    """Was a ping-pong of the same MPI measured?"""
    return pingpong.mpi == row.mpi and pingpong.status == "ok" and bool(pingpong.time)


def _changes(sizes: Iterable[SeenTree]) -> Iterator[tuple[int, str]]:
    known = ((size.bytes, size.family) for size in sizes if size.family is not None)
    for family, group in itertools.groupby(known, key=lambda one: one[1]):
        yield next(group)[0], family


def _seen(row: Row, root: int, message: Message | None) -> SeenTree:
    launches = [launch.finishes for launch in row.launches if _is_whole(row, launch.finishes)]
    families = _FAN_OUTS[row.base]

    def fits(finishes: Sequence[float] | FloatArray) -> list[TreeFit]:
        found = fit_trees(_from_root(finishes, root), message)
        return [fit for fit in found if fit.family in families]

    ballots = [candidates(fits(launch)) for launch in launches]
    votes = Counter(ballot[0] if len(ballot) == 1 else None for ballot in ballots)
    family, count = max(votes.items(), key=lambda one: (one[1], one[0] is not None))
    middle = np.median(np.array(launches), axis=0)
    if count < _MAJORITY * len(launches):
        family, count = None, votes[None]
    fit = next((one for one in fits(middle) if one.family == family), None)
    low, high = share_interval([1.0] * count + [0.0] * (len(launches) - count))
    return SeenTree(
        bytes=row.bytes,
        family=family,
        between=() if family else tuple(dict.fromkeys(itertools.chain.from_iterable(ballots))),
        votes=count,
        launches=len(launches),
        share_low=low,
        share_high=high,
        missed=fit.missed if fit else None,
        parents=_parents(fit.children, root) if fit else (),
        finishes=row.get(Windows).finishes_ns or tuple(middle.tolist()),
    )


def candidates(fits: Sequence[TreeFit]) -> tuple[str, ...]:
    """List the families that explain the data, from fits with the best first; empty if none does."""
    if not fits or fits[0].missed > _MISFIT:
        return ()
    most = max(_NEARLY * fits[0].missed, _EXACT)
    return tuple(fit.family for fit in fits if fit.missed <= most)


def _from_root(finishes: Sequence[float] | FloatArray, root: int) -> FloatArray:
    """Order the ends of ranks from the root on."""
    return np.roll(np.asarray(finishes, dtype=np.float64), -root)


def _parents(children: Children, root: int) -> tuple[int, ...]:
    """Find the rank that sends to each rank, in the ranks' own numbers."""
    ranks = len(children)
    found = [root] * ranks
    for rank, served in enumerate(children):
        for child in served:
            found[(child + root) % ranks] = (rank + root) % ranks
    return tuple(found)
