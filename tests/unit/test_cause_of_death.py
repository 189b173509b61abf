"""Why a launch died, by what ranks and launchers said, as they were recorded or as their sources have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.campaign.cause_of_death import LaunchPhase, cannot_begin, cause_of_death, job_ends
from steelyard.records.failure_kinds import remedies
from steelyard.records.parts import Place
from steelyard.system.kernel_settings import oom_kills

_ORTE = """--------------------------------------------------------------------------
ORTE has lost communication with a remote daemon.

  HNP daemon   : [[35190,0],0] on node h1
  Remote daemon: [[35190,0],1] on node h2

This is usually due to either a failure of the TCP network
"""
_KILLED = "mpirun noticed that process rank 1 with PID 0 on node h2 exited on signal 9 (Killed)."


# Open MPI 4.1.4, MPICH 4.0.2 and 5.0.2 as they said it; Slurm's as its source has it.
_NO_PROGRAM = """mpiexec was unable to launch the specified application as it could not access
or execute an executable:

Executable: /c/steelyard-mpi
Node: h2

while attempting to start process rank 1.
"""
_EXECVP = "execvp error on file /c/steelyard-mpi (No such file or directory)"


@pytest.mark.parametrize(
    ("code", "said", "host"),
    [
        (132, _NO_PROGRAM, "h2"),
        (255, f"[proxy:0:1@h2] HYDU_create_process (utils/launch/launch.c:73): {_EXECVP}", "h2"),
        (255, f"[proxy:1@h2] HYDU_create_process (/m/launch.c:73): {_EXECVP}", "h2"),
        (183, _NO_PROGRAM.replace("or execute an", "an"), "h2"),  # PRRTE 3
        (2, "slurmstepd: error: execve(): /c/steelyard-mpi: No such file or directory", "a host"),
    ],
)
def test_an_engine_that_a_host_does_not_see(code: int, said: str, host: str) -> None:
    why = cause_of_death(code, said, ["mpiexec"], phase=LaunchPhase.STARTING)
    assert why == (
        f"start-up: launcher: /c/steelyard-mpi cannot be run on {host}; --stage brings the engine there"
    )


@pytest.mark.parametrize(
    ("code", "said", "starved", "why"),
    [
        (205, _ORTE, False, "node: mpiexec has lost h2"),
        (1, "srun: error: Node failure on n3\n", False, "node: mpiexec has lost n3"),
        (
            1,
            "slurmstepd: error: *** STEP 7.0 ON n2 CANCELLED AT 2026-11-24 DUE TO NODE FAILURE",
            False,
            "node: mpiexec has lost n2",
        ),
        (
            7,
            "[mpiexec@h1] control_cb (pm/pmiserv/pmiserv_cb.c:206): assert (!closed) failed\n",
            False,
            "launcher: the proxy of mpiexec, which starts the ranks, was ended",
        ),
        (137, _KILLED, False, "signal 9 (SIGKILL) on rank 1"),
        (137, _KILLED, True, "memory: the kernel ended rank 1, for there was none left"),
        (
            137,
            "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.\n" + _KILLED,
            False,
            "memory: the kernel ended rank 1, for there was none left",
        ),
        (139, "steelyard: rank 0: died of signal 11 in point 3 (x)", True, "signal 11 (SIGSEGV) on rank 0"),
        (1, "", True, "abort: the launch ended with code 1 in the middle of the test case: it said nothing"),
    ],
)
def test_the_cause_is_told_by_what_was_said(code: int, said: str, starved: bool, why: str) -> None:
    assert cause_of_death(code, said, ["/usr/bin/mpiexec", "-n", "2"], starved=starved) == why


_LITTLE = "16 MiB of 16 MiB free in /dev/shm for 2 ranks"


@pytest.mark.parametrize(
    ("number", "phase", "why"),
    [
        (11, LaunchPhase.STARTING, f"start-up: shared memory: signal 11 (SIGSEGV) on rank 1, with {_LITTLE}"),
        (7, LaunchPhase.STARTING, f"start-up: shared memory: signal 7 (SIGBUS) on rank 1, with {_LITTLE}"),
        (8, LaunchPhase.STARTING, "start-up: signal 8 (SIGFPE) on rank 1"),
        (11, LaunchPhase.MEASURING, "signal 11 (SIGSEGV) on rank 1"),
    ],
)
def test_a_library_that_found_little_shared_memory(number: int, phase: LaunchPhase, why: str) -> None:
    said = f"steelyard: rank 1: died of signal {number} in no point\n"
    assert cause_of_death(139, said, ["mpiexec"], phase=phase, little_shm=_LITTLE) == why


# MPICH 5.0.2, MPI_Accumulate_c of 2^31 + 9 bytes on a window of MPI_Win_create.
_ASSERTION = """Assertion failed in file /mpich/src/mpid/ch4/src/mpidig_rma_callbacks.c at line 1903: p_data
/opt/lib/libmpi_abi.so.1(+0x3f57c3) [0x7f9e0c5f57c3]
/opt/lib/libmpi_abi.so.1(MPI_Recv+0x426) [0x7ff5abd58376]
/opt/bin/steelyard-mpi(+0xe98df) [0x55a695a3e8df]
Abort(1) on node 1: Internal error
steelyard: rank 1: exit was called with code 1 by libmpi_abi.so.1 in point 0 (mpi.accumulate_c)
"""


def test_a_library_that_leaves_is_quoted() -> None:
    assert cause_of_death(1, _ASSERTION, ["mpiexec"]) == (
        "abort: rank 1: exit was called with code 1 by libmpi_abi.so.1: Assertion failed in file "
        "/mpich/src/mpid/ch4/src/mpidig_rma_callbacks.c at line 1903: p_data"
    )


# Open MPI 4.1.4 with a TMPDIR that is full, and one that is read-only.
_FULL = """[vm:19977] PMIX ERROR: OUT-OF-RESOURCE in file ../../common/dstore/dstore_segment.c at line 208
steelyard: rank 0: exit was called with code 1 by libmpi.so.40 in point none
"""
_READ_ONLY = """--------------------------------------------------------------------------
A call to mkdir was unable to create the desired directory:

  Directory: /mnt/ompi.vm
  Error:     Read-only file system

