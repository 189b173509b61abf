"""Find why a launch died or hangs: from the output of its ranks and its launcher, and from /proc."""

from __future__ import annotations

import platform
import re
import signal
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from steelyard.base.foreign import shortened
from steelyard.records.schema import Launch, Place
from steelyard.system.process import process_state

_CRASH = re.compile(r"steelyard: rank (\d+): died of signal (\d+)")
_SENTENCE = re.compile(r"steelyard: rank (\d+): (.+)")
_OTHER_LAUNCHER = "unsupported PMI version"  # MPICH 5 in MPI_Init, under the mpiexec of Open MPI
# Launchers' messages about ranks that signals ended: Open MPI names the first one, Hydra its pid. Intel's
# Hydra names all that did not leave by themselves, also those that it then killed.
_BY_RANK = re.compile(r"process rank (?P<rank>\d+) with PID \d+ on node \S+ exited on signal (?P<signal>\d+)")
_BY_RANKS = re.compile(r"RANK (?P<rank>\d+) PID \d+ RUNNING AT \S+\s+=\s+KILLED BY SIGNAL: (?P<signal>\d+)")
# Launchers' messages about a lost host. Hydra's is a failed assertion in its source.
_LOST = (
    re.compile(
        r"lost communication with a remote daemon.*?Remote daemon:[^\n]* on node (?P<host>\S+)", re.DOTALL
    ),
    re.compile(r"Node failure on (?P<host>\S+)"),
    re.compile(r"STEP \S+ ON (?P<host>\S+) CANCELLED [^\n]*DUE TO NODE FAILURE"),
    re.compile(r"lost communication with a remote daemon"),
    re.compile(r"control_cb \([^)]*\): assert \(!closed\) failed"),
)
# Launchers' messages about a program that is missing on a host, or may not be run. Open MPI's exit code then
# is that of a signal, 132.
_MISSING = (
    re.compile(
        r"could not access\s+or execute an executable:.*?Executable: (?P<path>\S+)\s+Node: (?P<host>\S+)",
        re.DOTALL,
    ),
    re.compile(r"@(?P<host>[^\s\]]+)\] HYDU_create_process .*?execvp error on file (?P<path>\S+)"),
    re.compile(r"slurmstepd: error: execve\(\): (?P<path>\S+): "),
)
# Messages of Open MPI and PRRTE if a host does not start their daemon; the message of ssh stands before.
_UNREACHED = re.compile(r"(?:ORTE|PRTE) was unable to reliably start one or more daemons")
# Last messages of ssh on a host that it cannot reach or enter. MPICH then waits forever, and says nothing.
_SSH = re.compile(
    r"^(?:ssh: .+|Host key verification failed\.|\S+@\S+: Permission denied \(.+\)\.)\r?$", re.MULTILINE
)
# The loader's message about a missing library.
_NO_LIBRARY = re.compile(r"^(?P<path>\S+): error while loading shared libraries: (?P<what>.+)$", re.MULTILINE)
# Slurm's messages when it ends our job: a launch that died then says nothing about its test case.
_JOB_ENDS = re.compile(
    r"Unable to create step for job \d+: (?:Job/step already completing or completed|Expired or invalid job)"
    r"|(?:STEP|JOB) \S+ ON \S+ CANCELLED AT [^\n]*DUE TO (?:TIME LIMIT|PREEMPTION|JOB REQUEUE)"
    r"|JOB \S+ ON \S+ CANCELLED AT "
)
_STARVED = re.compile(r"oom[_-]kill", re.IGNORECASE)  # as Slurm says it
_BY_PID = re.compile(r"PID (\d+) RUNNING AT (?:.|\n)*?EXIT STRING: .*\(signal (\d+)\)")
# Libraries' messages before they end a launch: MPICH and Intel give the cause, Open MPI does not. The exit
# code is then any number.
_FATAL = re.compile(
    r"^Abort\(\d+\)[^\n]*?: (?P<what>Fatal error in [^\n]+?)(?:, error stack)?:?\n"
    r"(?P<stack>(?:(?!Abort)\S+\(\d+\)\.*:[^\n]*\n?)*)",
    re.MULTILINE,
)
_ABORTED = re.compile(r"^Abort\(\d+\)|MPI_ABORT was invoked|MPI_ERRORS_ARE_FATAL", re.MULTILINE)
_SHELL = 128  # plus its number: the exit code of a shell whose child was ended by a signal
_QUOTED_LINES, _QUOTED_LETTERS = 3, 300
# States of a process that cannot continue by itself; None: there is no such process.
_HELD = {"T": "is suspended", "t": "is held by a debugger", None: "is gone", "Z": "is gone"}


def hang_words(silent: str, command: Sequence[str], launch: Launch | None) -> str:
    """Explain why the watchdog ended a launch that had written nothing for `silent`, such as `60s`.

    `hang: ...; rank 1 (pid 4711) is suspended`: ranks of this host that cannot continue are named.
    """
    if launch is None:
        return f"hang: {Path(command[0]).name} had not begun to measure after {silent}, ended by the watchdog"
    here = platform.node()
    held = [
        f"; rank {place.rank} (pid {place.pid}) {_HELD[state]}"
        for place in launch.places
        if place.host == here and place.pid > 0 and (state := process_state(place.pid)) in _HELD
    ]
    return f"hang: no record for {silent}, ended by the watchdog{''.join(held)}"


def job_ends(said: str) -> bool:
    """Does a launcher say that the batch system ends the whole job, at its time limit or by a cancel?"""
    return _JOB_ENDS.search(said) is not None


