"""What a library pays once and what it keeps, in an acceptance: late connections and leaks are named."""

from __future__ import annotations

import shlex
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from macro_rows import row
from made_machine import weighed
from make_records import FakePoint, Series
from steelyard.analyses.object_memory.model import LEAST_FREED
from steelyard.judges.accept import Topic, Weighed, accept
from steelyard.judges.accept.criterion import Candidate, judge
from steelyard.judges.accept.first_use import first_use
from steelyard.judges.accept.library_memory import memory
from steelyard.judges.accept.limits import limit_criteria, read_limits
from steelyard.records.campaign_file import CampaignFile
from steelyard.results.facets import Memory
from steelyard.results.load import Measured

_MS = 1e6
_HOSTS = 8


def _topic(found: Weighed, name: str, reference: Weighed | None = None) -> Topic | None:
    return next((one for one in accept(found, reference).topics if one.topic == name), None)


def _once(median: float, spread: float = 0.05) -> Series:
    """One sample a launch."""

    def draw(rng: np.random.Generator, launch: int) -> NDArray[np.float64]:
        return np.asarray(median * np.exp(spread * rng.standard_normal(1)))

    return draw


def _uses(first: float, second: float, spread: float = 0.05, ranks: int = 2) -> list[FakePoint]:
    return [
        FakePoint(
            "mpi.first.message", _once(ns, spread), ranks=ranks, method="first", reps=1, params={"use": use}
        )
        for use, ns in ((1.0, first), (2.0, second))
    ]


@pytest.mark.parametrize(
    ("first", "second", "spread", "verdict", "said"),
    [
        (0.1 * _MS, 0.01 * _MS, 0.05, "well", "The most that is paid once: mpi.first.message"),
        (5.0 * _MS, 0.01 * _MS, 0.05, "not well", "us then; 3.00 ms are allowed."),
        (
            5.0 * _MS,
            4.9 * _MS,
            0.05,
            "well",
            "The most that is paid once",
        ),  # slow, and not because it is first
        (3.0 * _MS, 0.01 * _MS, 0.5, "cannot tell", "the intervals leave open whether more than 3.00 ms"),
    ],
)
def test_a_connection_that_is_made_late_is_named(
    first: float, second: float, spread: float, verdict: str, said: str, tmp_path: Path
) -> None:
    found = _topic(weighed(tmp_path / "out", _uses(first, second, spread), launches=8), "first use")
    assert found is not None
    assert found.verdict == verdict
    assert said in found.evidence
    assert bool(found.remedy) == (verdict != "well")


@pytest.mark.parametrize(
    ("times", "verdict", "said"),
    [
        # ms of the first message of 8 B, which hardly scatters, and of 64 B
        ([0.6, 1.4, 1.6], "well", "The most that is paid once: mpi.first.message 64 B"),
        ([0.2, 1.5, 5.0], "cannot tell", "mpi.first.message 64 B"),
    ],
)
def test_the_pair_that_is_told_is_the_one_that_decides(times: list[float], verdict: str, said: str) -> None:
    rows = [
        row("mpi.first.message", "a", each, bytes=size, sized=True, method="first", params={"use": use})
        for size, first in ((8, [1.0, 1.0001, 1.0002]), (64, times))
        for use, each in ((1, [ms * _MS for ms in first * 2]), (2, [1e4] * 6))
    ]
    machine = Weighed(Measured(Path("new"), CampaignFile(), (), ()), tuple(rows), "new")
    (found,) = judge((first_use,), Candidate(machine))
    assert found.verdict == verdict
    assert said in found.evidence


def test_few_launches_show_no_late_connection(tmp_path: Path) -> None:
    found = _topic(weighed(tmp_path / "out", _uses(5 * _MS, 0.01 * _MS), launches=4), "first use")
    assert found is not None
    assert found.verdict == "cannot tell"
    assert "4 launches; fewer than 5 show no fault" in found.evidence


def test_without_first_uses_there_is_no_topic(tmp_path: Path) -> None:
    found = weighed(tmp_path / "out", [FakePoint("mpi.bcast", _once(900.0))])
    assert _topic(found, "first use") is None
    assert _topic(found, "memory") is None


def test_a_first_use_without_a_second_has_nothing_to_compare_with(tmp_path: Path) -> None:
    found = _topic(weighed(tmp_path / "out", _uses(1e5, 1e4)[:1]), "first use")
    assert found is not None
    assert found.verdict == "cannot tell"


@pytest.mark.parametrize("late", [None, 5])
def test_a_host_that_answers_its_first_message_late_is_named(late: int | None, tmp_path: Path) -> None:
    points = [
        FakePoint(
            "mpi.first.message",
            _once(1e5 * (6.0 if peer == late else 1.0)),
            ranks=_HOSTS,
            method="first",
            reps=1,
            params={"use": 1.0, "peer": float(peer)},
        )
        for peer in range(1, _HOSTS)
    ]
    seen = weighed(tmp_path / "out", points, hosts=lambda rank: f"node{rank}", cpus=lambda rank: "0")
    found = _topic(seen, "first use")
    assert found is not None
    assert found.verdict == ("well" if late is None else "not well")
    assert late is None or found.evidence.startswith(f"First contact node{late} is ")
    assert _topic(seen, "hosts") is None or late is None


