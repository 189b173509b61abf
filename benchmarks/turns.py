"""Launches of ours and of an original by turns: the ratio of their rates with its interval."""

from __future__ import annotations

import math
import os
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from steelyard.launch.command import LaunchCommand
from steelyard.stats import launch_interval
from steelyard.system.process import run

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


def compare(
    name: str, unit: str, ours: Callable[[], float], theirs: Callable[[], float], pairs: int
) -> float:
    """Measure pairs of launches in random order and print a line; the median ratio of the rates."""
    return compare_all([name], unit, lambda: [ours()], lambda: [theirs()], pairs)[0]


def compare_all(
    names: Sequence[str],
    unit: str,
    ours: Callable[[], Sequence[float]],
    theirs: Callable[[], Sequence[float]],
    pairs: int,
) -> Sequence[float]:
    """The same where a launch has several values, a name each: a line and the median ratio of each."""
    found: dict[bool, list[Sequence[float]]] = {True: [], False: []}
    for _ in range(pairs):
        for own in random.sample((True, False), 2):
            found[own].append(ours() if own else theirs())
    medians = []
    for i, name in enumerate(names):
        mine, other = ([values[i] for values in found[own]] for own in (True, False))
        ratios = [a / b for a, b in zip(mine, other, strict=True)]
        interval = launch_interval(ratios) if pairs > 1 else None
        bounds = f"[{interval.low:.3f}, {interval.high:.3f}]" if interval else "(one launch)"
        medians.append(float(np.median(ratios)))
        print(
            f"{name}: {np.median(mine):8.5g} of ours, {np.median(other):8.5g} {unit} of theirs, "
            f"ratio {medians[-1]:.3f} {bounds}",
            flush=True,
        )
    return medians


def print_mean(ratios: Sequence[float]) -> None:
    """The geometric mean of the ratios above 0; a time less what is taken off may be none."""
    told = [ratio for ratio in ratios if ratio > 0]
    if told:
        left_out = f" ({len(ratios) - len(told)} left out)" if len(told) < len(ratios) else ""
        print(f"geometric mean of {len(told)} ratios{left_out}: {math.exp(np.mean(np.log(told))):.3f}")


def numbers(text: str) -> Sequence[int]:
    """Numbers with commas between."""
    return [int(word) for word in text.split(",")]
