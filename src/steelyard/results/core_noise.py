"""Noise: what a core did besides what it was asked to, from series of noise.fwq, noise.ftq and noise.selfish.

A quantum of work that took `took` where the shortest took `least` has lost took - least (fixed work quantum).
A stretch of time `took` in which `units` were done has lost took - units * unit, with `unit` the least time
of a unit that was ever seen (fixed time quantum). Detours are counted by the engine. In all three

    share = time lost / time observed

(Sottile and Minnich, CLUSTER 2004; Hoefler, Schneider, Lumsdaine, SC 2010).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from steelyard.results.durations import FloatArray
from steelyard.results.load import OpSamples, PointLaunch
from steelyard.stats import spectrum_peaks

DISTURBED = 0.005  # of a quantum lost: more than what clock and caches make of it
NEARLY = 0.003  # relative: two frequencies that are one's multiple and the other
LENGTHS_NS = (1e3, 1e4, 1e5, 1e6, 1e7, float("inf"))  # as the engine counts detours
LENGTH_NAMES = ("below_1us", "below_10us", "below_100us", "below_1ms", "below_10ms", "longer")


class Peak(Struct, frozen=True):
    """Something that comes with a period: `hz`, and the share of the time that it takes at least.

    Of a loss that is never negative, the mean is at least half the amplitude of any of its sines.
    """

    hz: float
    share: float


class CoreNoise(Struct, frozen=True, kw_only=True):
    """The noise of a rank's core: `share` of `seconds` was lost, in `per_second` pieces.

    Pieces are detours, or disturbed quanta, which hold one or more; the longest took `longest_ns`, and
    `lengths` counts them by length.
    """

    rank: int
    cpus: str
    seconds: float
    share: float
    per_second: float
    longest_ns: float
    lengths: dict[str, int]
    peaks: tuple[Peak, ...] = ()


def lost_by_work(took: FloatArray) -> FloatArray:
    """Fixed work quanta, in ns: what each lost, shape as `took`, each row by itself."""
    return np.asarray(took - took.min(axis=-1, keepdims=True))


def lost_by_time(took: FloatArray, units: FloatArray) -> FloatArray:
    """Fixed time quanta, in ns: what each lost, shape as `took`, each row by itself."""
    rate = (units / took).max(axis=-1, keepdims=True)
    return np.asarray(took - units / rate)


def lost_of(op: str, series: OpSamples) -> FloatArray:
    """What each sample lost in ns, shape (ranks, count)."""
    if op == "noise.fwq":
        return lost_by_work(series.took)
    if op == "noise.ftq":
        return lost_by_time(series.took, series.counts["units"].astype(float))
    return series.counts["lost_ns"].astype(float)


def lengths_of(lost: FloatArray, took: FloatArray) -> dict[str, int]:
    """Disturbed quanta by what they lost; shapes (count,)."""
    disturbed = lost[lost > DISTURBED * took]
    bins = np.searchsorted(LENGTHS_NS, disturbed, side="right")
    return {name: int(np.count_nonzero(bins == i)) for i, name in enumerate(LENGTH_NAMES)}


def core_noise(op: str, cells: Sequence[PointLaunch]) -> tuple[CoreNoise, ...]:
    """The noise of each rank's core over all launches of a point of the family noise; () of another one."""
    seen = [(cell, cell.taken.series) for cell in cells if cell.taken.series is not None]
    if not seen:
        return ()
    lost = [lost_of(op, series) for _, series in seen]
    longest = max(series.took.shape[1] for _, series in seen)
    whole = next(series for _, series in seen if series.took.shape[1] == longest)
    found = []
    for rank in range(seen[0][1].took.shape[0]):
        took = np.concatenate([series.took[rank] for _, series in seen])
        gone = np.concatenate([one[rank] for one in lost])
        seconds = float(took.sum()) / 1e9
        if op == "noise.selfish":
            counts = [series.counts for _, series in seen]
            lengths = {name: int(sum(one[name][rank].sum() for one in counts)) for name in LENGTH_NAMES}
            most = float(max(one["longest_ns"][rank].max() for one in counts))
        else:
            lengths = lengths_of(gone, took)
            most = float(gone.max())
        place = next(
            (p for p in (seen[0][0].start.places if seen[0][0].start else ()) if p.rank == rank), None
        )
        found.append(
            CoreNoise(
                rank=rank,
                cpus=place.cpus if place else "",
                seconds=seconds,
                share=float(gone.sum() / took.sum()),
                per_second=sum(lengths.values()) / seconds,
                longest_ns=most,
                lengths=lengths,
                peaks=peaks_of(whole, rank) if op == "noise.ftq" else (),
            )
        )
    return tuple(found)


def peaks_of(series: OpSamples, rank: int) -> tuple[Peak, ...]:
    """What comes with a period, the strongest first."""
    lost = lost_by_time(series.took, series.counts["units"].astype(float))[rank]
    share = lost / series.took[rank]
    return tuple(Peak(hz, amplitude / 2) for hz, amplitude in spectrum_peaks(series.start[rank] / 1e9, share))


def fundamentals(peaks: Sequence[Peak]) -> tuple[tuple[Peak, int], ...]:
    """Peaks that are no multiples of another one, the lowest first, each with how many multiples it has.

    Whatever is short and comes with a period has lines at the multiples of its frequency too.
    """
    found: list[tuple[Peak, int]] = []
    for peak in sorted(peaks, key=lambda one: one.hz):
        for i, (base, multiples) in enumerate(found):
            times = peak.hz / base.hz
            if abs(times - round(times)) < NEARLY * times:
                found[i] = base, multiples + 1
                break
        else:
            found.append((peak, 0))
    return tuple(found)
