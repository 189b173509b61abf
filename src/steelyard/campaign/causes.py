"""What launchers, libraries and the system say when a launch dies, and what that means: a table.

Its rows are tried in their order. They were recorded of Open MPI 4.1.4, MPICH 4.0.2 and 5.0.2, Intel MPI
2021.18, Slurm 22.05, glibc 2.36 and libgomp 12, or stand so in their sources or in public reports;
tests/unit/test_cause_of_death.py and tests/unit/test_network_failures.py have them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from steelyard.campaign.last_words import quoted_word

_UNSAID = {"host": "a host"}  # what stands for a group that found nothing, or that a pattern has not
_OURS, _ANY = r"^(?P<path>\S*/steelyard-\w+)", r"^(?P<path>\S+)"  # an engine; any program
_WARNINGS = ("settings", "binding", "locked memory")  # of launches that measure in spite of it


class Cause(Struct, frozen=True):
    """A pattern, the kind of failure that it tells (records/failure_kinds.py), and the sentence.

    The sentence may name the pattern's groups and `launcher`; a group that found nothing is "a host".
    """

    kind: str
    said: str
    sentence: str
    at_once: bool = False  # nothing begins to measure any more, even if the launcher goes on
    spans: bool = False  # says this only in a launch over several hosts

    def found_in(self, text: str) -> re.Match[str] | None:
        """Look for what is said; it is compiled when a launch dies, for most end well."""
        return re.search(self.said, text, re.MULTILINE)

    def fits(self, *, starting: bool, spans: bool) -> bool:
        """May it be the cause of a launch that has not measured yet, or that spans several hosts?

        What was asked for is a mere warning in a launch that then measures.
        """
        return (starting or self.kind not in _WARNINGS) and (spans or not self.spans)


def _row(kind: str, said: str, sentence: str, *, at_once: bool = False, spans: bool = False) -> Cause:
    return Cause(kind, said, sentence, at_once, spans)


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
    _row(
        "locked memory",
        r"(?P<call>\w+)\([^)]*\) failed: [^\n]*max locked memory[^\n]*\(current: (?P<now>[^)\n]+)\)"
        r"|allocate some locked memory[^:]*here:\s+Local host: +\S+\s+OMPI source: +\S+\s+"
        r"Function: +(?P<call2>\w+)\(\)\s+Device: +\S+\s+Memlock limit: +(?P<now2>\d+)",
        "{call}{call2} found too little for the network ({now}{now2} in all, ulimit -l)",
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
        r"^(?P<what>(?![^\n]*locked memory)[^\n]*"
        r"(?:Cannot allocate memory|std::bad_alloc|[Oo]ut of memory)[^\n]*)",
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
    # ---- links and networks -------------------------------------------------------------------------------
    _row(
        "network",
        r"^ *(?:\[?(?:[\d.]+\] +\[)?(?P<host>[^\s:\[\]]+):\d+ *:[^\]\n]*\] +)?ib_\w+\.c:\d+ +(?:UCX +\w+ +)?"
        r"(?P<what>[A-Z][^\n]*?) on (?P<device>\w+:\d+/\w+) \(synd ",
        "{device} of {host} gave up: {what}",
    ),
    _row(
        "network",
        r"retry count(?:\s+on a per-peer\s+connection)? between two MPI processes has been\s+exceeded"
        r"(?:.|\n){0,2500}?Local host: +(?P<host>\S+)\s+Local device: +(?P<device>\S+)\s+"
        r"Peer host: +(?P<other>\S+)",
        "{device} of {host} gave up, and got no answer of {other}",
    ),
    _row(
        "network",
        r"failed to TCP connect to a peer[^:]*Local host: +(?P<near>\S+)\s+PID: +\d+\s+Message: +"
        r"connect\(\) to (?P<address>\S+) failed\s+Error: +(?P<what>[^\n]+?)(?: \(\d+\))?$"
        r"|^\[(?P<near2>[^\s\[\],:]+)\]?[^\n]*btl_tcp_endpoint\.c:\d+:\w+\] connect\(\) to "
        r"(?P<address2>\S+) failed: (?P<what2>[^\n(]+)",
        "{near}{near2} cannot connect to {address}{address2}: {what}{what2}",
    ),
    _row(
        "network",
        r"unable to complete a TCP connection\s+to another process:\s+"
        r"Local host: +(?P<host>\S+)\s+Remote host: +(?P<other>\S+)",
        "{host} cannot connect to {other}, where {launcher} waits",
    ),
    _row(
        "network",
        r'unable to connect from "(?P<host>[^"\n]+)" to "(?P<other>[^"\n]+)" \((?P<what>[^)\n]+)\)',
        "{host} cannot connect to {other}: {what}",
        at_once=True,
    ),
    _row(
        "network",
        r"(?:@(?P<host>[^\s\]]+)\] +)?HYDU_sock_connect [^\n]*unable to get host address for (?P<other>\S+)",
        "{host} does not know the address of {other}",
        at_once=True,
    ),
    _row(
        "network",
        r"Process 1 \([^\n]*\) is on host: (?P<host>\S+)\s+Process 2 \([^\n]*\) is on host: (?P<other>\S+)\s+"
        r"BTLs attempted: (?P<all>[^\n]*)",
        "nothing that Open MPI may use leads from {host} to {other} (it tried {all})",
    ),
    _row(
        "network",
        r"(?P<what>PSM[23]?(?: can't open| was unable to open)[^\n]*?(?: unit[^\n]*|\bendpoint))",
        "{what}",
    ),
    # ---- a program that does not start --------------------------------------------------------------------
    _row(
        "launcher",
        r"plm_rsh_agent: (?P<agent>[^\n]+)",
        "{launcher} starts ranks on other hosts by {agent}, which is not here (OMPI_MCA_plm_rsh_agent)",
        at_once=True,
    ),
    _row(
        "launcher",
        r'direct launched using "(?P<program>\w+)",\s+but OMPI was not built with',
        "this Open MPI was not built to be started by {program} (--mpi=list tells what {program} has); "
        "use its mpirun",
        at_once=True,
    ),
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
        r"could not\s+access(?:\s+or\s+execute)?\s+an\s+executable:"
        r"\s+Executable: (?P<path>\S+)\s+Node: (?P<host>\S+)",
        "{path} cannot be run on {host}; --stage brings the engine there",
        at_once=True,
    ),
    _row(
        "launcher",
        r"@(?P<host>[^\s\]]+)\] +(?:\[[^\]]*\] +)?HYDU_create_process "
        r"(?:.|\n){0,300}?execvp error on file (?P<path>\S+)",
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
        rf"{_OURS}: (?:line )?\d+: (?:\S+: )?(?:Syntax error|syntax error|cannot execute binary)",
        "{path} cannot be run on a host: Exec format error",  # a shell tried to read it
        at_once=True,
    ),
    _row(
        "launcher",
        r"^\S+: (?:line )?(?:\d+: )?(?P<path>\S*(?:orted|prted|hydra_\w+_proxy)): "
        r"(?P<what>No such file or directory|command not found|not found|Permission denied)",
        "{launcher} cannot start {path} on a host: {what}; install the MPI on all hosts, in the same place",
        at_once=True,
    ),
    *(
        _row("launcher", rf"{path}: {said}$", sentence, at_once=path == _OURS)
        for said, sentence in (
            (
                r"error while loading shared libraries: (?P<what>.+)",
                "{path} cannot be run on a host: {what}; install the MPI on all hosts",
            ),
            (
                r"(?:symbol lookup error: (?P<what>.+)|(?P<what2>\S+: version `\S+' not found.*))",
                "{path} finds another library than it was built with: {what}{what2}",
            ),
        )
        for path in (_OURS, _ANY)
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
        r"No components were able to be opened in the (?P<framework>\w+) framework",
        "Open MPI has no component of {framework} that works here (OMPI_MCA_{framework})",
    ),
    _row(
        "settings",
        r"transport '(?P<name>[^'\n]*)' is not available, (?:please )?use one or more of: (?P<all>[^\n]*)",
        "UCX has no transport '{name}' (UCX_TLS); it has {all}",
    ),
    _row(
        "settings",
        r"unrecognized (?P<what>launcher|RMK): (?P<name>\S+)",
        "{launcher} has no {what} '{name}' (HYDRA_LAUNCHER, HYDRA_RMK)",
    ),
    _row("settings", r"(?P<what>Invalid character \S+ in (?P<name>MPIR_CVAR_\w+))", "{what}"),
    _row(
        "settings",
        r"Unable to parse environment variable \([^\n]*?(?P<name>MPIR_CVAR_\w+)",
        "MPICH cannot parse the value of {name}",
    ),
    _row(
        "settings",
        r"no (?:provider|fabric)[^\n]*(?:FI_PROVIDER|found)|"
        r"OFI [^\n]*(?:get|addr)info[^\n]*No data available",
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
    r"Connection (?:to \S+ port \d+ )?timed out|"
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
        if row.fits(starting=starting, spans=spans) and (found := row.found_in(said)):
            return f"{row.kind}: {_sentence(row, found.groupdict(), command)}"
    return None


def _sentence(row: Cause, groups: Mapping[str, str | None], command: Sequence[str]) -> str:
    words = {name: quoted_word(text or _UNSAID.get(name, "")) for name, text in groups.items()}
    if "by" in groups:
        words["by"] = groups["by"] or ""
    return row.sentence.format(**(_UNSAID | words), launcher=Path(command[0]).name, launcher_path=command[0])


def ends_at_once(said: str) -> bool:
    """Does what was said so far mean that a launch never begins to measure?"""
    return any(row.at_once and row.found_in(said) for row in (*CAUSES, EXIT))
