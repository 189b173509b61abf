"""Ways to die, one table: how each is planted on two ranks, and the sentence that tells it.

tests/data/deaths holds what launchers and ranks said, as it was recorded: MPI-WAY.txt, whose last line is the
exit code of the launch. `test_deaths.py` in tests/unit reads all of them. `test_ways_to_die.py` in tests/mpi
plants those that are `run`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.campaign.cause_of_death import LaunchPhase

RECORDINGS = Path(__file__).parents[1] / "data" / "deaths"
START, MIDDLE, CLOSE = LaunchPhase.STARTING, LaunchPhase.MEASURING, LaunchPhase.CLOSING
# With a /dev/shm of 1 MiB, in a mount namespace of its own.
_SMALL = "unshare --mount sh -c 'mount -t tmpfs -o size=1m tmpfs /dev/shm && exec \"$@\"' sh"


@dataclass(frozen=True)
class Way:
    """A way to die: `death` is for tests/data/deaths.c, `env` for the launch, `wrapper` before the engine.

    `why` is the sentence; that of an MPI whose name begins like a key of `others` is another one. LAUNCHER
    stands for the launcher's name, HOST for this host, N for any number, WHO for rank 1 or "a rank": Hydra
    names a rank that it ended itself at times. A way that not all MPIs have names
    those of `only`.
    """

    name: str
    phase: LaunchPhase
    why: str
    death: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    wrapper: str = ""
    others: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    run: bool = False

    def fits(self, why: str, mpi: str) -> bool:
        """Is this the sentence under an MPI, such as `openmpi-4.1.4`?"""
        told = next((words for name, words in self.others.items() if mpi.startswith(name)), self.why)
        pattern = (
            re.escape(told)
            .replace("LAUNCHER", r"[\w.]+")
            .replace("HOST", r"[\w.-]+")
            .replace("PROGRAM", r"\S+")
            .replace("WHO", "(?:rank 1|a rank)")
        )
        return re.fullmatch(re.sub(r"(?<![A-Za-z_])N(?![A-Za-z])", r"\\d+", pattern), why) is not None

    def recordings(self) -> Iterator[Path]:
        """What was recorded of it."""
        yield from sorted(path for path in RECORDINGS.iterdir() if path.stem == f"{mpi_of(path)}-{self.name}")


def mpi_of(recording: Path) -> str:
    """The MPI of a recording."""
    return next(name for name in MPIS if recording.stem.startswith(f"{name}-"))


# Whose recordings there are, with the name of its launcher.
MPIS = {
    "openmpi-4.1.4": "mpiexec.openmpi",
    "mpich-4.0.2": "mpiexec.mpich",
    "mpich-5.0.2": "mpiexec",
    "srun-mpich-4.0.2": "srun",
    "solo": "sh",
}


def _signal(words: str, told: str = "", *, by: str = "rank 1") -> str:
    return f"signal {words} on {by}{told and ': '}{told}"


_PROXY = "launcher: the proxy of LAUNCHER, which starts the ranks, was ended"
_ABORTED = _signal("6 (SIGABRT)", "libfabric:N:core: the provider gave up")
_FULL = "shared memory: rank N found no room in /dev/shm (N of 1048576 bytes were free)"
_NO_FILES = "limit: no file descriptor was left (ulimit -n)"
_EXIT = "rank 1: exit was called with code N by deaths.so"
WAYS = (
    # ---- in the middle of a test case ---------------------------------------------------------------------
    Way("exit", MIDDLE, f"abort: {_EXIT}", "barrier:exit:7", run=True),
    Way("exit-as-a-signal", MIDDLE, f"abort: {_EXIT}", "barrier:exit:137"),
    Way("exit-well", MIDDLE, f"abort: {_EXIT}", "barrier:exit:0"),
    Way("quiet-exit", MIDDLE, f"abort: {_EXIT}", "barrier:quietly:7", run=True),
    Way("abort", MIDDLE, _ABORTED, "barrier:abort", run=True),
    Way(
        "assert",
        MIDDLE,
        _signal("6 (SIGABRT)") + ": steelyard-mpi: deaths.c:N: die_assert: Assertion `number == N' failed.",
        "barrier:assert",
        run=True,
    ),
    Way("segv", MIDDLE, _signal("11 (SIGSEGV)"), "barrier:segv"),
    Way("division", MIDDLE, _signal("8 (SIGFPE)"), "barrier:raise:8"),
    Way("illegal", MIDDLE, _signal("4 (SIGILL)"), "barrier:raise:4", run=True),
    Way(
        "killed",
        MIDDLE,
        _signal("9 (SIGKILL)"),
        "barrier:killed:9",
        others={"mpich": _signal("9 (SIGKILL)", by="WHO")},
        run=True,
    ),
    Way("terminated", MIDDLE, _signal("15 (SIGTERM)"), "barrier:killed:15"),
    Way("processor-time", MIDDLE, _signal("24 (SIGXCPU)"), "barrier:cpu-time:1", run=True),
    Way("forbidden-call", MIDDLE, _signal("31 (SIGSYS)"), "barrier:forbidden", run=True),
    Way(
        "twice-freed",
        MIDDLE,
        _signal("6 (SIGABRT)", "double free or corruption (!prev)"),
        "barrier:twice-freed",
        run=True,
    ),
    Way(
        "exception",
        MIDDLE,
        _signal("6 (SIGABRT)") + ": terminate called after throwing an instance of 'std::length_error' / "
        "what(): a provider's table has grown too long",
        "barrier:terminate",
        run=True,
    ),
    Way(
        "mpi-abort",
        MIDDLE,
        "abort: rank 1 called MPI_Abort with code N",
        "barrier:mpi-abort:139",
        run=True,
    ),
    Way(
        "launcher-killed",
        MIDDLE,
        _PROXY,
        "barrier:launcher:9",
        others={"openmpi": _signal("9 (SIGKILL)", by="LAUNCHER")},
        run=True,
    ),
    Way("full-shm", MIDDLE, _FULL, "barrier:shm:8", only=("openmpi",)),
    Way(
        "full-disk",
        MIDDLE,
        "disk: cannot write records to /dev/full: No space left on device; the records before it are kept",
    ),
    Way("no-thread", MIDDLE, "limit: libgomp could not make a thread: Resource temporarily unavailable"),
    # ---- before anything was measured ---------------------------------------------------------------------
    Way("start-exit", START, f"start-up: {_EXIT}", "init:exit:7", run=True),
    Way("start-segv", START, "start-up: signal 11 (SIGSEGV) on rank 1", "init:segv", run=True),
    Way(
        "load-segv",
        START,
        "start-up: signal 11 (SIGSEGV) on a rank",
        "load:segv",
        others={
            "openmpi": "start-up: signal 11 (SIGSEGV) on rank 1",
            # here it names rank 0, which it ended by SIGKILL; 3 and 10 would make the same number
            "mpich-5": "start-up: signal unknown on several ranks, of which LAUNCHER tells one number (N)",
        },
    ),
    Way("few-files", START, f"start-up: {_NO_FILES}", wrapper="prlimit --nofile=14", run=True),
    Way("very-few-files", START, f"start-up: {_NO_FILES}", wrapper="prlimit --nofile=6"),
    Way(
        "little-memory",
        START,
        "start-up: limit: a thread could not be made: pthread_create() failed: Cannot allocate memory",
        wrapper="prlimit --as=100000000",
        only=("mpich-4",),
    ),
    Way(
        "small-shm",
        START,
        f"start-up: {_FULL}",
        wrapper=_SMALL,
        others={
            "mpich-4": "start-up: shared memory: there is no room in it for the files that "
            "the ranks of a host share"
        },
        only=("mpich",),
    ),
    Way(
        "no-binding",
        START,
        "start-up: binding: HOST does not let LAUNCHER bind ranks to its CPUs: "
        "hwloc_set_cpubind failed, rc = -1",
        "bind:refused",
        others={
            "openmpi": "start-up: binding: HOST does not let LAUNCHER bind ranks to its CPUs: "
            'hwloc_set_cpubind returned "Error" for bitmap "N"'
        },
        only=("openmpi",),  # MPICH 5's proxy says it, too, but ends at times before anybody hears it
    ),
    Way(
        "no-licence",
        START,
        "start-up: LAUNCHER ended with code 130 before anything was measured: "
        "FLEXlm: no licence server at N@lic1",
        wrapper="sh -c 'echo FLEXlm: no licence server at 27000@lic1 >&2; exit 130'",
        run=True,
    ),
    Way(
        "no-engine",
        START,
        "start-up: launcher: /nowhere/engine cannot be run on HOST; --stage brings the engine there",
        wrapper="/nowhere/engine",
        others={
            "srun": "start-up: launcher: /nowhere/engine cannot be run on a host; "
            "--stage brings the engine there"
        },
    ),
    Way(
        "not-executable",
        START,
        "start-up: launcher: PROGRAM cannot be run: Permission denied",
        wrapper="DATA/text",
        others={
            "openmpi": "start-up: launcher: PROGRAM cannot be run on HOST; --stage brings the engine there"
        },
    ),
    Way(
        "another-processor",
        START,
        "start-up: launcher: PROGRAM cannot be run: Exec format error",
        wrapper="DATA/program",
        only=("openmpi",),
    ),
    Way(
        "no-library",
        START,
        "start-up: launcher: PROGRAM cannot be run on a host: libgone.so: cannot open shared object file: "
        "No such file or directory; install the MPI on all hosts",
        wrapper="DATA/nolib",
    ),
    Way(
        "unknown-pml",
        START,
        "start-up: settings: Open MPI has no component 'bogus' of pml (OMPI_MCA_pml)",
        env={"OMPI_MCA_pml": "bogus"},
        only=("openmpi",),
        run=True,
    ),
    Way(
        "unknown-btl",
        START,
        "start-up: settings: Open MPI has no component 'bogus' of btl (OMPI_MCA_btl)",
        env={"OMPI_MCA_btl": "bogus"},
        only=("openmpi",),
    ),
    Way(
        "unknown-transport",
        START,
        "start-up: settings: UCX has no transport 'bogus' (UCX_TLS); it has cma, mm, posix, self, "
        "shm, sm, sysv, tcp",
        env={"UCX_TLS": "bogus"},
        only=("mpich",),
    ),
    Way(
        "bad-variable",
        START,
        "start-up: settings: Invalid character a in MPIR_CVAR_CH4_NUM_VCIS",
        env={"MPIR_CVAR_CH4_NUM_VCIS": "abc"},
        only=("mpich-4",),
    ),
    # ---- after the last test case -------------------------------------------------------------------------
    Way("end-exit", CLOSE, f"closing: {_EXIT}", "finalize:exit:9", run=True),
    Way("end-segv", CLOSE, "closing: signal 11 (SIGSEGV) on rank 1", "finalize:segv", run=True),
    Way("end-abort", CLOSE, f"closing: {_ABORTED}", "finalize:abort"),
)
