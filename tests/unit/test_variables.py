"""Variables that do not hold: what a launch says of them, and what its library has in their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from steelyard.launch.given_variables import complaints, given_variables
from steelyard.plan.settings import unread, unread_notes
from steelyard.records.job_file import JobFile
from steelyard.records.parts import Clock, JobMpi, LaunchMpi
from steelyard.records.schema import Job, Launch, Watch
from steelyard.results.variables import not_taken, of_others

UNKNOWN = "the library has no variable of this name, or did not load what has it"


def test_what_is_given_to_libraries() -> None:
    environ = {"HOME": "/root", "UCX_TLS": "tcp", "OMP_PLACES": "cores", "COMPONENTS": "OMP_X"}
    assert given_variables(environ, {"FI_PROVIDER": "tcp", "OMP_PLACES": "-"}, unset=("OMP_PLACES",)) == (
        "FI_PROVIDER",
        "UCX_TLS",
    )


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("libgomp: Invalid value for environment variable OMP_WAIT_POLICY", {"OMP_WAIT_POLICY"}),
        ("libgomp: Stack size less than minimum of 16k", {"OMP_STACKSIZE"}),
        (
            "[1.2] [vm:1:0] ucp_context.c:1014 UCX  WARN  network device 'nic9' is not available, use x",
            {"UCX_NET_DEVICES"},
        ),
        ('OMP: Warning #42: OMP_WAIT_POLICY: "x" is an invalid value; ignored.', {"OMP_WAIT_POLICY"}),
        (
            "[1.2] [vm:1:0] parser.c:2036 UCX  WARN  unused environment variable: UCX_TLSS (maybe: UCX_TLS?)",
            {"UCX_TLSS"},
        ),
        ("  OMP_WAIT_POLICY = 'PASSIVE'", set()),
        ("  [host] OMP_WAIT_POLICY = 'PASSIVE'", set()),
        ("   KMP_BLOCKTIME=200", set()),
        ("libgomp: Invalid value for environment variable OMP_DYNAMIC", set()),  # was not given
        ("MY_OMP_WAIT_POLICY is mine", set()),
    ],
)
def test_what_a_launch_says_of_variables(line: str, named: set[str]) -> None:
    given = ("KMP_BLOCKTIME", "OMP_STACKSIZE", "OMP_WAIT_POLICY", "UCX_NET_DEVICES", "UCX_TLSS")
    assert complaints(given, f"before\n\n{line}\nafter\n") == dict.fromkeys(named, line.strip())


def test_the_first_complaint_counts_and_is_harmless() -> None:
    said = complaints(("OMP_PLACES",), f"\x1b[2J OMP_PLACES {'x' * 300}\nOMP_PLACES again")
    assert said["OMP_PLACES"].startswith("\\x1b[2J OMP_PLACES x")
    assert len(said["OMP_PLACES"]) == 200


def _file(
    *given: str, library: str = "Open MPI v4.1.4", environment: dict[str, str] | None = None, **more: Any
) -> JobFile:
    """A launch under MPI whose user gave those variables; `more` is what the library said of them."""
    watched = more.pop("complaints", {})
    launch = Launch(
        schema=1,
        engine="mpi",
        version="0",
        ranks=2,
        clock=Clock(name="monotonic", cost_ns=1, tick_ns=1),
        places=(),
        mpi=LaunchMpi(library=library, **more),
        environment=environment or {},
    )
    watches = (
        Watch(host="vm", seconds=1, looks=2, cost_ns=1, complaints=watched),
        Watch(host="vm", seconds=1, looks=2, cost_ns=1),
    )
    return JobFile(
        Path("x"), Job(schema=1, job="x", launch=1, ranks=2, given=given), launch, (), False, watches=watches
    )


@pytest.mark.parametrize(
    ("given", "has", "said"),
    [
        ("64k", 65536, None),
        ("0x10", 16, None),
        ("1.5", 1.5, None),
        ("-1", -1, None),
        ("yes", 1, None),
        ("off", 0, None),
        ("true", 0, "the library has 0 in its place"),
        ("64k", 4096, "the library has 4096 in its place"),
        ("z", 0, "the library has 0 in its place"),
        ("binomial", "binomial", None),
        ("6", "binomial", None),  # its number
        ("", 0, None),
    ],
)
def test_the_value_that_the_library_has(given: str, has: float | str, said: str | None) -> None:
    file = _file("OMPI_MCA_x", environment={"OMPI_MCA_x": given}, given={"OMPI_MCA_x": has})
    assert list(not_taken(file)) == ([(f"OMPI_MCA_x={given}", said)] if said else [])


def test_names_that_the_library_does_not_know() -> None:
    """What a launcher set for its ranks was not given by anybody."""
    unknown = ("OMPI_MCA_btl_bogus", "OMPI_MCA_plm_rsh_agent", "OMPI_MCA_shmem_RUNTIME_QUERY_hint")
    given = unknown[:2]
    assert list(not_taken(_file(*given, unknown=unknown))) == [(name, UNKNOWN) for name in given]
    of_launcher_too = _file(*given, unknown=unknown, library="Open MPI v5.0.3")
    assert list(not_taken(of_launcher_too)) == [("OMPI_MCA_btl_bogus", UNKNOWN)]


def test_openmp_and_what_a_launch_said() -> None:
    file = _file(
        "OMP_PROC_BNID",
        "OMP_STACKSIZE",
        "OMP_STACKSIZE_DEV_1",
        environment={"OMP_STACKSIZE": "abc"},
        complaints={"OMP_STACKSIZE": "libgomp: Invalid value"},
    )
    assert list(not_taken(file)) == [
        ("OMP_PROC_BNID", "OpenMP has no variable of this name"),
        ("OMP_STACKSIZE=abc", "libgomp: Invalid value"),
    ]


@pytest.mark.parametrize(
    ("families", "given", "said"),
    [
        (("mpich",), "OMPI_MCA_btl", "Open MPI"),
        (("mpich", "openmpi"), "I_MPI_FABRICS", "Intel MPI"),
        (("openmpi",), "MPIR_CVAR_NOLOCAL", "MPICH and Intel MPI"),
        (("openmpi", "mpich"), "MPIR_CVAR_NOLOCAL", None),
        (("openmpi",), "OMPI_MCA_btl", None),
        (("intel",), "MPIR_CVAR_NOLOCAL", None),
        (("mpich",), "PMIX_MCA_gds", None),  # prterun starts MPICH, too
        (("mpich",), "UCX_TLS", None),
        (("mvapich",), "OMPI_MCA_btl", None),  # who knows what an unknown one reads
        ((None,), "OMPI_MCA_btl", None),  # no MPI, none of whose settings is missed
        (("mpich", None), "OMPI_MCA_btl", "Open MPI"),
    ],
)
def test_variables_of_mpis_that_are_not_measured_are_told(
    families: tuple[str | None, ...], given: str, said: str | None
) -> None:
    files = [
        structs.replace(file, job=structs.replace(file.job, mpi=mpi))
        for family in families
        for file in (_file(given),)
        for mpi in (JobMpi(name=f"{family}-1", family=family, version="1", mpiexec="x") if family else None,)
    ]
    assert of_others(files) == ({} if said is None else {given: said})


def test_variables_of_a_plan_that_no_mpi_reads_are_named() -> None:
    environments = ({"I_MPI_FABRICS": "shm", "UCX_TLS": "tcp"}, {"OMPI_MCA_btl": ("self", "tcp")})
    assert unread(environments, ("openmpi",)) == ("I_MPI_FABRICS",)
    assert unread(environments, ()) == ("I_MPI_FABRICS", "OMPI_MCA_btl")
    assert unread(environments, ("openmpi", "intel")) == ()


def test_variables_that_no_measured_mpi_reads_are_told_once_for_each_that_does() -> None:
    environments = [{"MPIR_CVAR_A": "1", "I_MPI_FABRICS": "shm"}, {"MPIR_CVAR_B": "1", "OMPI_MCA_btl": "tcp"}]
    both = "they are variables of MPICH and Intel MPI, which are not measured"
    assert list(unread_notes(environments, ("openmpi",))) == [
        f"MPIR_CVAR_A and MPIR_CVAR_B are not set: {both}",
        "I_MPI_FABRICS is not set: it is a variable of Intel MPI, which is not measured",
    ]
    many = [{f"MPIR_CVAR_{name}": "1" for name in "ABCD"}]
    assert list(unread_notes(many, ("openmpi",))) == [f"MPIR_CVAR_A and 3 more are not set: {both}"]
