"""`run --arms` and `compare`, as a new user goes on: the first names the second."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from commands import TWO_SAMPLES, steelyard_of


def test_a_run_of_arms_ends_with_the_command_of_the_verdict(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    steelyard = steelyard_of(capsys, monkeypatch)
    out = tmp_path / "two"
    said = steelyard(
        "run", "self.spin", *TWO_SAMPLES, "--launches", 2, "--arms", "env.NOTHING=1,2", "--out", out
    )
    assert said.code == 0
    verdict = said.out.splitlines()[-1]
    assert verdict == f"# verdict: steelyard compare {out}"
    told = steelyard(*verdict.removeprefix("# verdict: steelyard ").split())
    assert told.code == 0  # two pairs cannot tell
    assert "NOTHING=2 against NOTHING=1" in told.out


_CPU = min(os.sched_getaffinity(0))


@pytest.mark.parametrize(
    ("op", "arms", "words"),
    [
        ("self.spin", "param.ns=1000,2000", "ns=2000 against ns=1000"),
        ("self.spin", "param.count=5,6", "count=6 against count=5"),  # of the stop rule
        ("self.spin", f"placement={_CPU};unbound", f"unbound against list {_CPU}"),
        ("omp.barrier", "omp.wait_policy=active,passive", "wait_policy=passive against wait_policy=active"),
        ("self.spin", "env.LIBRARY=/opt/a/lib,/opt/b/lib", "LIBRARY=b against LIBRARY=a"),
    ],
)
def test_arms_of_each_factor_are_measured_and_compared(
    op: str,
    arms: str,
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    steelyard = steelyard_of(capsys, monkeypatch)
    out = tmp_path / "arms"
    fixed = ("--rule", "fixed", *(() if "count=" in arms else ("--param", "count=5")))
    said = steelyard("run", op, *fixed, "--launches", 2, "--arms", arms, "--out", out)
    assert said.code == 0, said.err
    told = steelyard("compare", out)
    assert told.code in (0, 1)
    assert words in " ".join(told.out.replace("#", " ").split())
