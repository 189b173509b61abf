"""Which launches of a test case were measured together: in one sitting, on the same hosts.

Another hour and another host are other machines. What they add to all of their launches is in no scatter
inside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from steelyard.records.schema import Launch

LONG = 10.0  # times the usual gap between launches: beyond, the next one is of another sitting
SHORT_NS = 300e9  # gaps that end no sitting: launches of large plans are minutes apart


def groups_of(starts: Sequence[Launch | None]) -> Mapping[str, tuple[int, ...]]:
    """Find the ways in which launches belong together, each as the number of the group of every launch.

    A way with one group, or with as many as launches, is none.
    """
    began = [start.start_unix_ns if start else 0 for start in starts]
    ways = {"sittings": sittings_of(began), "host_sets": _hosts(starts)}
    return {name: labels for name, labels in ways.items() if 1 < len(set(labels)) < len(labels)}


def sittings_of(began_ns: Sequence[int]) -> tuple[int, ...]:
    """Number the sitting of each launch; a long gap ends one. All are of one where a begin is unknown (0).

    The usual gap is the lower median, so launches that were spread evenly are of one sitting.
    """
    if len(began_ns) < 3 or min(began_ns) <= 0:
        return (0,) * len(began_ns)
    order = np.argsort(np.asarray(began_ns, dtype=np.int64), kind="stable")
    gaps = np.diff(np.asarray(began_ns, dtype=np.float64)[order])
    usual = float(np.quantile(gaps, 0.5, method="lower"))
    numbers = np.zeros(len(began_ns), dtype=np.int64)
    numbers[order[1:]] = np.cumsum(gaps > max(LONG * usual, SHORT_NS))
    return tuple(numbers.tolist())


def _hosts(starts: Sequence[Launch | None]) -> tuple[int, ...]:
    """Number the set of hosts of each launch."""
    sets = [
        frozenset(place.host for place in start.places) if start else frozenset[str]() for start in starts
    ]
    numbers = {hosts: number for number, hosts in enumerate(dict.fromkeys(sets))}
    return tuple(numbers[hosts] for hosts in sets)
