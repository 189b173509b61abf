"""Launches of ours and of an original by turns: the ratio of their rates with its interval."""

from __future__ import annotations

import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from steelyard.launch.command import LaunchCommand
from steelyard.stats import Estimate, launch_interval
from steelyard.stats.arrays import FloatArray
from steelyard.system.process import run

LEAST_FAST = 6  # pairs of which a quartile says something
_FAST = 0.25  # of the launches: where less is fast, this quantile stands for fast ones
_DRAWS = 4000
SECONDS = 1800.0  # more than any of these commands takes


def run_original(launch: LaunchCommand, words: Sequence[str | Path], cwd: Path | None = None) -> str:
    """What one launch of an original prints."""
    argv = [*launch.argv_prefix, *map(str, words)]
    done = run(argv, env={**os.environ, **launch.environment}, timeout=SECONDS, cwd=cwd)
    if done.code != 0:
        raise SystemExit(f"{Path(words[0]).name} failed: {(done.err or done.out).strip()[-300:]}")
    return done.out


def run_rows(words: Sequence[str], mpi: str | None) -> Sequence[dict[str, Any]]:
    """All rows of one launch of ours, by the command that a user types."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", "from steelyard.cli.main import main; main()", "run", *words]
        command += ["--launches", "1", "--json", "--out", f"{folder}/out"] + (["--mpi", mpi] if mpi else [])
        done = run(command, timeout=SECONDS)
        rows: list[dict[str, Any]] = msgspec.json.decode(done.out)["points"] if done.code == 0 else []
    bad = [row["why"] for row in rows if row["status"] != "ok" or not row["verified"]]
    if bad or not rows:
        raise SystemExit(f"{words[0]} failed: {bad[0] if bad else done.err.strip()[-300:]}")
    return rows


def run_ours(words: Sequence[str], mpi: str | None) -> dict[str, Any]:
    """The row of one launch of ours that has one."""
    return run_rows(words, mpi)[0]


class Pairing:
    """Ours and an original by turns: what each launch of either said, a value for each name.

    What is the same within a share of `within` is told from what is not, unless that is 0. That is told of
    fast launches, for a machine has slow modes that some launches are in: values are times if `less_is_fast`.
    """

    def __init__(
        self,
        names: Sequence[str],
        unit: str,
        ours: Callable[[], Sequence[float]],
        theirs: Callable[[], Sequence[float]],
        within: float = 0.0,
        less_is_fast: bool = False,
    ) -> None:
        self.names, self.unit, self.within = names, unit, within
        self._fast = _FAST if less_is_fast else 1.0 - _FAST
        self._measure = {True: ours, False: theirs}
        self._found: dict[bool, list[Sequence[float]]] = {True: [], False: []}

    @property
    def pairs(self) -> int:
        """Turns that were taken."""
        return len(self._found[False])

    def take_turn(self) -> None:
        """A launch of each, in random order."""
        taken = {own: self._measure[own]() for own in random.sample((True, False), 2)}
        for own, values in taken.items():
            self._found[own].append(values)

    def ratios(self) -> Sequence[Estimate | None]:
        """The median over pairs of the ratio of ours to theirs, of each name; None of one pair."""
        pairs = np.array(self._found[True]) / np.array(self._found[False])
        return [launch_interval(values) if len(values) > 1 else None for values in pairs.T]

    def fast_ratios(self) -> Sequence[Estimate | None]:
        """The ratio of a quartile of ours to that of theirs, that of fast launches; None of few pairs."""
        if self.pairs < LEAST_FAST:
            return [None] * len(self.names)
        mine, other = (np.array(self._found[own]) for own in (True, False))
        return [quartile_ratio(mine[:, i], other[:, i], self._fast) for i in range(len(self.names))]

    def is_narrow(self) -> bool:
        """Is each interval as narrow as `within`, to both sides?"""
        return all(
            ratio is not None
            and ratio.value > 0
            and max(ratio.high - ratio.value, ratio.value - ratio.low) <= self.within * ratio.value
            for ratio in self.fast_ratios()
        )

    def tell(self) -> Sequence[float]:
        """Print a line for each name; the median ratios."""
        medians = []
        for i, (name, ratio, fast) in enumerate(
            zip(self.names, self.ratios(), self.fast_ratios(), strict=True)
        ):
            mine, other = ([values[i] for values in self._found[own]] for own in (True, False))
            medians.append(ratio.value if ratio else mine[0] / other[0])
            told = self.within and fast
            said = f", fast launches {fast:.3f}, {_verdict(fast, self.within)}" if told and fast else ""
            words = f"{ratio:.3f}" if ratio else f"{medians[-1]:.3f} (one launch)"
            print(
                f"{name}: {np.median(mine):8.5g} of ours, {np.median(other):8.5g} {self.unit} of theirs, "
                f"ratio {words}, {self.pairs} pairs{said}",
                flush=True,
            )
        return medians


def take_turns(pairings: Sequence[Pairing], launches: int, until: float) -> Sequence[str]:
    """Turns of all that are not narrow yet; what failed, which takes no more of them."""
    failed: dict[int, str] = {}

    def is_done(i: int, one: Pairing) -> bool:
        return i in failed or one.pairs >= launches or (one.is_narrow())

    while left := [(i, one) for i, one in enumerate(pairings) if not is_done(i, one)]:
        for i, one in left:
            if time.monotonic() > until:
                return list(failed.values())
            try:
                one.take_turn()
            except SystemExit as why:
                failed[i] = f"{one.names[0]}: {why}"
    return list(failed.values())


def quartile_ratio(ours: FloatArray, theirs: FloatArray, share: float) -> Estimate:
    """The quantile of `share` of the one over that of the other, with its interval: launches drawn again.

    The interval is that of percentiles of the bootstrap (Efron 1979), of both suites' launches.
    """
    rng = np.random.default_rng(1)
    drawn = [rng.choice(values, (_DRAWS, len(values))) for values in (ours, theirs)]
    mine, other = (np.quantile(values, share, axis=1) for values in drawn)
    low, high = np.quantile(mine / other, [0.025, 0.975])
    value = float(np.quantile(ours, share) / np.quantile(theirs, share))
    return Estimate(value, float(low), float(high), 0.95, len(ours), "bootstrap")


def _verdict(ratio: Estimate, within: float) -> str:
    low, high = 1.0 - within, 1.0 + within
    if low <= ratio.low and ratio.high <= high:
        return f"the same within {100 * within:g} %"
    return "not the same" if ratio.low > high or ratio.high < low else "cannot tell"


def compare(
    name: str, unit: str, ours: Callable[[], float], theirs: Callable[[], float], pairs: int
) -> float:
    """Measure pairs of launches in random order and print a line; the median ratio of the rates."""
    pairing = Pairing([name], unit, lambda: [ours()], lambda: [theirs()])
    for _ in range(pairs):
        pairing.take_turn()
    return pairing.tell()[0]


def print_mean(ratios: Sequence[float]) -> None:
    """The geometric mean of the ratios above 0; a time less what is taken off may be none."""
    told = [ratio for ratio in ratios if ratio > 0]
    if told:
        left_out = f" ({len(ratios) - len(told)} left out)" if len(told) < len(ratios) else ""
        print(f"geometric mean of {len(told)} ratios{left_out}: {math.exp(np.mean(np.log(told))):.3f}")


def numbers(text: str) -> Sequence[int]:
    """Numbers with commas between."""
    return [int(word) for word in text.split(",")]
