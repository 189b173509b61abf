"""A slow host of eight, over virtual hosts: an acceptance names it, and none where none is slow.

All ranks take turns on few cores, so what is planted is far above what that does: messages of a host wait for
3 ms either way, or a host has a quarter of the speed.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hosts import Hosts, hosts
from on_hosts import skip_without_hosts, steelyard_on
from steelyard.analyses.hosts.model import host_matrices
from steelyard.judges.accept import Topic, Weighed, accept
from steelyard.results.load import load
from steelyard.results.rows import rows_of

pytestmark = [pytest.mark.ours, pytest.mark.xdist_group("waits")]

_SECONDS = 900.0  # 5 launches of eight ranks, which take some 15 s where nothing else runs
_HOSTS = 8
_MESSAGES = ("mpi.pattern.round_robin", "--param=round=*", "--method=each", "--bytes=8", "--param=count=3")
_MEMORY = ("mem.stream.triad", "--bytes=4Mi", "--param=count=20")
_DELAY_S = 3e-3
_SWITCH_MBITS = 100.0
_TRIES = 3  # of machines without fault one of 100 is said to have one: not three runs in a row

# Three quarters of the time of a process go to a handler of signals.
_SLOW = """
#include <signal.h>
#include <sys/time.h>
#include <time.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
static void burn(int number)
{
    (void)number;
    const double end = now() + 150e-6;
    while (now() < end) { }
}
__attribute__((constructor)) static void begin(void)
{
    struct sigaction action = {.sa_handler = burn, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, 0);
    const struct itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, 0);
}
"""
_WRAPPER = """#!/bin/sh
[ "$(uname -n)" = {host} ] && export LD_PRELOAD={library}
exec "$@"
"""


@pytest.fixture(autouse=True)
def _can_be() -> None:
    skip_without_hosts(hub=True)


def _measured(bed: Hosts, out: Path, *words: str) -> Topic:
    """What an acceptance says of the hosts, which were measured with a rank on each in five launches."""
    asked = ["run", *words, f"--hosts={_HOSTS}", "--ranks-per-host=1", "--launches=5", "--rule=fixed"]
    done = steelyard_on(bed, *asked, "--mpi=openmpi", f"--out={out}", seconds=_SECONDS)
    assert done.code == 0, done.out + done.err
    measured = load(out)
    found = accept(Weighed(measured, rows_of(measured)))
    return next(one for one in found.topics if one.topic == "hosts")


@pytest.mark.further
def test_a_host_whose_messages_are_late_is_named(tmp_path: Path) -> None:
    slow = {(a, b): _DELAY_S for a in range(_HOSTS) for b in range(_HOSTS) if a != b and 2 in (a, b)}
    with hosts(_HOSTS, delays_s=slow) as bed:
        found = _measured(bed, tmp_path / "out", *_MESSAGES)
    assert found.verdict == "not well"
    assert found.evidence.startswith("Host h3 is ")
    assert "; host" not in found.evidence
    (matrix,) = host_matrices(rows_of(load(tmp_path / "out")))
    assert "h3" in [one.host for one in matrix.times if one.is_slower]


@pytest.mark.further
def test_a_host_that_is_slow_itself_is_named(tmp_path: Path) -> None:
    source, library, wrapper = (tmp_path / name for name in ("slow.c", "slow.so", "wrapper"))
    source.write_text(_SLOW)
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source)], check=True)
    wrapper.write_text(_WRAPPER.format(host="h6", library=library))
    wrapper.chmod(0o755)
    with hosts(_HOSTS) as bed:
        found = _measured(bed, tmp_path / "out", *_MEMORY, f"--wrapper={wrapper}")
    assert found.verdict == "not well"
    assert found.evidence.startswith("Host h6 is ")
    assert "; host" not in found.evidence


@pytest.mark.further
def test_of_hosts_that_are_alike_none_is_named(tmp_path: Path) -> None:
    with hosts(_HOSTS, delays_s={}) as bed:
        for number in range(_TRIES):
            found = _measured(bed, tmp_path / f"out{number}", *_MESSAGES)
            if found.verdict != "not well":
                break
    assert found.verdict != "not well", found.evidence


def _topic(bed: Hosts, out: Path, name: str, *words: str) -> Topic:
    """What an acceptance says of a topic, from ten launches."""
    asked = ["run", *words, "--bytes=8", "--rule=fixed", "--launches=10", "--mpi=openmpi", f"--out={out}"]
    done = steelyard_on(bed, *asked, seconds=_SECONDS)
    assert done.code == 0, done.out + done.err
    measured = load(out)
    return next(one for one in accept(Weighed(measured, rows_of(measured))).topics if one.topic == name)


@pytest.mark.further
def test_a_host_that_learns_late_of_messages_is_found_by_those_that_wait(tmp_path: Path) -> None:
    words = ("mpi.pingpong", "--method=open-loop", "--param=rate=100", "--param=count=20")
    late = {(0, 1): _DELAY_S, (1, 0): _DELAY_S}
    with hosts(2, delays_s=late) as bed:
        found = _topic(bed, tmp_path / "out", "waiting", *words, "--hosts=2", "--ranks-per-host=1")
    print(found.verdict, found.evidence)  # pytest -rP
    assert found.verdict == "not well"
    assert "after it was due" in found.evidence


@pytest.mark.further
def test_a_switch_that_others_fill_is_found_by_its_victim(tmp_path: Path) -> None:
    """The hub carries the frames of all hosts, one after another, at the rate of an old switch."""
    words = ("mpi.pattern.victim", "--method=each", "--param=traffic=none,all", "--param=count=64")
    with hosts(4, delays_s={}, hub_mbits=_SWITCH_MBITS) as bed:
        found = _topic(bed, tmp_path / "out", "congestion", *words, "--hosts=4", "--ranks-per-host=1")
    print(found.verdict, found.evidence)  # pytest -rP
    assert found.verdict == "not well"
    assert "mpi.pattern.victim on 4 ranks beside traffic=all" in found.evidence
