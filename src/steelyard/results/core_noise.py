"""Noise: time that a core lost to other work, from series of noise.fwq, noise.ftq and noise.selfish.

A quantum of work that took `took`, where the shortest took `least`, has lost took - least (fixed work
quantum). A stretch of time `took` in which `units` were done has lost took - units * unit, with `unit` the
least time of a unit that was ever seen (fixed time quantum). The engine counts detours. In all three

    share = time lost / time observed

(Sottile and Minnich, CLUSTER 2004; Hoefler, Schneider, Lumsdaine, SC 2010).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from steelyard.results.load import PointLaunch
from steelyard.results.values import OpSamples
from steelyard.stats import spectrum_peaks
from steelyard.stats.arrays import FloatArray

DISTURBED = 0.005  # of a quantum lost: clock and caches lose less
NEARLY = 0.003  # relative: the error of a frequency that counts as a multiple of another
LENGTHS_NS = (1e3, 1e4, 1e5, 1e6, 1e7, float("inf"))  # as the engine counts detours
LENGTH_NAMES = ("below_1us", "below_10us", "below_100us", "below_1ms", "below_10ms", "longer")


class Peak(Struct, frozen=True):
    """A periodic loss: its frequency `hz`, and the least share of the time that it takes.

    The loss is never negative, so its mean is at least half the amplitude of any of its sines.
    """

    hz: float
    share: float


class CoreNoise(Struct, frozen=True, kw_only=True):
    """The noise of a rank's core: `share` of `seconds` was lost, in `per_second` pieces.

    Pieces are detours, or disturbed quanta, which hold one detour or more. The longest took `longest_ns`, and
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
    """Compute the loss of fixed work quanta, in ns, shape as `took`, each row by itself."""
    return np.asarray(took - took.min(axis=-1, keepdims=True))


def lost_by_time(took: FloatArray, units: FloatArray) -> FloatArray:
    """Compute the loss of fixed time quanta, in ns, shape as `took`, each row by itself."""
    rate = (units / took).max(axis=-1, keepdims=True)
    return np.asarray(took - units / rate)


def lost_of(op: str, series: OpSamples) -> FloatArray:
    """Compute the loss of each sample in ns, shape (ranks, count)."""
    if op == "noise.fwq":
        return lost_by_work(series.took)
    if op == "noise.ftq":
        return lost_by_time(series.took, series.counts["units"].astype(float))
    return series.counts["lost_ns"].astype(float)


def lengths_of(lost: FloatArray, took: FloatArray) -> dict[str, int]:
    """Count disturbed quanta by their loss; shapes (count,)."""
    disturbed = lost[lost > DISTURBED * took]
    bins = np.searchsorted(LENGTHS_NS, disturbed, side="right")
    return {name: int(np.count_nonzero(bins == i)) for i, name in enumerate(LENGTH_NAMES)}


def core_noise(op: str, cells: Sequence[PointLaunch]) -> tuple[CoreNoise, ...]:
    """Measure the noise of each rank's core over all launches of a noise op; () for another op."""
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
            lengths = {name: int(sum(count[name][rank].sum() for count in counts)) for name in LENGTH_NAMES}
            most = float(max(count["longest_ns"][rank].max() for count in counts))
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
    """Find periodic losses, the strongest first."""
    lost = lost_by_time(series.took, series.counts["units"].astype(float))[rank]
    share = lost / series.took[rank]
    return tuple(Peak(hz, amplitude / 2) for hz, amplitude in spectrum_peaks(series.start[rank] / 1e9, share))


def fundamentals(peaks: Sequence[Peak]) -> tuple[tuple[Peak, int], ...]:
    """Keep peaks that are no multiples of another one, the lowest first, each with the number of its
    multiples.

    A short periodic loss has lines at the multiples of its frequency, too.
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