Please check to ensure you have adequate permissions to perform
the desired operation.
"""


@pytest.mark.parametrize(
    ("said", "why", "remedy"),
    [
        (
            _FULL,
            "disk: PMIx found no room for the files of a launch (TMPDIR)",
            "Set TMPDIR to a folder that has",
        ),
        (
            _READ_ONLY,
            "disk: /mnt/ompi.vm cannot be made (TMPDIR): Read-only file system",
            "Set TMPDIR to a folder that has",
        ),
        (
            _READ_ONLY.replace("Read-only file system", "File exists"),
            "disk: /mnt/ompi.vm cannot be made (TMPDIR): File exists",
            "Another launch made that folder in the same moment",
        ),
    ],
)
def test_a_folder_for_sessions_that_takes_nothing(said: str, why: str, remedy: str) -> None:
    assert cause_of_death(1, said, ["mpiexec"], phase=LaunchPhase.STARTING) == f"start-up: {why}"
    (found,) = remedies([why], "")
    assert found.startswith(remedy)


@pytest.mark.parametrize("what", ["launcher", "RMK"])
def test_what_hydra_does_not_know_is_named(what: str) -> None:
    said = f"[mpiexec@vm] HYDT_bsci_init (tools/bootstrap/src/bsci_init.c:156): unrecognized {what}: x\n"
    why = f"start-up: settings: mpiexec has no {what} 'x' (HYDRA_LAUNCHER, HYDRA_RMK)"
    assert cause_of_death(255, said, ["mpiexec"], phase=LaunchPhase.STARTING) == why


# MPICH 4.0.2 with MPIR_CVAR_ASYNC_PROGRESS=perhaps, and a stack whose last line is in no table.
_STACK = "steelyard: rank 0: MPI_T_init_thread failed: Other MPI error, error stack:\n"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (
            "MPIR_T_cvar_init(7751): Unable to parse environment variable (MPIR_CVAR_ASYNC_PROGRESS)",
            "settings: MPICH cannot parse the value of MPIR_CVAR_ASYNC_PROGRESS",
        ),
        (  # as the engine passes it on, cut
            "MPIR_T_cvar_init(7751): Unable to parse environment variable (MP; see MPIR_CVAR_ASYNC_PROGRESS",
            "settings: MPICH cannot parse the value of MPIR_CVAR_ASYNC_PROGRESS",
        ),
        (
            "MPIR_T_pvar_init(12): no room",
            f"{_STACK[11:-1]}; the library said: MPIR_T_pvar_init(12): no room",
        ),
    ],
)
def test_the_stack_of_an_error_is_told(line: str, why: str) -> None:
    assert cause_of_death(1, _STACK + line, ["mpiexec"], phase=LaunchPhase.STARTING) == f"start-up: {why}"


def test_a_quoted_line_has_no_runs_of_spaces() -> None:
    why = cause_of_death(1, "  Error:     no such    thing\n", ["mpiexec"], phase=LaunchPhase.STARTING)
    assert why.endswith(": Error: no such thing")


def test_a_node_that_is_lost_before_anything_began() -> None:
    why = cause_of_death(205, _ORTE, ["mpiexec"], phase=LaunchPhase.STARTING)
    assert why == "start-up: node: mpiexec has lost h2"


_ABORT = """[0] ucp_context.c:1643 UCX  ERROR no usable transports/devices
Abort(1721744){}: Fatal error in internal_Init_thread: Internal MPI error!, error stack:
internal_Init_thread(42279): MPI_Init_thread(argc=(nil), argv=(nil)) failed
MPID_Init(549).............:\x20
MPIDI_UCX_init_local(240)..:  ucx function failed (No such device)
Abort(135939472): Fatal error in internal_Init_thread: Internal MPI error!, error stack:
=   PID 30775 RUNNING AT vm
=   EXIT CODE: 143
YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Hangup (signal 1)
"""
_WHAT = "Fatal error in internal_Init_thread: Internal MPI error!: ucx function failed (No such device)"


@pytest.mark.parametrize("where", ["", " on node 0 (rank 0 in comm 0)"])
@pytest.mark.parametrize(("began", "kind"), [(False, "start-up"), (True, "abort")])
def test_the_exit_code_of_an_abort_is_no_signal(where: str, began: bool, kind: str) -> None:
    """144 as MPICH 5.0.2 ended with it, the lowest byte of its error; Hydra 4 makes a signal of it, too."""
    why = cause_of_death(
        144, _ABORT.format(where), ["mpiexec"], phase=LaunchPhase.MEASURING if began else LaunchPhase.STARTING
    )
    assert why == f"{kind}: {_WHAT}"


def test_an_abort_with_the_number_of_a_signal() -> None:
    said = "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode 139.\n"
    assert cause_of_death(139, said, ["mpiexec"]) == "abort: rank 1 called MPI_Abort with code 139"


# A rank that its own exit ended is not in this list.
_LEFT = "abort: the launch ended with code 255 in the middle of the test case: it said nothing"


def _intel(**signals: int) -> str:
    """As Intel MPI 2021.18 said it of its ranks, `r0=9`."""
    told = "= BAD TERMINATION\n=   RANK {} PID 7 RUNNING AT vm\n=   KILLED BY SIGNAL: {} (X)\n"
    return "".join(told.format(rank[1:], number) for rank, number in signals.items())


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (_intel(r0=9, r1=15), "signal 15 (SIGTERM) on rank 1"),
        (_intel(r0=11, r1=9), "signal 11 (SIGSEGV) on rank 0"),
        (_intel(r0=9, r1=9), "signal 9 (SIGKILL) on a rank"),
        (_intel(r0=9), _LEFT),
    ],
)
def test_ranks_that_are_killed_for_another_are_not_blamed(said: str, why: str) -> None:
    places = [
        Place(rank=rank, host="vm", cpus="0", cpu=0, clock_cost_ns=1, clock_tick_ns=1) for rank in (0, 1)
    ]
    assert cause_of_death(255, said, ["mpiexec"], places) == why


_UNREACHED = """ssh: Could not resolve hostname h9
--------------------------------------------------------------------------
ORTE was unable to reliably start one or more daemons.
This usually is caused by:

