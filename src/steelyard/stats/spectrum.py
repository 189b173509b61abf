"""Periodic parts of a series that is sampled at nearly even distances, with gaps."""

from __future__ import annotations

import numpy as np

from steelyard.stats.arrays import FloatArray

LEAST = 64  # samples: fewer have no useful spectrum
CHANCE = 1e-3  # that white noise shows a peak anywhere
MOST_PEAKS = 6
_WIDTH = 3  # width of a line in bins behind a Hann window: anything nearer is the same line
_LOUD = (
    6.0  # robust standard deviations: rare long detours are clipped there, else they drown what is regular
)


def spectrum(seconds: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Compute frequencies in Hz and amplitudes (of a sine, in units of `values`); shapes (count,); empty for
    too few.

    Samples go to the nearest places of an even grid, as far apart as the median distance; empty places get
    the mean, which has no period (Welch 1967, one segment, Hann window). Values far above the rest are
    clipped before.
    """
    none = np.empty(0)
    if values.size < LEAST:
        return none, none
    step = float(np.median(np.diff(seconds)))
    if not step > 0:
        return none, none
    at = np.round((seconds - seconds[0]) / step).astype(np.int64)
    if at[-1] > 8 * values.size:  # mostly gaps: launches that were interrupted
        return none, none
    middle = float(np.median(values))
    spread = 1.4826 * float(np.median(np.abs(values - middle)))
    clipped = np.minimum(values, middle + _LOUD * spread) if spread > 0 else values
    grid = np.zeros(int(at[-1]) + 1)
    grid[at] = clipped - clipped.mean()
    window = np.hanning(grid.size)
    held = float(window[at].sum())
    amplitudes = 2 * np.abs(np.fft.rfft(grid * window)) / held
    return np.asarray(np.fft.rfftfreq(grid.size, step), dtype=np.float64), np.asarray(amplitudes)


def spectrum_peaks(seconds: FloatArray, values: FloatArray) -> tuple[tuple[float, float], ...]:
    """Find frequencies in Hz and amplitudes of the lines that white noise would not show, the strongest
    first.

    The power of white noise is exponential, so the largest of M bins is above mean * ln(M / chance) with that
    chance (Fisher 1929, for many bins). The median of neighbouring bins gives the mean, because real noise is
    louder at low frequencies.
    """
    hz, amplitude = spectrum(seconds, values)
    if hz.size == 0:
        return ()
    power = amplitude**2
    floor = _running_median(power) / np.log(2)
    limit = np.log(power.size / CHANCE)
    first = _WIDTH  # below: the mean, and trends
    candidates = [
        i
        for i in np.argsort(power[first:-1])[::-1][: 50 * MOST_PEAKS] + first
        if power[i] > limit * floor[i] and power[i] >= power[i - 1] and power[i] >= power[i + 1]
    ]
    chosen: list[int] = []
    for i in candidates:
        if len(chosen) < MOST_PEAKS and all(abs(i - other) > _WIDTH for other in chosen):
            chosen.append(int(i))
    return tuple((_refine(hz, amplitude, i), float(amplitude[i])) for i in chosen)


def _running_median(power: FloatArray) -> FloatArray:
    """Compute the median of the 200 bins around each, in steps of 50."""
    half, step = 100, 50
    centres = np.arange(0, power.size, step)
    medians = [float(np.median(power[max(0, c - half) : c + half + 1])) for c in centres]
    return np.asarray(np.maximum(np.interp(np.arange(power.size), centres, medians), 1e-300))


def _refine(hz: FloatArray, amplitude: FloatArray, i: int) -> float:
    """Find the frequency of a line between bins, by a parabola through logarithms of three of them."""
    low, mid, high = np.log(np.maximum(amplitude[i - 1 : i + 2], 1e-300))
    bend = low - 2 * mid + high
    shift = 0.5 * (low - high) / bend if bend < 0 else 0.0
    return float(hz[i] + shift * (hz[1] - hz[0]))