def unreached(said: str) -> str | None:
    """Find what a launcher says of a host that it cannot reach; None if it says none of it."""
    if ssh := _SSH.search(said):
        return ssh[0]
    daemon = _UNREACHED.search(said)
    return None if daemon is None else said[: daemon.start()]


def cannot_begin(said: str) -> bool:
    """Does a launcher say that a host is not reached, or has no engine? Hydra's other ranks then wait."""
    return bool(unreached(said)) or any(pattern.search(said) for pattern in _MISSING)


def hung_by_itself(why: str | None) -> bool:
    """Did a point hang by itself, and not because somebody suspended or ended a rank?"""
    return why is not None and why.startswith("hang") and "; rank" not in why


def cause_of_death(
    code: int,
    said: str,
    command: Sequence[str],
    places: Sequence[Place] = (),
    *,
    began: bool = True,
    starved: bool = False,
) -> str:
    """Find why a launch died, from its exit code (negative: a signal) and the output of its ranks and its
    launcher.

    `places` are those of its ranks, as far as it wrote them; `began`: it measured, and died within a point;
    `starved`: the kernel of this host ended processes for lack of memory meanwhile.
    """
    when = "" if began else "start-up: "
    if lost := next((match for pattern in _LOST if (match := pattern.search(said))), None):
        host = shortened(lost["host"], _QUOTED_LETTERS) if lost.groupdict() else "a host"
        return f"{when}node: {Path(command[0]).name} has lost {host}"
    if missing := next((match for pattern in _MISSING if (match := pattern.search(said))), None):
        path, host = (
            shortened(missing.groupdict().get(key) or "a host", _QUOTED_LETTERS) for key in ("path", "host")
        )
        return f"{when}launcher: {path} cannot be run on {host}; --stage brings the engine there"
    if began and _UNREACHED.search(said):  # what started the daemon has ended, as ssh does with its host
        return f"node: {Path(command[0]).name} has lost a host"
    if not began and (told := unreached(said)):
        return f"{when}node: {Path(command[0]).name} cannot reach a host{_quoted(told)}"
    if library := _NO_LIBRARY.search(said):
        path, what = (shortened(library[key], _QUOTED_LETTERS) for key in ("path", "what"))
        return f"{when}launcher: {path} cannot be run on a host: {what}; install the MPI on all hosts"
    if killed := _killed(code, said, command, places):
        number, who = killed
        if number == signal.SIGKILL and (starved or _STARVED.search(said)):
            return f"{when}memory: the kernel ended {who}, for there was none left"
        return f"{when}signal {number} ({_name(number)}) on {who}"
    if sentence := _SENTENCE.search(said):
        return f"{when or 'abort: '}rank {sentence[1]}: {shortened(sentence[2], _QUOTED_LETTERS)}"
    if _OTHER_LAUNCHER in said:
        return (
            f"{when}'{command[0]}' belongs to another MPI than the library that this engine found; "
            "use the mpiexec of that library"
        )
    if fatal := _FATAL.search(said):
        last = fatal["stack"].strip().rpartition("\n")[2].partition(":")[2].strip()
        text = f"{fatal['what']}: {last}" if last else fatal["what"]
        return f"{when or 'abort: '}{shortened(text, _QUOTED_LETTERS)}"
    if not began:
        ended = f"{Path(command[0]).name} ended with code {code}"
        return f"start-up: {ended} before anything was measured{_quoted(said)}"
    return f"abort: the launch ended with code {code} in the middle of the test case"


def _killed(code: int, said: str, command: Sequence[str], places: Sequence[Place]) -> tuple[int, str] | None:
    """Find the signal that ended the launch, and its first victim; None if no signal is known.

    Hydra takes the exit code of an abort for a signal, too.
    """
    if died := _CRASH.search(said):
        return int(died[2]), f"rank {died[1]}"
    if died := _BY_RANK.search(said):
        return int(died["signal"]), f"rank {died['rank']}"
    if all_died := {int(died["rank"]): int(died["signal"]) for died in _BY_RANKS.finditer(said)}:
        return _killed_first(all_died, {place.rank for place in places})
    if _ABORTED.search(said):
        return None
    if died := _BY_PID.search(said):
        rank = next((place.rank for place in places if place.pid == int(died[1])), None)
        return int(died[2]), "a rank" if rank is None else f"rank {rank}"
    if code < 0:
        return -code, "rank 0" if _is_lone(command) else Path(command[0]).name
    if code > _SHELL and code - _SHELL in set(signal.Signals):
        return code - _SHELL, "a rank"
    return None


def _killed_first(died: Mapping[int, int], ranks: Collection[int]) -> tuple[int, str] | None:
    """The signal and the rank that others were killed for by SIGKILL; None where one left by itself."""
    for rank, number in died.items():
        if number != signal.SIGKILL:
            return number, f"rank {rank}"
    if set(ranks) - died.keys():
        return None
    return signal.SIGKILL, f"rank {next(iter(died))}" if len(died) == 1 else "a rank"


def _is_lone(command: Sequence[str]) -> bool:
    """Is the command rank 0 itself, without launcher and keeper?"""
    return len(command) > 1 and command[1] == "run" and "--ranks" not in command


def _name(number: int) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else "unknown"


def _quoted(said: str) -> str:
    """Quote a launcher's message without its rules and frames: `: no such host: mars`."""
    lines = [line.strip(" =-*\t") for line in said.splitlines()]
    told = " / ".join([line for line in lines if line][:_QUOTED_LINES])
    return f": {shortened(told, _QUOTED_LETTERS)}" if told else ": it said nothing"
