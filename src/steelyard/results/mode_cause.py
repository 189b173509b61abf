"""The layer that causes a point's modes: looks at the machine in fast and in slow samples.

A look (`load.Look`) measures a cache line from rank to rank without MPI, and the share of time that a rank
lost. If these split with the modes, the cause is below MPI, or outside. The MPI library is blamed only if the
machine was seen to be the same in both modes, not if nothing was seen.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from steelyard.results.values import Look
from steelyard.stats import Interval, Mode, shift_interval
from steelyard.stats.fast_stats import mean, middle
from steelyard.stats.interval import Estimate

BELOW, NOISE, ABOVE = "below", "noise", "above"
MOVED = 1.5  # ratio of the canary, or that of the modes if it is less: the canary moved with them
STILL = 1.2  # the whole interval is nearer to 1 than that, or than the root of the modes' ratio: it did not
LOST_MORE = 0.1  # of the time, from the fastest mode to the slowest
LEAST_LOOKS = 8  # in the slowest mode: all of them miss a loss of a third of the time in 4 %
SHORTEST_NS = 0.1  # of a canary: a clock that stood still has no logarithm
LEVEL = 0.90  # of intervals: 5 % beyond either end, and three spells of either mode are enough


@dataclass(frozen=True, slots=True)
class LooksSaw:
    """The looks in one mode; None without any. `canary` in ns, `noise` a share of the time."""

    canary: float | None
    noise: float | None


@dataclass(frozen=True, slots=True)
class Blame:
    """What the looks say about the modes, the fastest first.

    `layer`: `below` MPI (the canary splits with the modes), `noise` (lost time does), `above` (the machine
    was seen to be the same in both, so it is the MPI library or its processes); None if there is one mode, or
    if looks are too few or unclear. `canary_ratio`: the canary's time in the slowest mode over that in the
    fastest, with 5 % beyond either end; None with fewer than three spells of either.
    """

    seen: tuple[LooksSaw, ...]
    layer: str | None
    canary_ratio: Interval | None = None


def blame(modes: Sequence[Mode], launches: Sequence[Sequence[Look]], disturbed: bool = False) -> Blame:
    """Judge the looks of all launches of a point together; each launch's are in the order of measurement.

    Consecutive looks in one launch and one mode are a spell and count once, because causes of modes last. The
    slowest mode is compared with the fastest by `shift_interval` over spells: the canary by its ratio, lost
    time by its difference. `disturbed`: others were seen on the ranks' CPUs (see `states.is_disturbed`). Then
    the layer is never `above`, because looks are short and may have missed them.
    """
    edges = [math.sqrt(low.value * high.value) for low, high in pairwise(modes)]  # as `find_modes` cuts
    spells: list[list[list[Look]]] = [[] for _ in modes]
    for looks in launches:
        for mode, spell in groupby(looks, key=lambda look: bisect_left(edges, look.value)):
            spells[mode].append(list(spell))
    seen = tuple(see([look for spell in each for look in spell]) for each in spells)
    if len(modes) < 2:
        return Blame(seen, None)
    canary = shift_interval(_log_canaries(spells[-1]), _log_canaries(spells[0]), LEVEL)
    ratio = Interval(*map(math.exp, (canary.value, canary.low, canary.high))) if canary else None
    apart = math.log(modes[-1].value / modes[0].value)
    return Blame(seen, _layer(canary, apart, spells[0], spells[-1], disturbed), ratio)


def see(looks: Sequence[Look]) -> LooksSaw:
    """Summarise the looks of one mode."""
    return LooksSaw(_canary(looks), lost([look.noise for look in looks]))


def _layer(
    canary: Estimate | None, apart: float, fast: list[list[Look]], slow: list[list[Look]], disturbed: bool
) -> str | None:
    """Judge the spells of the fastest mode and of the slowest.

    `canary` is the logarithm of its ratio, `apart` that of the modes' own.
    """
    if canary and canary.value >= min(math.log(MOVED), apart) and canary.low > 0:
        return BELOW
    noise = shift_interval(_losses(slow), _losses(fast), LEVEL)
    if noise and noise.value >= LOST_MORE and noise.low > 0:
        return NOISE
    if disturbed or canary is None or noise is None:
        return None
    still = min(math.log(STILL), apart / 2)
    is_still = -still < canary.low and canary.high < still
    looks = [look for spell in slow for look in spell]
    is_quiet = noise.high < LOST_MORE and (lost([look.noise for look in looks]) or 0.0) < LOST_MORE
    return ABOVE if is_still and is_quiet and len(looks) >= LEAST_LOOKS else None


def _log_canaries(spells: list[list[Look]]) -> list[float]:
    """Compute the logarithm for each spell that has a canary."""
    values = [one for spell in spells if (one := _canary(spell)) is not None]
    return [math.log(max(value, SHORTEST_NS)) for value in values]


def _losses(spells: list[list[Look]]) -> list[float]:
    return [lost([look.noise for look in spell]) or 0.0 for spell in spells]


def _canary(looks: Sequence[Look]) -> float | None:
    values = [look.canary for look in looks if look.canary is not None]
    return middle(values) if values else None


def lost(shares: Sequence[float]) -> float | None:
    """Compute the share of time lost over several looks, each of which did the same work; None without any.

    With work W, a look that lost the share s took W / (1 - s). So shares are not simply averaged: one look
    that lost 4 ms weighs more than eighty that lost nothing.
    """
    if not shares:
        return None
    over = mean([share / (1.0 - min(share, 1.0 - 1e-9)) for share in shares])
    return over / (1.0 + over)
