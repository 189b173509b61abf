"""Trees by which a message may go from one rank to all others, and the end of each rank in each of them.

Ranks are counted from the root on. The waiting time of a rank is a sum over its path from the root, in the
terms of LogGP (Alexandrov and others 1995): for each level a hop, L + 2 o + s G, and for each message that a
rank on the path sends a time of its own, o or g + s G. These times are not known. A tree is fitted by the
factors (none below 0) that bring its sums nearest to the data, in least squares, with

    depth      levels from the root to the rank
    turn       messages that ranks on the path sent before this path's, and all that the rank sends itself
    together   all messages that ranks on the path send, with or without those of the rank itself: messages
               that share a link arrive together
    sends      1 if the rank sends at all, because it may wait until its last message has left
    pieces     1, or 1 except for the root: the time before the last piece of a message that is cut

`family` names all trees of a kind. The error of a fit is relative to the mean over ranks.

Sources: R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH,
IJHPCA 19, 2005 (binomial; scatter and allgather); J. Pjesivac-Grbovic and others, Performance analysis of MPI
collective operations, Cluster Computing 10, 2007 (flat, chain, binary, pipelined; their costs).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from steelyard.stats.arrays import FloatArray
from steelyard.stats.line_fits import nonnegative_fits

Children = tuple[tuple[int, ...], ...]  # of each rank, in the order in which it serves them

FLAT, CHAIN, BINARY, BINOMIAL = "flat", "chain", "binary", "binomial"
PIPELINED, SCATTER_ALLGATHER = "pipelined", "scatter-allgather"
_LEAST_PIECES = 2.0  # of a message, for a chain to be called pipelined
_BEFORE_TURN = (
    0.8  # of the time in which a root could have served all in turn: if it ends earlier, it did not serve all
)
_LEAST_COMMON = 0.5  # of the mean over ranks: the least time of a scatter and an allgather on all of them
_ROUNDED = 1e-9  # by which errors of models may differ that are one on these ranks: the first stands
_HOP_APART = 1.5  # factor by which a tree's hop may differ from a measured message of the same size


@dataclass(frozen=True, slots=True)
class TreeFit:
    """A fitted tree: its error, relative; `hop`: the time of a message in it."""

    family: str
    missed: float
    hop: float
    children: Children


# ---- trees ----------------------------------------------------------------------------------------------


def flat_tree(ranks: int) -> Children:
    """Let the root serve all others."""
    return (tuple(range(1, ranks)), *((),) * (ranks - 1))


def chain_tree(ranks: int) -> Children:
    """Let each rank serve the next."""
    return tuple((rank + 1,) if rank + 1 < ranks else () for rank in range(ranks))


def heap_tree(ranks: int) -> Children:
    """Let rank r serve 2 r + 1 and 2 r + 2."""
    return tuple(_within((2 * rank + 1, 2 * rank + 2), ranks) for rank in range(ranks))


def heap_tree_right_first(ranks: int) -> Children:
    """Make the same tree, with 2 r + 2 first."""
    return tuple(tuple(reversed(served)) for served in heap_tree(ranks))


def level_tree(ranks: int) -> Children:
    """Let a rank of level l, 2^l - 1 up to 2^(l + 1) - 2, serve itself + 2^l and + 2^(l + 1), as Open MPI
    does.
    """
    steps = [1 << ((rank + 1).bit_length() - 1) for rank in range(ranks)]
    return tuple(_within((rank + step, rank + 2 * step), ranks) for rank, step in enumerate(steps))


def halving_tree(ranks: int) -> Children:
    """Make a binomial tree: each rank serves the middle of its range first, then of the rest, as
    MPICH does.
    """
    return tuple(_within((rank + bit for bit in reversed(_bits_below(rank, ranks))), ranks)
                 for rank in range(ranks))  # fmt: skip


def inward_tree(ranks: int) -> Children:
    """Make the same binomial tree, the nearest first."""
    return tuple(_within((rank + bit for bit in _bits_below(rank, ranks)), ranks) for rank in range(ranks))


def doubling_tree(ranks: int) -> Children:
    """Make a binomial tree: in round k, ranks below 2^k serve those 2^k further, as Open MPI does."""
    bits = [1 << k for k in range(ranks.bit_length())]
    return tuple(_within((rank + bit for bit in bits if bit > rank), ranks) for rank in range(ranks))


def _bits_below(rank: int, ranks: int) -> list[int]:
    """List the powers of two below a rank's lowest bit, the least first; for the root all below the ranks."""
    lowest = rank & -rank if rank else 1 << (ranks - 1).bit_length()
    return [1 << k for k in range(lowest.bit_length() - 1)]


