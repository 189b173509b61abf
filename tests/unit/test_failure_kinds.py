"""What helps against each kind of failure, and the exit code of launches that did not end well."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from steelyard.cli.run import UNCLOSED, finish
from steelyard.records.failure_kinds import remedies


@pytest.mark.parametrize(
    ("why", "remedy"),
    [
        ("hang: no record for 60s, ended by the watchdog", "try another MPI"),
        ("hang: no record for 60s, ended by the watchdog; rank 1 (pid 7) is suspended", "kill -CONT"),
        ("hang: no record for 20s, ended by the watchdog; h2 cannot be reached: No route", "lost host"),
        (
            "hang: no record for 8s, ended by the watchdog, and no rank of h2 answers",
            "Look at that host and its network",
        ),
        ("start-up: shared memory: rank 0 found no room in /dev/shm", "Give /dev/shm room"),
        ("start-up: memory: none was left", "smaller messages"),
        ("node: mpiexec has lost h2", "out of the allocation"),
        ("start-up: node: mpiexec cannot reach a host: Host key verification failed.", "'ssh HOST true'"),
        ("start-up: node: mpiexec cannot reach a host: me@h2: Permission denied (publickey).", "without a"),
        ("start-up: launcher: /c/steelyard-mpi cannot be run: Exec format error", "one kind of processor"),
        ("start-up: node: mpiexec has lost a host, or its proxy there was ended", "a folder that all hosts"),
        ("limit: no file descriptor was left (ulimit -n)", "ulimit -n"),
        ("start-up: limit: libgomp could not make a thread", "fewer threads"),
        ("start-up: settings: Open MPI has no component 'x' of pml", "unset"),
        ("start-up: binding: vm does not let mpiexec bind ranks to its CPUs: x", "--placement unbound"),
        ("start-up: sh ended with code 130 before anything was measured: no licence", "licence server"),
        ("start-up: mpiexec ended with code 1 before anything was measured: bad", "mpiexec -n 2 hostname"),
        ("start-up: rank 0: exit was called with code 1 by mca_ess_pmi.so", "OMPI_MCA_"),
        ("start-up: rank 0: cannot read the points in /o/.points: No such file", "the host of rank 0 sees"),
        ("signal 4 (SIGILL) on rank 1", "another processor"),
        ("start-up: signal 24 (SIGXCPU) on rank 1", "ulimit -t"),
    ],
)
def test_the_advice_fits_the_cause(why: str, remedy: str) -> None:
    (found,) = remedies([why, why], "mpiexec -n 2 hostname")
    assert remedy in found


@pytest.mark.parametrize("why", ["signal 11 (SIGSEGV) on rank 0", "abort: rank 1: no clock X; see Y"])
def test_nothing_is_advised_where_nothing_is_known(why: str) -> None:
    assert remedies([why], "hostname") == []


def test_a_launch_that_did_not_end_well_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    finish({"ok"}, Path("out"))
    with pytest.raises(typer.Exit) as end:
        finish({"ok", UNCLOSED}, Path("out"))
    assert end.value.exit_code == 3
    assert "did not end well" in capsys.readouterr().err