def test_first_uses_that_are_slower_than_in_the_reference_are_named_in_their_topic(tmp_path: Path) -> None:
    before, now = (
        weighed(tmp_path / name, _uses(ns, 1e4), launches=12) for name, ns in (("sound", 1e5), ("new", 2e6))
    )
    found, whole = _topic(now, "first use", before), _topic(now, "reference", before)
    assert found is not None
    assert found.verdict == "not well"
    assert "slower than in sound: mpi.first.message 8 B" in found.evidence
    assert whole is None or whole.verdict != "not well"


def _kept(held: float, left: float, name: str = "new", launches: int = 5) -> Weighed:
    """A folder of one test case that counted communicators, each of them `held` bytes."""
    kept = Memory(
        held_bytes=held,
        held_low=held * 0.99,
        held_high=held * 1.01,
        held_in_launches=tuple(
            held * (0.99, 0.995, 1.0, 1.005, 1.01)[number % 5] for number in range(launches)
        ),
        left_bytes=left,
        left_low=left - 5,
        left_high=left + 5,
        freed=6000,
        resident_bytes=0.0,
    )
    plain = row("mpi.memory.comm_dup", "openmpi-4.1.4", [5e5 + number for number in range(launches)], ranks=2)
    made = msgspec.structs.replace(plain, facets=(*plain.facets, kept))
    return Weighed(Measured(Path(name), CampaignFile(), (), ()), (made,), name)


@pytest.mark.parametrize(
    ("left", "before", "launches", "verdict", "said"),
    [
        (0.0, None, 5, "well", "1 test case left nothing of what was freed"),
        (
            1024.0,
            None,
            5,
            "not well",
            "on 2 ranks leaves 1 KiB (1019 B to 1.005 KiB) of each when it is freed",
        ),
        (1024.0, None, 4, "cannot tell", "fewer than 5 show no fault"),
        (14.0, None, 5, "cannot tell", "leaves of each is not known well enough"),
        (0.0, 8000.0, 5, "well", "left nothing"),
        (0.0, 4000.0, 5, "not well", "on 2 ranks takes 7.812 KiB"),
    ],
)
def test_what_a_library_keeps_is_judged(
    left: float, before: float | None, launches: int, verdict: str, said: str
) -> None:
    reference = None if before is None else _kept(before, 0.0, "sound")
    (found,) = judge((memory,), Candidate(_kept(8000.0, left, launches=launches), reference))
    assert found.verdict == verdict
    assert said in found.evidence


def test_few_launches_are_measured_on_in_their_folder() -> None:
    """Another run, into a folder of its own, gave this one no verdict."""
    (found,) = judge((memory,), Candidate(_kept(8000.0, 14.0, launches=2)))
    assert found.remedy == "Give it more launches, on a quiet machine."


def test_what_is_left_open_is_measured_again_as_it_was() -> None:
    """The same library, ranks, size and setting, with objects enough for a verdict."""
    seen = _kept(8000.0, 14.0)
    sized = msgspec.structs.replace(seen.rows[0], bytes=64, sized=True, env={"UCX_TLS": "tcp"}, hosts=2)
    (found,) = judge((memory,), Candidate(Weighed(seen.measured, (sized,), "new")))
    words = shlex.split(found.remedy.rpartition(": ")[2])
    assert words[:3] == ["steelyard", "run", "mpi.memory.comm_dup"]
    assert [words[words.index(option) + 1] for option in ("--mpi", "--hosts", "-n", "--bytes")] == [
        "openmpi-4.1.4",
        "2",
        "2",
        "64",
    ]
    assert words[-2:] == ["--env", "UCX_TLS=tcp"]
    given = dict(word.split("=") for word in words if "=" in word)
    assert int(given["objects"]) * int(given["count"]) >= LEAST_FREED


@pytest.mark.parametrize(
    ("below", "verdict", "said"),
    [
        ("10KiB", "well", "met: 7.812 KiB"),
        ("7KiB", "not well", "missed: 7.812 KiB (7.637 KiB to 7.988 KiB)"),
        ("8000B", "cannot tell", "neither met nor missed: 7.812 KiB"),
    ],
)
def test_a_sites_limit_of_memory(below: str, verdict: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text(f'[[limit]]\nwhat = "a communicator"\nop = "mpi.memory.comm_dup"\nbelow = "{below}"\n')
    (found,) = judge(limit_criteria(read_limits(path)), Candidate(_kept(8000.0, 0.0)))
    assert found.verdict == verdict
    assert said in found.evidence.lower().replace("kib", "KiB")
    assert found.evidence.endswith(
        f"in mpi.memory.comm_dup on 2 ranks of openmpi-4.1.4; below {below} is asked for."
    )


@pytest.mark.parametrize(("limits", "verdict"), [(1, "not well"), (200, "cannot tell")])
def test_limits_of_memory_share_their_level(limits: int, verdict: str, tmp_path: Path) -> None:
    """Of five launches of 8000 B, an interval of 98 % begins above 7800 B, and one of 99.99 % below."""
    path, asked = tmp_path / "site.toml", 'op = "mpi.memory.comm_dup"\nbelow = "7800B"'
    path.write_text("".join(f'[[limit]]\nwhat = "limit {k}"\n{asked}\n' for k in range(limits)))
    found = judge(limit_criteria(read_limits(path)), Candidate(_kept(8000.0, 0.0)))
    assert {topic.verdict for topic in found} == {verdict}