def _within(found: Iterable[int], ranks: int) -> tuple[int, ...]:
    return tuple(rank for rank in found if rank < ranks)


# ---- what ranks wait for --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Sums:
    """The sums of a tree, each of shape (ranks,)."""

    depth: FloatArray
    turn: FloatArray
    together: FloatArray
    sends: FloatArray


def _sums(children: Children) -> _Sums:
    ranks = len(children)
    depth, turn, together = np.zeros(ranks), np.zeros(ranks), np.zeros(ranks)
    own = np.array([len(served) for served in children], dtype=np.float64)
    order = [0]
    for rank in order:
        for place, child in enumerate(children[rank], start=1):
            depth[child] = depth[rank] + 1
            turn[child] = turn[rank] + place
            together[child] = together[rank] + own[rank]
            order.append(child)
    return _Sums(depth, turn, together, own)


@dataclass(frozen=True, slots=True)
class _Way:
    """A model of waiting: the columns of its fit, each of shape (ranks,), and the share of each factor in a
    hop.
    """

    columns: tuple[FloatArray, ...]
    hop: tuple[float, ...]
    least: Callable[[FloatArray], bool] = lambda _: True  # whether factors are plausible for this model


def _whole_messages(sums: _Sums) -> Iterator[_Way]:
    """Columns for whole messages: in turn, or together with those that share a link."""
    turn, sends = sums.turn + sums.sends, np.minimum(sums.sends, 1.0)
    yield _Way((sums.depth, turn, sends), (1, 1, 0))
    yield _Way((sums.depth, sums.together, turn), (1, 1, 1))
    yield _Way((sums.depth, sums.together + sums.sends, turn), (1, 1, 1))


def _pieces(sums: _Sums) -> Iterator[_Way]:
    """Columns for pieces: a chain hands on pieces, one level each; those before the last take the same on all
    ranks.
    """
    for common in (np.ones(sums.depth.size), np.minimum(sums.depth, 1.0)):
        for levels in (sums.depth, sums.depth + np.minimum(sums.sends, 1.0)):
            yield _Way((common, levels), (1, 1), _is_cut)
    ranks = sums.depth.size
    root = np.where(sums.depth == 0, 1.0, 0.0)  # its last piece may have left before the first one arrives
    yield _Way(
        (1 - root, sums.depth, root),
        (1, 1, 0),
        lambda found: _is_cut(found) and found[2] < _BEFORE_TURN * (ranks - 1) * found[1],
    )


def _is_cut(found: FloatArray) -> bool:
    """Do the pieces before the last one take long enough for a message of several?"""
    return bool(found[0] >= (_LEAST_PIECES - 1) * found[1])