* not finding the required libraries and/or binaries on
"""
_NO_LIBRARY = """/c/engine: error while loading shared libraries: lib.so: too short
--------------------------------------------------------------------------
Primary job  terminated normally, but 1 process returned
"""


@pytest.mark.parametrize(
    ("code", "said", "why"),
    [
        (
            255,
            _UNREACHED,
            "node: mpiexec cannot reach a host: ssh: Could not resolve hostname h9",
        ),
        (
            0,  # MPICH, which was ended
            "ssh: connect to host h9 port 22: No route to host\r\n[mpiexec@h1] HYDU_sock_write: write error",
            "node: mpiexec cannot reach a host: ssh: connect to host h9 port 22: No route to host",
        ),
        (
            255,
            f"me@h9: Permission denied (publickey).\n{_UNREACHED[36:]}",
            "node: mpiexec cannot reach a host: me@h9: Permission denied (publickey).",
        ),
        (
            255,  # an sshd that does not answer
            "Connection timed out during banner exchange\r\nConnection to 10.0.0.2 port 22 timed out\r\n",
            "node: mpiexec cannot reach a host: Connection timed out during banner exchange",
        ),
        (
            127,
            _NO_LIBRARY,
            "launcher: /c/engine cannot be run on a host: lib.so: too short; install the MPI on all hosts",
        ),
    ],
)
def test_a_host_on_which_nothing_can_start(code: int, said: str, why: str) -> None:
    """What matters alone, as Open MPI 4.1.4 and the loader said it."""
    assert cause_of_death(code, said, ["mpiexec"], phase=LaunchPhase.STARTING) == f"start-up: {why}"


_ELSEWHERE = "install the MPI on all hosts, in the same place"
_VERSION = "/lib/libfabric.so.1: version `FABRIC_1.9' not found (required by /lib/l.so)"


# dash on a host of another processor; bash, dash without the MPI; the loader with another library.
@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            '/c/steelyard-mpi: 1: Syntax error: word unexpected (expecting ")")',
            "/c/steelyard-mpi cannot be run on a host: Exec format error",
        ),
        (
            f"bash: line 1: /usr/bin/orted: No such file or directory\n{_UNREACHED[36:]}",
            f"mpiexec cannot start /usr/bin/orted on a host: No such file or directory; {_ELSEWHERE}",
        ),
        (
            "sh: 1: /m/bin/hydra_pmi_proxy: not found",
            f"mpiexec cannot start /m/bin/hydra_pmi_proxy on a host: not found; {_ELSEWHERE}",
        ),
        (
            f"/c/steelyard-mpi: {_VERSION}",
            f"/c/steelyard-mpi finds another library than it was built with: {_VERSION}",
        ),
    ],
)
def test_a_host_that_is_not_like_the_first_is_not_waited_for(said: str, why: str) -> None:
    assert cannot_begin(said)
    assert cause_of_death(0, said, ["mpiexec"], phase=LaunchPhase.STARTING) == f"start-up: launcher: {why}"


def test_a_host_that_was_reached_is_lost() -> None:
    """Open MPI 4.1.4 says the same of a daemon whose ssh ends in the middle of a launch."""
    why = cause_of_death(1, _UNREACHED, ["mpiexec"])
    assert why == "node: mpiexec has lost a host: ssh: Could not resolve hostname h9"


def test_over_several_hosts_a_proxy_may_be_lost_with_its_host() -> None:
    said = "[mpiexec@h1] control_cb (pm/pmiserv/pmiserv_cb.c:206): assert (!closed) failed\n"
    why = cause_of_death(7, said, ["mpiexec"], spans=True)
    assert why == "node: mpiexec has lost a host, or its proxy there was ended"


@pytest.mark.parametrize(
    ("said", "ends"),
    [  # as Slurm 22.05 said it to srun, and in the log of a job
        ("srun: error: Unable to create step for job 1: Job/step already completing or completed", True),
        (
            "slurmstepd: error: *** STEP 1.17 ON n1 CANCELLED AT 2026-11-24T04:04:33 DUE TO TIME LIMIT ***",
            True,
        ),
        ("slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT 2026-11-24T04:04:33 ***", True),
        (
            "slurmstepd: error: *** STEP 1.0 ON n1 CANCELLED AT 2026-11-24T04:04:33 ***",
            False,
        ),  # a rank failed
        ("srun: error: Unable to create step for job 1: Requested nodes are busy", False),
        (_KILLED, False),
    ],
)
def test_a_job_that_ends_is_no_failure_of_a_test_case(said: str, ends: bool) -> None:
    assert job_ends(said) == ends


def test_hostile_names_of_hosts() -> None:
    why = cause_of_death(1, "srun: error: Node failure on \x1b[2Jn3\n", ["srun"])
    assert "\x1b" not in why


def test_processes_that_the_kernel_ended(tmp_path: Path) -> None:
    assert oom_kills(tmp_path) == 0
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/vmstat").write_text("nr_free_pages 12\noom_kill 3\n")
    assert oom_kills(tmp_path) == 3


def test_ranks_without_their_threads_are_not_waited_for() -> None:
    """Hydra 4 does, and says nothing more."""
    said = "[1764111055.9] [vm:1:0] UCX ERROR pthread_create() failed: Resource temporarily unavailable"
    assert cannot_begin(said)
    assert not cannot_begin(
        "[1764111055.9] [vm:1:0] parser.c:2036 UCX WARN unused environment variable: UCX_X"
    )
    why = cause_of_death(-15, said, ["/usr/bin/mpiexec.mpich"], phase=LaunchPhase.STARTING)
    assert why.startswith("start-up: limit: a thread could not be made: pthread_create() failed: ")
