"""What links and networks make of a launch, as public reports and the libraries' own texts have it."""

from __future__ import annotations

import time

import pytest

from steelyard.campaign.cause_of_death import LaunchPhase, cannot_begin, cause_of_death, hang_words
from steelyard.records.failure_kinds import remedies

# openucx/ucx issues 6669, 5634 and 8746; open-mpi/ompi issues 4963, 2168 and 6297; mcdc-project/mcdc
# issue 148; pmodels/mpich issue 4599 and Open MPI's help files: the words, with other names.
_MLX5 = """[g07:11:0:11] ib_mlx5_log.c:143  Transport retry count exceeded on mlx5_0:1/IB (synd 0x15 vend 1)
[g07:27251:0:27251] ib_mlx5_log.c:143  DCI QP 0x10f3a wqe[446]: SEND s-e [rqpn 0x32ca rlid 19352] [inl len 20]
==== backtrace (tid:27251) ====
 0  /opt/ucx/lib/libucs.so.0(ucs_handle_error+0x294) [0x7fada58370a4]
steelyard: rank 1: died of signal 6 in point 3 (mpi.alltoall)
"""
_NO_HOST = "ib_mlx5_log.c:132  Remote access error on mlx5_2:1/RoCE (synd 0x13 vend 0x88 hw_synd 0/0)\n"
_STAMPED = (
    "[1668693503.47] [n5:11:0]  ib_mlx5_log.c:177  UCX  ERROR Local protection on mlx5_0:1/IB (synd 0x4 "
)
_OPENIB = """The InfiniBand retry count between two MPI processes has been
exceeded.  "Retry count" is defined in the InfiniBand spec 1.2
(section 12.7.38):

  Local host:   n1
  Local device: mlx4_0
  Peer host:    n2
"""
_TCP = """WARNING: Open MPI failed to TCP connect to a peer MPI process.  This
should not happen.

Your Open MPI job may now hang or fail.

  Local host: n1
  PID:        13325
  Message:    connect() to 172.17.0.1:1024 failed
  Error:      Connection refused (111)
--------------------------------------------------------------------------
"""
_TCP_BEFORE = (
    "[n1][[463,1],0][btl_tcp_endpoint.c:803:mca_btl_tcp_endpoint_complete_connect] "
    "connect() to 10.102.1.194 failed: No route to host (113)\n"
)
_DAEMON = """A process or daemon was unable to complete a TCP connection
to another process:
  Local host:    n2
  Remote host:   n1
This is usually caused by a firewall on the remote host.
ORTE was unable to reliably start one or more daemons.
"""
_HYDRA = (
    '[proxy:0:1@n2] HYDU_sock_connect (sock.c:140): unable to connect from "n2" to "n1" (No route to host)\n'
)
_NO_ADDRESS = "[proxy:0:0@n2] HYDU_sock_connect (sock.c:145): unable to get host address for n1 (4)\n"
_NO_WAY = """At least one pair of MPI processes are unable to reach each other for
MPI communications.

  Process 1 ([[56378,1],0]) is on host: n1
  Process 2 ([[56378,1],1]) is on host: n2
  BTLs attempted: vader self
"""
_UCX_LOCKED = (
    "[1668693503] [n1:11:0] ib_log.c:246 UCX  ERROR mlx5_0: ibv_create_cq() failed: Cannot allocate memory. "
    "Please set max locked memory (ulimit -l) to 'unlimited' (current: 64 kbytes)\n"
)
_OPENIB_LOCKED = """The OpenFabrics (openib) BTL failed to initialize while trying to
allocate some locked memory.  The failure occured
here:

  Local host:    n1
  OMPI source:   btl_openib.c:828
  Function:      opal_free_list_init()
  Device:        mlx4_0
  Memlock limit: 65536
"""


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (_MLX5, "network: mlx5_0:1/IB of g07 gave up: Transport retry count exceeded"),
        (_NO_HOST, "network: mlx5_2:1/RoCE of a host gave up: Remote access error"),
        (_STAMPED, "network: mlx5_0:1/IB of n5 gave up: Local protection"),
        (_OPENIB, "network: mlx4_0 of n1 gave up, and got no answer of n2"),
        (_TCP, "network: n1 cannot connect to 172.17.0.1:1024: Connection refused"),
        (_TCP_BEFORE, "network: n1 cannot connect to 10.102.1.194: No route to host"),
        (_DAEMON, "network: n2 cannot connect to n1, where mpirun waits"),
        (_HYDRA, "network: n2 cannot connect to n1: No route to host"),
        (_NO_ADDRESS, "network: n2 does not know the address of n1"),
        (_NO_WAY, "network: nothing that Open MPI may use leads from n1 to n2 (it tried vader self)"),
        ("PSM2 can't open hfi unit: -1 (err=23)\n", "network: PSM2 can't open hfi unit: -1 (err=23)"),
        ("PSM2 was unable to open an endpoint. Please make", "network: PSM2 was unable to open an endpoint"),
    ],
)
def test_a_network_that_fails(said: str, why: str) -> None:
    assert cause_of_death(1, said, ["/usr/bin/mpirun", "-n", "2"]) == why
    (remedy,) = remedies([why], "hostname")
    assert remedy.startswith("Look at links, firewalls and addresses")