def _scattered(sums: _Sums) -> Iterator[_Way]:
    """Columns for a scatter, then an allgather: all ranks end alike, except for the rest of the scatter's
    tree. The message passes twice.
    """
    common, turn = np.ones(sums.depth.size), sums.turn + sums.sends
    yield _Way((common,), (1,))
    yield _Way((common, sums.depth, turn), (1, 0, 0))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A family, one tree of it, and the models of waiting in it."""

    family: str
    tree: Callable[[int], Children]
    ways: Callable[[_Sums], Iterator[_Way]] = _whole_messages


_CANDIDATES = (
    _Candidate(FLAT, flat_tree),
    _Candidate(CHAIN, chain_tree),
    _Candidate(BINARY, heap_tree),
    _Candidate(BINARY, heap_tree_right_first),
    _Candidate(BINARY, level_tree),
    _Candidate(BINOMIAL, halving_tree),
    _Candidate(BINOMIAL, inward_tree),
    _Candidate(BINOMIAL, doubling_tree),
    _Candidate(PIPELINED, chain_tree, _pieces),
    _Candidate(SCATTER_ALLGATHER, halving_tree, _scattered),
)
FAMILIES = tuple(dict.fromkeys(candidate.family for candidate in _CANDIDATES))


@dataclass(frozen=True, slots=True)
class Message:
    """The time of a message from rank to rank, in ns: of the size of the broadcast, and of a short one."""

    whole: float
    short: float


def fit_trees(finishes: FloatArray, message: Message | None = None) -> tuple[TreeFit, ...]:
    """Fit all trees, and keep the best of each family, the nearest first.

    `finishes`, shape (ranks,), are the ends of the ranks after the first start, in ns, ranks counted from the
    root on. With `message`, trees whose hop differs from it by more than a factor of 1.5 are left out.
    """
    best: dict[str, TreeFit] = {}
    for model, factors, missed in _fitted(finishes):
        family, hop = model.family, float(factors @ np.array(model.way.hop))
        if hop <= 0 or not model.way.least(factors) or not _is_hop(family, hop, message, finishes.size):
            continue
        if family == SCATTER_ALLGATHER and factors[0] < _LEAST_COMMON * finishes.mean():
            continue
        if family not in best or missed < best[family].missed * (1 - _ROUNDED):
            best[family] = TreeFit(family, missed, hop, model.children)
    return tuple(sorted(best.values(), key=lambda fit: fit.missed))


def _is_hop(family: str, hop: float, message: Message | None, ranks: int) -> bool:
    """Could a message take so long? A scatter and an allgather take two of them and up to P short ones."""
    if message is None:
        return True
    most = 2 * message.whole + ranks * message.short if family == SCATTER_ALLGATHER else message.whole
    return message.whole / _HOP_APART <= hop <= most * _HOP_APART


@dataclass(frozen=True, slots=True)
class _Model:
    """A tree of a family, and a model of waiting in it; `place` is its own among all."""

    place: int
    family: str
    children: Children
    way: _Way


@functools.lru_cache(maxsize=8)
def _stacks(ranks: int) -> tuple[tuple[tuple[_Model, ...], FloatArray], ...]:
    """Make all models of so many ranks; those of as many columns are one stack, (models, ranks, columns)."""
    trees = [(one, one.tree(ranks)) for one in _CANDIDATES]
    ways = ((one.family, tree, way) for one, tree in trees for way in one.ways(_sums(tree)))
    alike: dict[int, list[_Model]] = {}
    for place, (family, tree, way) in enumerate(ways):
        alike.setdefault(len(way.hop), []).append(_Model(place, family, tree, way))
    return tuple(
        (tuple(models), np.array([np.stack(model.way.columns, axis=1) for model in models]))
        for models in alike.values()
    )


def _fitted(finishes: FloatArray) -> list[tuple[_Model, FloatArray, float]]:
    """Fit each model by factors that are not below 0; the error is the root mean square over the mean."""
    mean = float(finishes.mean())
    seen, found = finishes / mean, list[tuple[_Model, FloatArray, float]]()
    for models, columns in _stacks(finishes.size):
        factors = nonnegative_fits(columns, seen)
        apart = np.linalg.norm((columns @ factors[..., None])[..., 0] - seen, axis=-1) / math.sqrt(seen.size)
        found += zip(models, factors * mean, apart.tolist(), strict=True)
    return sorted(found, key=lambda one: one[0].place)
