"""`run --arms` and `compare`, as a new user goes on: the first names the second."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import FIXED, steelyard_of


def test_a_run_of_arms_ends_with_the_command_of_the_verdict(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    steelyard = steelyard_of(capsys, monkeypatch)
    out = tmp_path / "two"
    said = steelyard("run", "self.spin", *FIXED, "--launches", 2, "--arms", "env.NOTHING=1,2", "--out", out)
    assert said.code == 0
    verdict = said.out.splitlines()[-1]
    assert verdict == f"# verdict: steelyard compare {out}"
    told = steelyard(*verdict.removeprefix("# verdict: steelyard ").split())
    assert told.code == 0  # two pairs cannot tell
    assert "NOTHING=2 against NOTHING=1" in told.out
