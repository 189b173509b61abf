"""What launchers, libraries and the system say when a launch dies, and what that means: a table.

Its rows are tried in their order. They were recorded of Open MPI 4.1.4, MPICH 4.0.2 and 5.0.2, Intel MPI
2021.18, Slurm 22.05, glibc 2.36 and libgomp 12, or stand so in their sources; tests/unit/test_deaths.py has
the recordings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from steelyard.campaign.last_words import quoted_word


class Cause(Struct, frozen=True):
    """A pattern, the kind of failure that it tells (records/failure_kinds.py), and the sentence.

    The sentence may name the pattern's groups and `launcher`; a group that found nothing is "a host".
    """

    kind: str
    said: re.Pattern[str]
    sentence: str
    at_once: bool = False  # nothing begins to measure any more, even if the launcher goes on
    spans: bool = False  # says this only in a launch over several hosts

    def fits(self, *, starting: bool, spans: bool) -> bool:
        """May it be the cause of a launch that has not measured yet, or that spans several hosts?

        What was asked for is a mere warning in a launch that then measures.
        """
        return (starting or self.kind not in ("settings", "binding")) and (spans or not self.spans)


def _row(kind: str, said: str, sentence: str, *, at_once: bool = False, spans: bool = False) -> Cause:
    return Cause(kind, re.compile(said, re.MULTILINE), sentence, at_once, spans)


CAUSES = (
    # ---- what ran out -------------------------------------------------------------------------------------
    _row(
        "limit",
        r"Too many open files|cannot open shared object file: Error 24",
        "no file descriptor was left (ulimit -n)",
    ),
    _row(
        "shared memory",
        r"steelyard: rank (?P<rank>\d+): died of signal 7 in point [^\n]*, "
        r"/dev/shm has (?P<left>\d{1,6}) of (?P<all>\d+) bytes free",
        "rank {rank} found no room in /dev/shm ({left} of {all} bytes were free)",
    ),
    _row(
        "shared memory",
        r"not enough space for [^\n]*(?:/dev/shm|shared[- ]memory)|/dev/shm\S*[^\n]*No space left|"
        r"Not enough memory to write [^\n]*/dev/shm",
        "there is no room in it for the files that the ranks of a host share",
    ),
    _row(
        "disk",
        r"^(?:steelyard: rank \d+: )?(?P<what>[^\n]*(?:No space left on device|Disk quota exceeded)[^\n]*)",
        "{what}",
    ),
    _row(
        "disk",
        r"PMIX ERROR: OUT-OF-RESOURCE in file \S*dstore",
        "PMIx found no room for the files of a launch (TMPDIR)",
        at_once=True,
    ),
    _row(
        "disk",
        r"call to mkdir was unable to create the desired directory:"
        r"\s+Directory: *(?P<path>\S+)\s+Error: *(?P<what>[^\n]+)",
        "{path} cannot be made (TMPDIR): {what}",
        at_once=True,
    ),
    _row("limit", r"Thread creation failed: (?P<what>[^\n]+)", "libgomp could not make a thread: {what}"),
    _row(
        "limit",
        r"(?P<what>OMP: Error #3[45]: [^\n]+|pthread_create\(\) failed: [^\n]+|"
        r"pmix_progress_thread_start failed|"
        r"System unable to allocate necessary resources for OMP thread[^\n]*)",
        "a thread could not be made: {what}",
        at_once=True,
    ),
    _row("limit", r"(?P<what>rank \d+: (?:extra )?thread \d+ could not be made: [^\n]+)", "{what}"),
    _row(
        "limit",
        r"(?P<what>[^\n]*(?:fork|clone|rank \d+ of \d+ cannot be started)[^\n]*"
        r"Resource temporarily unavailable)",
        "a process could not be made: {what}",
    ),
    _row(
        "memory",
        r"(?P<what>[^\n]*(?:Cannot allocate memory|std::bad_alloc|[Oo]ut of memory)[^\n]*)",
        "none was left: {what}",
    ),
    # ---- ranks that may not be bound: their proxy then ends ------------------------------------------------
    _row(
        "binding",
        r"tried to bind a new process, but something went wrong(?:.|\n)*?Local host: +(?P<host>\S+)"
        r"(?:.|\n)*?Error message: +(?P<what>[^\n]+)",
        "{host} does not let {launcher} bind ranks to its CPUs: {what}",
        at_once=True,
    ),
    _row(
        "binding",
        r"@(?P<host>[^\s\]]+)\] HYDT_topo_hwloc_bind [^\n]*?: (?P<what>hwloc_set_\w+ failed[^\n]*)",
        "{host} does not let {launcher} bind ranks to its CPUs: {what}",
        at_once=True,
    ),
    # ---- hosts that are lost ------------------------------------------------------------------------------
    _row(
        "node",
        r"lost communication with a remote daemon(?:.|\n)*?Remote daemon:[^\n]* on node (?P<host>\S+)",
        "{launcher} has lost {host}",
    ),
    _row("node", r"Node failure on (?P<host>\S+)", "{launcher} has lost {host}"),
    _row(
        "node",
        r"STEP \S+ ON (?P<host>\S+) CANCELLED [^\n]*DUE TO NODE FAILURE",
        "{launcher} has lost {host}",
    ),
    _row("node", r"lost communication with a remote daemon", "{launcher} has lost a host"),
    _row(
        "node",
        r"control_cb \([^)]*\): assert \(!closed\) failed",
        "{launcher} has lost a host, or its proxy there was ended",
        spans=True,
    ),
    _row(
        "launcher",
        r"control_cb \([^)]*\): assert \(!closed\) failed",
        "the proxy of {launcher}, which starts the ranks, was ended",
    ),
    _row(
        "launcher",
        r"^\[(?:mpiexec|proxy)[^\]]*\] (?P<where>\w+) \([^)]*\): assert \((?P<what>.*)\) failed",
        "an assertion of {launcher} failed: {where}, {what}",
    ),
    # ---- a program that does not start --------------------------------------------------------------------
    _row(
        "launcher",
        r"Application name: +(?P<path>\S+)\s+Error: +(?P<what>Exec format error|Permission denied)",
        "{path} cannot be run: {what}",
        at_once=True,
    ),
    _row(
        "launcher",
        r"execvp error on file (?P<path>\S+) \((?P<what>Exec format error|Permission denied)\)"
        r"|slurmstepd\S*: error: execve\(\): (?P<path2>\S+): (?P<what2>Exec format error|Permission denied)",
        "{path}{path2} cannot be run: {what}{what2}",
        at_once=True,
    ),
    _row(
        "launcher",
        r"could not access\s+or execute an executable:"
        r"(?:.|\n)*?Executable: (?P<path>\S+)\s+Node: (?P<host>\S+)",
        "{path} cannot be run on {host}; --stage brings the engine there",
        at_once=True,
    ),
    _row(
        "launcher",
        r"@(?P<host>[^\s\]]+)\] +(?:\[[^\]]*\] +)?HYDU_create_process "
        r"(?:.|\n)*?execvp error on file (?P<path>\S+)",
        "{path} cannot be run on {host}; --stage brings the engine there",
        at_once=True,
    ),
    _row(
        "launcher",
        r"slurmstepd\S*: error: execve\(\): (?P<path>\S+): ",
        "{path} cannot be run on a host; --stage brings the engine there",
        at_once=True,
    ),
    _row(
        "launcher",
        r"^(?P<path>\S+): error while loading shared libraries: (?P<what>.+)$",
        "{path} cannot be run on a host: {what}; install the MPI on all hosts",
    ),
    _row(
        "launcher",
        r"^(?P<path>\S+): (?:symbol lookup error: (?P<what>.+)|(?P<what2>\S+: version `\S+' not found.*))$",
        "{path} finds another library than it was built with: {what}{what2}",
    ),
    # ---- what was asked for -------------------------------------------------------------------------------
    _row(
        "settings",
        r"requested component was not found"
        r"(?:.|\n)*?Framework: +(?P<framework>\S+)\s+Component: +(?P<name>\S+)",
        "Open MPI has no component '{name}' of {framework} (OMPI_MCA_{framework})",
    ),
    _row(
        "settings",
        r"transport '(?P<name>[^'\n]*)' is not available, (?:please )?use one or more of: (?P<all>[^\n]*)",
        "UCX has no transport '{name}' (UCX_TLS); it has {all}",
    ),
    _row(
        "settings",
        r"Unable to parse environment variable \([^\n]*?(?P<name>MPIR_CVAR_\w+)",
        "MPICH cannot parse the value of {name}",
    ),
    _row("settings", r"(?P<what>Invalid character \S+ in (?P<name>MPIR_CVAR_\w+))", "{what}"),
    _row(
        "settings",
        r"no (?:provider|fabric)[^\n]*(?:FI_PROVIDER|found)|OFI [^\n]*getinfo[^\n]*No data available",
        "libfabric has no provider that was asked for (FI_PROVIDER)",
    ),
    _row(
        "binding",
        r"(?P<what>[^\n]*(?:[Uu]nable|failed) to (?:set |perform )?bind[^\n]*|"
        r"[^\n]*tried to bind a new process[^\n]*|[^\n]*CPU binding outside of job step allocation[^\n]*)",
        "{launcher} could not bind the ranks: {what}",
    ),
    _row(
        "settings",
        r"(?P<what>There are not enough slots available[^\n]*|"
        r"[^\n]*more\s+processes than cpus on a resource)",
        "{launcher} could not place the ranks: {what}",
    ),
    _row(
        "launcher",
        r"unsupported PMI version",  # MPICH 5 in MPI_Init, under the mpiexec of Open MPI
        "'{launcher_path}' belongs to another MPI than the library that this engine found; "
        "use the mpiexec of that library",
    ),
)
# A rank that called exit() by itself, as the engine tells it.
EXIT = _row(
    "abort",
    r"steelyard: rank (?P<rank>\d+): exit was called with code (?P<code>-?\d+)(?P<by> by \S+)? in point",
    "rank {rank}: exit was called with code {code}{by}",
    at_once=True,
)
# Messages of Open MPI and PRRTE if a host does not start their daemon; the message of ssh stands before.
UNREACHED = re.compile(r"(?:ORTE|PRTE) was unable to reliably start one or more daemons")
# Last messages of ssh on a host that it cannot reach or enter. MPICH then waits forever, and says nothing.
SSH = re.compile(
    r"^(?:ssh: .+|Host key verification failed\.|\S+@\S+: Permission denied \(.+\)\.|"
    r"(?:kex_exchange_identification|client_loop|Connection (?:closed|reset) by|Timeout, server|"
    r"Read from remote host) ?.+)\r?$",
    re.MULTILINE,
)


def known_cause(
    said: str, command: Sequence[str], *, starting: bool, spans: bool, rows: Sequence[Cause] = CAUSES
) -> str | None:
    """Find the first row that what was said fits: `limit: no file descriptor was left (ulimit -n)`.

    `starting`: the launch has not measured yet; `spans`: it is over several hosts.
    """
    for row in rows:
        if row.fits(starting=starting, spans=spans) and (found := row.said.search(said)):
            return f"{row.kind}: {_sentence(row, found.groupdict(), command)}"
    return None


def _sentence(row: Cause, groups: Mapping[str, str | None], command: Sequence[str]) -> str:
    words = {name: "" if text is None else quoted_word(text) for name, text in groups.items()}
    if "by" in groups:
        words["by"] = groups["by"] or ""
    return row.sentence.format(
        **{"host": "a host", **words}, launcher=Path(command[0]).name, launcher_path=command[0]
    )


def ends_at_once(said: str) -> bool:
    """Does what was said so far mean that a launch never begins to measure?"""
    return any(row.at_once and row.said.search(said) for row in (*CAUSES, EXIT))
