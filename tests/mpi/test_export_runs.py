"""`run --like osu_latency --to osu` in place of osu_latency, and the same of its folder by `export`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commands import Steelyard, steelyard_of
from steelyard.engines.mpi import find_mpis

pytestmark = pytest.mark.xdist_group("waits")


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    if not find_mpis():
        pytest.skip("no MPI here")
    return steelyard_of(capsys, monkeypatch)


_FEW = ("--rule", "fixed", "--param", "count=4", "--launches", "2", "--bytes", "4,8", "-n", "2")


@pytest.mark.parametrize(
    ("like", "to", "pattern"),
    [
        ("osu_latency", "osu", r"^8\s+(\d+\.\d\d)\s+Pass$"),
        ("osu_allreduce", "osu-full", r"^8\s+(\d+\.\d\d)\s+\d+\.\d\d\s+\d+\.\d\d\s+\d+$"),
        ("osu_bw", "osu-plain", r"^8\s+(\d+\.\d\d)$"),
        ("PingPong", "imb", r"^\s+8\s+\d+\s+(\d+\.\d\d)\s+\d+\.\d\d$"),
        ("Exchange", "imb", r"^\s+8\s+\d+(?:\s+\d+\.\d\d){3}\s+(\d+\.\d\d)$"),
        ("netpipe", "netpipe", r"^ {8}8(?:\s+\d+\.\d{3}){3}\s+(\d+\.\d\d)$"),
    ],
)
def test_a_run_prints_what_the_test_prints(
    steelyard: Steelyard, tmp_path: Path, like: str, to: str, pattern: str
) -> None:
    said = steelyard("run", "--like", like, *_FEW, "--oversubscribe", "--to", to, "--out", tmp_path / "o")
    assert said.code == 0
    (value,) = re.findall(pattern, said.out, re.MULTILINE)
    assert float(value) >= 0  # two decimals: a rate of 8 bytes on a busy machine may be 0.00
    numbers = [line for line in said.out.splitlines() if re.match(r"\s*\d", line)]
    assert len(numbers) == 2
    assert all(line in numbers or not line or line.lstrip().startswith("#") for line in said.out.splitlines())
    assert "results: " in said.err
    again = steelyard("export", tmp_path / "o", "--to", to, "--out", tmp_path / "text")
    assert (again.code, again.out) == (0, "")
    assert (tmp_path / "text").read_text() == said.out