@pytest.mark.parametrize("said", [_HYDRA, _NO_ADDRESS])
def test_a_proxy_that_cannot_connect_is_not_waited_for(said: str) -> None:
    assert cannot_begin(said)


def test_a_hang_has_the_connection_that_was_refused() -> None:
    why = hang_words("60s", ["mpirun"], LaunchPhase.MEASURING, [], _TCP)
    assert why.endswith("; network: n1 cannot connect to 172.17.0.1:1024: Connection refused")


@pytest.mark.parametrize(
    ("said", "what"),
    [
        (_UCX_LOCKED, "ibv_create_cq found too little for the network (64 kbytes in all, ulimit -l)"),
        (_OPENIB_LOCKED, "opal_free_list_init found too little for the network (65536 in all, ulimit -l)"),
    ],
)
def test_locked_memory_is_not_memory(said: str, what: str) -> None:
    why = cause_of_death(1, said, ["mpirun"], phase=LaunchPhase.STARTING)
    assert why == f"start-up: locked memory: {what}"
    assert remedies([why], "hostname")[0].startswith("Raise the limit on locked memory (ulimit -l")
    crashed = f"{said}steelyard: rank 0: died of signal 11 in point 3 (x)"  # measured in spite of it
    assert cause_of_death(139, crashed, ["mpirun"]).startswith("signal 11 (SIGSEGV) on rank 0")


_NO_AGENT = """The value of the MCA parameter "plm_rsh_agent" was set to a path
that could not be found:

  plm_rsh_agent: ssh : rsh

Please either unset the parameter, or check that the path is correct
"""
_SRUN = """The application appears to have been direct launched using "srun",
but OMPI was not built with SLURM's PMI support and therefore cannot
execute. There are several options
"""
_OFI = """Fatal error in PMPI_Init: Other MPI error, error stack:
MPIDI_OFI_mpi_init_hook(1174): OFI addrinfo() failed (ofi_init.h:1174:init_hook:No data available)
"""


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (
            "No components were able to be opened in the pml framework.",
            ("settings", "Open MPI has no component of pml that works here (OMPI_MCA_pml)"),
        ),
        (
            _NO_AGENT,
            (
                "launcher",
                "srun starts ranks on other hosts by ssh : rsh",
                "is not here (OMPI_MCA_plm_rsh_agent)",
            ),
        ),
        (_SRUN, ("launcher", "this Open MPI was not built to be started by srun", "use its mpirun")),
        (_OFI, ("settings", "libfabric has no provider that was asked for (FI_PROVIDER)")),
    ],
)
def test_what_cannot_start_for_want_of_a_part(said: str, words: tuple[str, ...]) -> None:
    why = cause_of_death(1, said, ["srun"], phase=LaunchPhase.STARTING)
    assert why.startswith(f"start-up: {words[0]}: {words[1]}")
    assert why.endswith(words[-1])


_LOUD = 1 << 16  # letters: what is kept of a launch's output
_SECONDS = 2.0  # of CPU: patterns that took the square of a line's length needed 30


@pytest.mark.parametrize(
    "said",
    [
        "a",
        "[",
        "@a",
        "1 ",
        "PSM ",
        "PID 12 RUNNING AT a\n",
        "@a] HYDU_create_process \n",
        "failed to TCP connect to a peer Local host: a\n",
        "retry count between two MPI processes has been exceeded\n",
        "could not access or execute an executable: Executable: a Node\n",
    ],
)
def test_whatever_a_rank_writes_is_searched_at_once(said: str) -> None:
    begin = time.process_time()
    cause_of_death(1, said * (_LOUD // len(said)), ["mpirun"])
    assert time.process_time() - begin < _SECONDS


def test_a_failure_at_the_end_of_a_long_line_is_told() -> None:
    said = f"{'x' * 5000} srun: error: Node failure on n3"
    assert cause_of_death(1, said, ["srun"]) == "node: srun has lost n3"
