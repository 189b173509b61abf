"""The plan for very many hosts: what it takes is known at once, and grows as it must."""

from __future__ import annotations

import pytest

from bounds import bounded
from commands import Steelyard, steelyard_of
from steelyard.engines.mpi import find_mpis

_COUNTS = (10, 100, 1000, 10_000)
_SECONDS, _MEMORY = 5.0, 500 << 20


@pytest.fixture(name="steelyard")
def _steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    return steelyard_of(capsys, monkeypatch)


@pytest.mark.parametrize("name", ["hosts", "acceptance"])
def test_what_a_plan_takes_on_up_to_ten_thousand_hosts(steelyard: Steelyard, name: str) -> None:
    mpi = f"--mpi={find_mpis()[0].name}"
    hosts = f"--hosts={','.join(map(str, _COUNTS))}"
    with bounded(_SECONDS, _MEMORY):
        said = steelyard("plan", "show", name, mpi, hosts, "--ranks-per-host=1", "--json")
    assert said.code == 0, said.err
    jobs = {
        job["hosts"]: job for job in said.document["plan"]["jobs"] if "mpi.pattern.round_robin" in job["ops"]
    }
    assert sorted(jobs) == list(_COUNTS)
    small, *large = (jobs[count] for count in _COUNTS)
    assert {job["test_cases"] for job in large} == {large[0]["test_cases"]}  # sixteen rounds of however many
    assert small["test_cases"] < large[0]["test_cases"]
    if name == "hosts":  # an acceptance has collectives of all ranks, too
        assert {job["seconds"] for job in large} == {large[0]["seconds"]}
    assert [job["memory"] for job in large] == sorted({job["memory"] for job in large})
    assert large[-1]["memory"] < _MEMORY
