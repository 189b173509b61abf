"""The values of nights: a number for each test case and night, less modes and the common change."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.judges.history.store import Pool
from steelyard.records.kinds import INSTRUMENT, SHARED_MEMORY
from steelyard.results.row import Row
from steelyard.stats.arrays import FloatArray
from steelyard.stats.paired_permutation import GAPS, LEAST_IN_MODE, mode_parts
from steelyard.stats.probability_distributions import hypergeometric_tail

LEAST_CONTROLS = 3  # for a median of controls: one or two would add their own noise to all others
_RARE = 0.01  # a smaller probability that so many of a night's launches are in one mode is odd


@dataclass(frozen=True, slots=True)
class Levels:
    """`values`: (n, P), logarithms, nan where a night lacks a test case; `common`: (n,), the subtracted
    change.

    `modes`: (P,); `odd`: (P,), words if more of tonight's launches are in a mode than were before; `moved`:
    (P,), tonight's median with its modes less that of the nights before, as a logarithm, nan where unknown.
    """

    values: FloatArray
    common: FloatArray | None
    modes: NDArray[np.int64]
    odd: tuple[str, ...]
    moved: FloatArray


def levels_of(pool: Pool) -> Levels:
    """Compute the night values of a pool: medians over launches of their logarithms."""
    tables = [_launches(rows) for rows in pool.cases]
    found = [night_values(launches) for launches in tables]
    values = np.stack([one for one, _, _ in found], axis=1)
    controls = [j for j, rows in enumerate(pool.cases) if rows[-1] and _is_control(rows[-1])]
    common = None
    if LEAST_CONTROLS <= len(controls) < len(pool.cases):
        own = values[:, controls]
        with np.errstate(all="ignore"):
            common = np.nan_to_num(np.nanmedian(own - np.nanmedian(own, axis=0), axis=1))
        others = [j for j in range(len(pool.cases)) if j not in controls]
        values[:, others] -= common[:, None]
    moved = np.array([_moved(_medians(launches)) for launches in tables])
    if common is not None:
        moved -= common[-1] - np.median(common[:-1])
    return Levels(
        values, common, np.array([modes for _, modes, _ in found]), tuple(odd for *_, odd in found), moved
    )


def _moved(nights: FloatArray) -> float:
    """Compute how far tonight is from the median of the nights before, whatever the modes."""
    known = nights[:-1][np.isfinite(nights[:-1])]
    return float(nights[-1] - np.median(known)) if known.size else math.nan


def _is_control(row: Row) -> bool:
    """Is it without MPI, network and other library, so that it shows the machine alone?"""
    return row.role == INSTRUMENT or (row.layer == SHARED_MEMORY and row.transport is None)


def _launches(rows: Sequence[Row | None]) -> FloatArray:
    """Table logarithms of launch medians, (n, most launches), nan beyond those that a night has."""
    each = [
        [math.log(launch.median) for launch in row.launches if launch.median and launch.median > 0]
        if row
        else []
        for row in rows
    ]
    table = np.full((len(each), max(map(len, each), default=0) or 1), np.nan)
    for night, values in enumerate(each):
        table[night, : len(values)] = values
    return table


def night_values(launches: FloatArray) -> tuple[FloatArray, int, str]:
    """Compute a value for each night, (n,), the number of modes, and whether tonight's launches are oddly in
    one.

    launches: (n, m), logarithms. Gaps above a ratio of 1.25 in all launches of all nights separate parts. A
    part is a mode if at least two nights have it beside another; a part of only some nights is a change.
    """
    flat = launches.ravel()
    night_of = np.repeat(np.arange(launches.shape[0]), launches.shape[1])
    parts = mode_parts(flat, GAPS[-1])
    members = [set(night_of[part].tolist()) for part in parts]
    several = {night for night in range(launches.shape[0]) if sum(night in nights for nights in members) > 1}
    modes = [
        part
        for part, nights in zip(parts, members, strict=True)
        if part.size >= LEAST_IN_MODE and len(nights & several) > 1
    ]
    if len(modes) < 2:
        return _medians(launches), 1, ""
    middles = np.array([np.median(flat[part]) for part in modes])
    left = flat.copy()
    for part in parts:
        left[part] -= middles[np.argmin(np.abs(middles - np.median(flat[part])))]
    return _medians(left.reshape(launches.shape)), len(modes), _odd(launches, middles)


def _medians(launches: FloatArray) -> FloatArray:
    known = np.isfinite(launches).any(axis=1)
    values = np.full(launches.shape[0], np.nan)
    values[known] = np.nanmedian(launches[known], axis=1)
    return values


def _odd(launches: FloatArray, middles: FloatArray) -> str:
    """Describe it if more of tonight's launches are in a mode than chance puts there (Fisher's test)."""
    near = np.argmin(np.abs(launches[..., None] - middles), axis=-1)
    known = np.isfinite(launches)
    tonight, before = near[-1][known[-1]], near[:-1][known[:-1]]
    if not tonight.size or not before.size:
        return ""
    for mode in np.unique(tonight).tolist():
        own, earlier = int((tonight == mode).sum()), int((before == mode).sum())
        chance = hypergeometric_tail(own, tonight.size, earlier + own, before.size + tonight.size)
        if chance * middles.size <= _RARE:
            many = "all" if own == tonight.size else f"{own} of {tonight.size}"
            return f"{many} launches are in a mode that {100 * earlier / before.size:.0f} % were in before"
    return ""
