"""Cores, hosts and links that differ lastingly, as sound ones do: accepted, unless one is odd beyond that."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loaded import load_benchmark
from made_machine import machine, weighed
from make_records import FakePoint, steady
from steelyard.judges.accept import Acceptance, Topic, accept
from steelyard.records.campaign_file import Placement

TWO_PERCENT = 0.02
P_AND_E = {
    "online": list(range(16)),
    "cpus": [{"number": i, "core": i, "l3": 0, "kind": "P" if i < 8 else "E"} for i in range(16)],
}


def topic(found: Acceptance, name: str) -> Topic:
    """What is said of a topic."""
    return next(one for one in found.topics if one.topic == name)


def triad(*times: float) -> FakePoint:
    """A test of cores that take so many times as long, up to 1 % in each launch."""
    return FakePoint(
        "mem.stream.triad",
        steady(4e6, count=20, spread=0.01),
        bytes=48 << 20,
        ranks=len(times),
        mpi=None,
        reps=1,
        paces=lambda rng: tuple(float(one * np.exp(0.01 * rng.standard_normal())) for one in times),
    )


def cores_of(folder: Path, *times: float, **given: Any) -> Topic:
    """What is said of such cores of one host."""
    options: dict[str, Any] = {"launches": 10, "hosts": lambda rank: "vm", "cpus": str} | given
    return topic(accept(weighed(folder, [triad(*times)], **options)), "cores")


def lasting(count: int, seed: int) -> list[float]:
    """What sound cores take: they differ lastingly by 2 %."""
    return [float(one) for one in np.exp(TWO_PERCENT * np.random.default_rng(seed).standard_normal(count))]


def test_64_cores_that_differ_by_2_percent_are_no_fault(tmp_path: Path) -> None:
    """Before peers were asked what they differ by, 45 of 100 such machines were accused."""
    said = [cores_of(tmp_path / str(seed), *lasting(64, seed), seed=seed) for seed in range(5)]
    assert [one.verdict for one in said] == ["well"] * 5
    for one in said:
        spread = re.search(r"they differ by ([0-9.]+) % \(standard deviation\)\.$", one.evidence)
        assert spread is not None
        assert 1.5 < float(spread[1]) < 2.6  # of 64: four standard errors


@pytest.mark.parametrize("odd", [(9,), (9, 11, 40)], ids=str)
def test_odd_cores_among_64_are_named(tmp_path: Path, odd: tuple[int, ...]) -> None:
    times = [one * (1.25 if core in odd else 1.0) for core, one in enumerate(lasting(64, 1))]
    said = cores_of(tmp_path / "out", *times)
    assert said.verdict == "not well"
    assert all(f"ore {core} is 2" in said.evidence for core in odd)
    assert said.evidence.count("slower in") == len(odd)


def test_a_core_that_three_peers_cannot_call_odd_is_named_and_not_accused(tmp_path: Path) -> None:
    said = cores_of(tmp_path / "out", 1.0, 1.03, 0.97, 1.15)
    assert said.verdict == "cannot tell"
    assert said.evidence.startswith("Core 3 is 1")
    assert "its peers are too few" in said.evidence
    assert "more launches do not tell it" in said.remedy


def test_cores_of_two_kinds_that_nobody_told_of_are_named_as_kinds(tmp_path: Path) -> None:
    said = cores_of(tmp_path / "out", *lasting(8, 1), *(1.4 * one for one in lasting(8, 2)))
    assert said.verdict == "cannot tell"
    assert said.evidence.startswith("The cores are of two kinds: cores 8, 9, 10, 11, 12, 13, 14, 15 are ")
    assert " slower in mem.stream.triad 48 MiB on 16 ranks than the 8 others" in said.evidence
    assert "If they are meant to be alike" in said.remedy


def test_two_cores_of_four_that_are_slow_alike_are_a_kind(tmp_path: Path) -> None:
    said = cores_of(tmp_path / "out", 1.0, 1.3, 1.01, 1.31)
    assert said.verdict == "cannot tell"
    assert said.evidence.startswith("The cores are of two kinds: cores 1, 3 are 3")


def test_cores_of_two_kinds_that_the_kernel_knows_are_each_as_fast_as_their_kind(tmp_path: Path) -> None:
    times = [*lasting(8, 1), *(1.4 * one for one in lasting(8, 2))]
    assert cores_of(tmp_path / "well", *times, topology=P_AND_E).verdict == "well"
    times[12] *= 1.25
    said = cores_of(tmp_path / "odd", *times, topology=P_AND_E)
    assert said.verdict == "not well"
    assert said.evidence.startswith("Core 12 is 2")
    assert said.evidence.endswith("(E cores) than its 7 peers.")


def test_links_that_differ_by_their_distance_are_no_fault(tmp_path: Path) -> None:
    """Pairs of a mesh: near and far ones, some 10 % apart."""
    near = iter(np.linspace(0.95, 1.05, 6))
    points = [
        replace(point, values=steady(400.0 * float(next(near)), count=50, between=0.005))
        if point.placement
        else point
        for point in machine()
    ]
    assert topic(accept(weighed(tmp_path / "out", points, launches=10)), "links").verdict == "well"


def test_links_between_hosts_that_were_placed_are_compared(tmp_path: Path) -> None:
    pairs = [(f"n{a}", f"n{b}") for a in range(5) for b in range(a)]
    points = [
        FakePoint(
            "mpi.pingpong",
            steady(2000.0 * (2.0 if pair == ("n3", "n1") else 1.0), count=50, between=0.01),
            placement=Placement(kind="other-host", hosts=pair),
        )
        for pair in pairs
    ]
    said = topic(accept(weighed(tmp_path / "out", points, launches=10)), "links")
    assert said.verdict == "not well"
    assert said.evidence.startswith("Link n3 – n1 is ")
    assert said.evidence.count("slower") == 1


@pytest.mark.parametrize(("kind", "places"), [("core", 16), ("host", 8), ("link", 10)])
def test_the_power_of_the_verdict(kind: str, places: int) -> None:
    """The core of benchmarks/power_accept.py: nothing of places that differ by 2 %, and an odd one."""
    power = load_benchmark("power_accept")
    sound = dict(power.rates(kind, places, 10, TWO_PERCENT, (), 5))
    assert "not well" not in sound
    assert dict(power.rates(kind, places, 10, 0.0, (1.5,), 3)) == {"right": 3}
