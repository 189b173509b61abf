"""Which layer a point's modes come from: what looks at the machine say when it was fast and when it was slow.

A look (`observations.Look`) tells what a cache line took from rank to rank without MPI, and what share of
time a rank lost. Where these split with the modes, the modes are below MPI.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from steelyard.observations import Look
from steelyard.stats import Mode, ranks_above

BELOW, NOISE, ABOVE = "below", "noise", "above"
LEAST_SPELLS = 3  # of the fastest mode and of the slowest: fewer can fall as they do by chance
MOVED = 1.5  # ratio of the canary's medians: as for two modes to be two
STILL = 1.2  # below: the canary did not move
LOST_MORE = 0.1  # of the time, from the fastest mode to the slowest


@dataclass(frozen=True, slots=True)
class Seen:
    """What the looks in one mode saw; None without any. `canary` in ns, `noise` a share of the time."""

    canary: float | None
    noise: float | None


@dataclass(frozen=True, slots=True)
class Blame:
    """What the looks say of the modes, the fastest first.

    `layer`: `below` MPI (the canary splits with the modes), `noise` (lost time does), `above` (the canary did
    not move, so it is the MPI library or its processes); None where there is one mode, or where the looks are
    too few or say nothing clear.
    """

    seen: tuple[Seen, ...]
    layer: str | None


def blame(modes: Sequence[Mode], launches: Sequence[Sequence[Look]]) -> Blame:
    """Judges the looks of all launches of a point together; each launch's in the order taken.

    Looks that follow each other in one launch and one mode are a spell and count once, for what makes a mode
    lasts. A quantity splits with the modes where it is larger in the slowest mode than in the fastest by a
    ratio (canary) or a difference (noise) of medians over spells, and by the rank-sum test.
    """
    edges = [math.sqrt(low.value * high.value) for low, high in pairwise(modes)]  # as `find_modes` cuts
    spells: list[list[list[Look]]] = [[] for _ in modes]
    for looks in launches:
        for mode, spell in groupby(looks, key=lambda look: int(np.searchsorted(edges, look.value))):
            spells[mode].append(list(spell))
    return Blame(
        tuple(see([look for spell in each for look in spell]) for each in spells),
        _layer(spells[0], spells[-1]) if len(modes) > 1 else None,
    )


def see(looks: Sequence[Look]) -> Seen:
    """What looks that belong together saw."""
    return Seen(_canary(looks), lost([look.noise for look in looks]))


def _layer(fast: list[list[Look]], slow: list[list[Look]]) -> str | None:
    """The verdict on the spells of the fastest mode and of the slowest."""
    canary_fast, canary_slow = (
        [one for spell in side if (one := _canary(spell)) is not None] for side in (fast, slow)
    )
    ratio = math.nan  # no comparison with it holds
    if min(len(canary_fast), len(canary_slow)) >= LEAST_SPELLS and min(canary_fast) > 0:
        ratio = float(np.median(canary_slow) / np.median(canary_fast))
    if ratio >= MOVED and ranks_above(canary_slow, canary_fast):
        return BELOW
    noise_fast, noise_slow = (
        [lost([look.noise for look in spell]) or 0.0 for spell in side] for side in (fast, slow)
    )
    if min(len(noise_fast), len(noise_slow)) >= LEAST_SPELLS:
        more = float(np.median(noise_slow) - np.median(noise_fast))
        if more >= LOST_MORE and ranks_above(noise_slow, noise_fast):
            return NOISE
    return ABOVE if 1 / STILL < ratio < STILL else None


def _canary(looks: Sequence[Look]) -> float | None:
    values = [look.canary for look in looks if look.canary is not None]
    return float(np.median(values)) if values else None


def lost(shares: Sequence[float]) -> float | None:
    """The share of time lost over several looks, each of which did the same work; None without any.

    With work W a look that lost the share s took W / (1 - s), so that the shares cannot just be averaged: one
    look that was cut short by 4 ms tells more than eighty that were not.
    """
    if not shares:
        return None
    over = float(np.mean([share / (1.0 - min(share, 1.0 - 1e-9)) for share in shares]))
    return over / (1.0 + over)
