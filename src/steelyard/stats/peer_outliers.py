"""Places that do the same work, such as the cores of a node: which is slower than its peers, in any test.

In each launch every place gives a value. If places are alike, shuffling the values within each launch changes
nothing. So shuffled launches show the effect of chance on equal places, whatever tails, modes or drifts the
values have (a randomisation test: Fisher, The Design of Experiments, 1935). The largest statistic over all
places of all tests makes each p hold for the whole family (Westfall and Young, Resampling-Based Multiple
Testing, 1993).

Places that chance does not make equal may be sound all the same: cores of a node differ lastingly by some per
cent. So a place is `odd` only if it differs beyond chance, and beyond what its peers differ by
(lasting_differences.py).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.stats.arrays import FloatArray
from steelyard.stats.lasting_differences import Lasting, odd_places
from steelyard.stats.moderated_variance import moderated_variance

DRAWN = 1999  # shuffles; with the launches as they are 2000, so that p = 1 % is 20 of them
LEAST_PLACES = 4  # of three, two that differ leave it open which is odd
LEAST_LAUNCHES = 5  # by chance one of 4 places is last in all of 5 in 1 of 256 cases
_FINEST = 1e-4  # relative scatter of launches: below it a clock or the arithmetic rounds
_BATCH = 4_000_000  # values that are shuffled at once


@dataclass(frozen=True, slots=True)
class PeerComparison:
    """A test: each place against the median of all of them, in logarithms, shapes (places,).

    `p` is adjusted for all places of all tests; `low`..`high` hold for all of them together. `odd`: slower
    beyond chance and beyond what its peers differ by lastingly. `spread`: the standard deviation of the means
    of sound peers, over launches; `least`: the difference from which a place is odd.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    odd: NDArray[np.bool_]
    spread: float
    least: float

    def slower_by(self, least: float) -> NDArray[np.bool_]:
        """Find the places that are odd and slower by so much of a time at least, shape (places,)."""
        return np.asarray(self.odd & (np.expm1(self.estimate) >= least))


def compare_peers(
    tables: Sequence[FloatArray], families: Sequence[Hashable] = (), *, level: float = 0.99, seed: int = 0
) -> tuple[PeerComparison, ...]:
    """Compare each place with its peers, in all tests at once.

    tables: of each test the logarithms of the times of each place, shape (launches, places), without gaps.
    families: of each test its family, in which places differ lastingly by as much, such as the cores of equal
    hosts; without it each test has its own. Raises ValueError for fewer than `LEAST_PLACES` or
    `LEAST_LAUNCHES`.
    """
    if any(table.shape[0] < LEAST_LAUNCHES or table.shape[1] < LEAST_PLACES for table in tables):
        raise ValueError(f"{LEAST_PLACES} places and {LEAST_LAUNCHES} launches are needed")
    if not tables:
        return ()
    own = [table - np.median(table, axis=1, keepdims=True) for table in tables]
    seen = [_statistic(one[None]) for one in own]
    rng = np.random.default_rng(seed)
    family = np.zeros(DRAWN + 1)
    family[0] = max(float(np.abs(t).max()) for t, _, _ in seen)
    for one in own:
        largest = np.concatenate([np.abs(_statistic(some)[0]).max(axis=1) for some in _shuffled(one, rng)])
        family[1:] = np.maximum(family[1:], largest)
    bound = float(np.quantile(family[1:], level, method="higher"))
    lasting = _lasting([mean[0] for _, mean, _ in seen], families or range(len(tables)), level)
    found: list[PeerComparison] = []
    for (t, mean, scale), (peers, at) in zip(seen, lasting, strict=True):
        p = np.mean(family[:, None] >= np.abs(t[0]) * (1 - 1e-12), axis=0)
        found.append(
            PeerComparison(
                estimate=mean[0],
                low=mean[0] - bound * scale[0],
                high=mean[0] + bound * scale[0],
                p=p,
                odd=(p <= 1 - level) & peers.slow[at],
                spread=peers.spread,
                least=peers.least[at],
            )
        )
    return tuple(found)


def _lasting(
    means: Sequence[FloatArray], families: Sequence[Hashable], level: float
) -> list[tuple[Lasting, int]]:
    """Find what places of each test differ by lastingly: that of its family, and its place in it. All
    families share the level.
    """
    members: dict[Hashable, list[int]] = {}
    for test, label in enumerate(families):
        members.setdefault(label, []).append(test)
    own_level = 1 - (1 - level) / len(members)
    found = {
        label: odd_places([means[test] for test in tests], level=own_level, finest=_FINEST)
        for label, tests in members.items()
    }
    return [(found[label], members[label].index(test)) for test, label in enumerate(families)]


def _shuffled(own: FloatArray, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Make `DRAWN` shuffles within launches, shape (some, launches, places), as many at once as memory
    allows.
    """
    left, most = DRAWN, max(1, _BATCH // own.size)
    while left > 0:
        count = min(left, most)
        yield rng.permuted(np.broadcast_to(own, (count, *own.shape)), axis=2)
        left -= count


def _statistic(own: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute the moderated t of each place, its mean and its standard error: shapes (any, places).

    own: (any, launches, places). t = mean / sqrt(v / n), v the moderated variance, whose
    common one is the median over the places.
    """
    n = own.shape[1]
    mean = own.mean(axis=1)
    variance = own.var(axis=1, ddof=1)
    common = np.median(variance, axis=1, keepdims=True)
    moderated = moderated_variance((n - 1) * variance, n, common)
    scale = np.sqrt(np.maximum(moderated, _FINEST**2) / n)
    return mean / scale, mean, scale
