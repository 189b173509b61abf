"""Results folders of planted times, as engines would have recorded them, and what commands say of them."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/helpers"))

import numpy as np
from coverage_derived import Floats

from made_stamps import TICK_NS
from make_records import BEGAN_NS, FakePoint, write_job
from record_heads import MACHINE
from steelyard.cli.main import main
from steelyard.records.campaign_file import CampaignFile, PlannedPoint, write_campaign

MINUTE_NS = 60_000_000_000
SECOND_NS = 1_000_000_000
FACTOR = "env.ARM"  # of folders with arms
SAMPLES = 32  # of a launch, where its median alone matters
INSIDE = 0.01  # scatter of these


@dataclass(frozen=True, slots=True)
class Case:
    """A test case: `samples[i]` are the values of launch i, in ns."""

    samples: Sequence[Floats]
    op: str = "mpi.bcast"
    size: int = 8
    ranks: int = 2
    arm: str | None = None


def around(
    rng: np.random.Generator, logs: Floats, base: float = 1000.0, count: int = SAMPLES
) -> list[Floats]:
    """Make samples of launches whose medians have these logarithms, shape (n,), in units of `base` ns."""
    scatter = INSIDE * rng.standard_normal((len(logs), count))
    return list(base * np.exp(np.asarray(logs)[:, None] + scatter))


def write_planted(
    folder: Path,
    cases: Sequence[Case],
    *,
    began_ns: Sequence[int] = (),
    hosts: Sequence[str] = (),
    looks: Sequence[int] = (),
    plan: dict[str, Any] | None = None,
    tick_ns: float = TICK_NS,
) -> Path:
    """Write the folder of a campaign; launch i began at `began_ns[i]` and was on `hosts[i]`.

    Without begins, launches are ten seconds apart, the second arm of each a second after the first. `looks`
    are the numbers of launches at which the folder was looked at before it grew. The clock ticks every
    `tick_ns`; a sample is REPS operations.
    """
    (folder / "records").mkdir(parents=True)
    rng = np.random.default_rng(1)
    arms = list(dict.fromkeys(case.arm for case in cases))
    points = tuple(
        PlannedPoint(
            point=number,
            op=case.op,
            bytes=case.size,
            ranks=case.ranks,
            mpi="mpich-4.0.2",
            method="batch",
            rule="median",
            arm=case.arm,
            env={} if case.arm is None else {FACTOR.removeprefix("env."): case.arm},
        )
        for number, case in enumerate(cases)
    )
    for launch in range(len(cases[0].samples)):
        at = began_ns[launch] if began_ns else BEGAN_NS + 10 * launch * SECOND_NS
        for k, arm in enumerate(arms):
            for ranks in dict.fromkeys(case.ranks for case in cases):
                members = [
                    (number, _recorded(case, launch))
                    for number, case in enumerate(cases)
                    if (case.arm, case.ranks) == (arm, ranks)
                ]
                name = f"l{launch + 1:02d}-mpich-4.0.2-n{ranks}{f'-{arm}' if arm else ''}"
                write_job(
                    folder / "records" / f"{name}.jsonl",
                    rng,
                    launch + 1,
                    members,
                    hosts=lambda _, host=hosts[launch] if hosts else "vm": host,  # type: ignore[misc]
                    began_ns=at + k * SECOND_NS - (launch + 1) * MINUTE_NS,
                    tick_ns=tick_ns,
                )
    named = [arm for arm in arms if arm is not None]
    plan = {"launches": len(cases[0].samples)} | ({"arms": {FACTOR: named}} if named else {}) | (plan or {})
    write_campaign(
        folder,
        CampaignFile(name="planted", seed=1, plan=plan, points=points, machine=MACHINE, looks=tuple(looks)),
    )
    return folder


def _recorded(case: Case, launch: int) -> FakePoint:
    values = np.asarray(case.samples[launch])
    return FakePoint(case.op, lambda _, __: values, bytes=case.size, ranks=case.ranks)


def two_arms(rng: np.random.Generator, arms: Floats) -> list[Case]:
    """Make the test cases of two arms, from logarithms of their launch medians, shape (2, n, P)."""
    return [
        Case(around(rng, arms[k][:, column]), size=8 * (column + 1), arm="ab"[k])
        for column in range(arms.shape[2])
        for k in range(2)
    ]


@dataclass(frozen=True, slots=True)
class Said:
    """What a command said: its exit code, and stdout and stderr."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Stdout as JSON."""
        return json.loads(self.out)


def steelyard(*words: str | Path) -> Said:
    """Run a command line in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    before, sys.argv = sys.argv, ["steelyard", *map(str, words)]
    code: Any = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.argv = before
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return Said(int(code), *texts)
