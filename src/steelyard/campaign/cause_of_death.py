"""Find why a launch died or hangs, from the output of its ranks and its launcher."""

from __future__ import annotations

import re
import signal
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from pathlib import Path

from steelyard.campaign.causes import CAUSES, EXIT, SSH, UNREACHED, ends_at_once, known_cause
from steelyard.campaign.last_words import failures_told, quoted, quoted_word, with_short_lines
from steelyard.records.failure_kinds import CLOSING, STARTING, never_began
from steelyard.records.parts import Place


class LaunchPhase(Enum):
    """How far a launch has come: before its ranks measure, within a test case, after the last one."""

    STARTING = STARTING
    MEASURING = ""
    CLOSING = CLOSING

    @property
    def word(self) -> str:
        """With what the reason begins."""
        return self.value


_CRASH = re.compile(r"steelyard: rank (\d+): died of signal (\d+)")
_SENTENCE = re.compile(r"steelyard: rank (\d+): (?!died of signal|exit was called)(.+)")
# Launchers' messages about ranks that signals ended: Open MPI names the first one, Slurm it or several. Hydra
# names by pid the first rank in the order of ranks, with its wait status, and then one signal: the wait
# statuses of all ranks, combined by a bitwise OR. It may have ended that rank itself. Intel's Hydra names all
# that did not leave by themselves, also those that it then killed.
_BY_RANK = re.compile(
    r"process rank (?P<rank>\d+) with PID \d+ on node \S+ exited on signal (?P<signal>\d+)",
)
_BY_TASK = re.compile(
    r"srun: error: \S+: tasks? (?P<rank>\d+)[\d,-]*: "
    r"(?P<words>[A-Z][A-Za-z]+(?: [A-Za-z]+){0,4})(?: \(core dumped\))?$",
    re.MULTILINE,
)
_BY_RANKS = re.compile(r"RANK (?P<rank>\d+) PID \d+ RUNNING AT \S+\s+=\s+KILLED BY SIGNAL: (?P<signal>\d+)")
_BY_PID = re.compile(
    r"PID (?P<pid>\d+) RUNNING AT [^\n]*\s+=\s+EXIT CODE: (?P<status>\d+)"
    r"(?:.|\n){0,1000}?EXIT STRING: .*\(signal (?P<signal>\d+)\)"
)
_BY_LAUNCHERS = (signal.SIGTERM, signal.SIGKILL)  # with which launchers end the others when a rank has left
_SIGNAL_BITS = 0x7F  # of a wait status
# Libraries that get no memory in /dev/shm die of these: a page that is not there, or an address of none.
_BY_NO_ROOM = (signal.SIGBUS, signal.SIGSEGV)
# Slurm's messages when it ends our job: a launch that died then says nothing about its test case.
_JOB_ENDS = re.compile(
    r"Unable to create step for job \d+: (?:Job/step already completing or completed|Expired or invalid job)"
    r"|(?:STEP|JOB) \S+ ON \S+ CANCELLED AT [^\n]*DUE TO (?:TIME LIMIT|PREEMPTION|JOB REQUEUE)"
    r"|JOB \S+ ON \S+ CANCELLED AT "
)
_STARVED = re.compile(r"oom[_-]kill", re.IGNORECASE)  # as Slurm says it
# Libraries' messages before they end a launch: MPICH and Intel give the cause, Open MPI at times. The exit
# code is then any number.
_FATAL = re.compile(
    r"^Abort\(\d+\)[^\n]*?: (?P<what>Fatal error in [^\n]+?)(?:, error stack)?:?\n"
    r"(?P<stack>(?:(?!Abort)\S+\(\d+\)\.*:[^\n]*\n?)*)",
    re.MULTILINE,
)
_MPI_ABORT = re.compile(
    r"MPI_ABORT was invoked on rank (?P<rank>\d+) in communicator [^\n]*\s+with errorcode (?P<code>-?\d+)\.?"
    r"|^Abort\((?P<code2>-?\d+)\) on node (?P<rank2>\d+) [^\n]*: application called MPI_Abort[^\n]*",
    re.MULTILINE,
)
_ABORTED = re.compile(r"^Abort\(\d+\)|MPI_ABORT was invoked|MPI_ERRORS_ARE_FATAL", re.MULTILINE)
# A hang of which nothing else is known than that, at most what the launch said.
_BY_ITSELF = re.compile(r"hang: [^;(]*(?:\(it said: |$)")
# Texts of libraries for their own codes, which say less than the lines behind them.
_NO_REASON = re.compile(r"MPI_Init_thread failed|error stack:$")


def hang_words(
    silent: str,
    command: Sequence[str],
    phase: LaunchPhase,
    held: Sequence[str],
    said: str,
    *,
    spans: bool = False,
) -> str:
    """Explain why the watchdog ended a launch that had written nothing for `silent`, such as `60s`.

    `hang: ...; rank 1 (pid 4711) is suspended`: what is `held` cannot continue by itself.
    """
    launcher, said = Path(command[0]).name, with_short_lines(said)
    what = {
        LaunchPhase.STARTING: f"{launcher} had not begun to measure after {silent}",
        LaunchPhase.MEASURING: f"no record for {silent}",
        LaunchPhase.CLOSING: f"{launcher} had not ended {silent} after the last record",
    }[phase]
    known = partial(known_cause, said, command, starting=phase is LaunchPhase.STARTING, spans=spans)
    cause = known(rows=(*CAUSES, EXIT))
    told = quoted("\n".join(failures_told(said)))
    more = [f"; {words}" for words in (*held, *([cause] if cause else []))]
    if told and not more:
        more = [f" (it said{told})"]
    when = phase.word if phase is LaunchPhase.CLOSING else ""
    return f"{when}hang: {what}, ended by the watchdog{''.join(more)}"


def job_ends(said: str) -> bool:
    """Does a launcher say that the batch system ends the whole job, at its time limit or by a cancel?"""
    return _JOB_ENDS.search(said) is not None


def cannot_begin(said: str) -> bool:
    """Does what was said so far mean that a launch never begins to measure? Hydra's other ranks then wait."""
    said = with_short_lines(said)
    return SSH.search(said) is not None or UNREACHED.search(said) is not None or ends_at_once(said)


def hung_by_itself(why: str | None) -> bool:
    """Did a point hang by itself, and not because somebody suspended or ended a rank, or it never began?"""
    return why is not None and not never_began(why) and _BY_ITSELF.match(why) is not None


def cause_of_death(
    code: int,
    said: str,
    command: Sequence[str],
    places: Sequence[Place] = (),
    *,
    phase: LaunchPhase = LaunchPhase.MEASURING,
    starved: bool = False,
    spans: bool = False,
    little_shm: str | None = None,
) -> str:
    """Find why a launch died, from its exit code (negative: a signal) and the output of its ranks and its
    launcher.

    `places` are those of its ranks, as far as it wrote them; `phase` is the one in which it died; `starved`:
    the kernel of this host ended processes for lack of memory meanwhile; `spans`: it was over several hosts.
    `little_shm`: what was free in /dev/shm, if that is little.
    """
    launcher, said = Path(command[0]).name, with_short_lines(said)
    known = partial(known_cause, said, command, starting=phase is LaunchPhase.STARTING, spans=spans)
    if cause := known():
        return phase.word + cause
    if unreached := _unreached(said, launcher, phase):
        return phase.word + unreached
    if killed := _killed(code, said, command, places):
        number, who = killed
        if number is None:
            return f"{phase.word}{who}{quoted(said)}"
        if number == signal.SIGKILL and (starved or _STARVED.search(said)):
            return f"{phase.word}memory: the kernel ended {who}, for there was none left"
        words = f"signal {number} ({_name(number)}) on {who}"
        if little_shm and number in _BY_NO_ROOM and phase is LaunchPhase.STARTING:
            return f"{phase.word}shared memory: {words}, with {little_shm}{quoted(said)}"
        return f"{phase.word}{words}{quoted(said)}"
    if (told := _told(said)) is None and (exited := known(rows=(EXIT,))):
        told = exited + quoted("\n".join(failures_told(said)))
    if told:
        return f"{phase.word or 'abort: '}{told.removeprefix('abort: ')}"
    when = {
        LaunchPhase.STARTING: f"{launcher} ended with code {code} before anything was measured",
        LaunchPhase.MEASURING: f"abort: the launch ended with code {code} in the middle of the test case",
        LaunchPhase.CLOSING: f"the launch ended with code {code} after its last test case",
    }[phase]
    return f"{phase.word}{when}{quoted(said) or ': it said nothing'}"


def _unreached(said: str, launcher: str, phase: LaunchPhase) -> str | None:
    """Explain that a host cannot be reached, or no longer, by ssh's last words; None if nobody says so."""
    ssh, daemon = SSH.search(said), UNREACHED.search(said)
    if not ssh and not daemon:
        return None
    words = quoted(ssh[0]) if ssh else quoted(said[: daemon.start()] if daemon else "")
    # What started the daemon has ended in the middle, as ssh does with its host.
    what = "cannot reach a host" if phase is LaunchPhase.STARTING else "has lost a host"
    return f"node: {launcher} {what}{words}"


def _told(said: str) -> str | None:
    """Find the sentence of a rank that gave up, or of a library that made it: `rank 1: no clock X`."""
    if sentence := _SENTENCE.search(said):
        words = f"rank {sentence[1]}: {quoted_word(sentence[2])}"
        rest = quoted(_SENTENCE.sub("", said)) if _NO_REASON.search(sentence[2].rstrip()) else ""
        return f"{words}; the library said{rest}" if rest else words
    if fatal := _FATAL.search(said):
        stack = [line.partition(":")[2].strip() for line in fatal["stack"].splitlines()]
        last = next((text for text in reversed(stack) if text), None)
        return quoted_word(f"{fatal['what']}: {last}" if last else fatal["what"])
    if abort := _MPI_ABORT.search(said):
        rank, number = abort["rank"] or abort["rank2"], abort["code"] or abort["code2"]
        return f"rank {rank} called MPI_Abort with code {number}{quoted(_MPI_ABORT.sub('', said))}"
    return None


def _killed(
    code: int, said: str, command: Sequence[str], places: Sequence[Place]
) -> tuple[int | None, str] | None:
    """Find the signal that ended the launch, and its first victim; None if no signal is known.

    The signal is None if several are known to have ended ranks, but none for certain: then `str` says that.

    The kernel says it, or a rank, or the launcher in words. An exit code does not: 137 may be that of a shell
    whose child got a SIGKILL, and that of any program that likes the number.
    """
    if died := _CRASH.search(said):
        return int(died[2]), f"rank {died[1]}"
    if died := _BY_RANK.search(said):
        return int(died["signal"]), f"rank {died['rank']}"
    if all_died := {int(died["rank"]): int(died["signal"]) for died in _BY_RANKS.finditer(said)}:
        return _killed_first(all_died, {place.rank for place in places})
    left = EXIT.found_in(said) is not None
    for task, number in _tasks(said):
        if not (left and number in _BY_LAUNCHERS):
            return number, f"rank {task}"
    if _ABORTED.search(said):
        return None
    if (died := _BY_PID.search(said)) and not (left and int(died["signal"]) in _BY_LAUNCHERS):
        return _by_hydra(died, Path(command[0]).name, places)
    if code < 0:
        return -code, "rank 0" if _is_lone(command) else Path(command[0]).name
    return None


def _by_hydra(died: re.Match[str], launcher: str, places: Sequence[Place]) -> tuple[int | None, str]:
    """The signal and the rank that Hydra's text proves: it ends ranks itself by SIGKILL or SIGTERM.

    Only if no rank comes behind the one that it names, it did not end this one for another.
    """
    own, told = int(died["status"]) & _SIGNAL_BITS, int(died["signal"])
    rank = next((place.rank for place in places if place.pid == int(died["pid"])), None)
    who = "a rank" if rank is None else f"rank {rank}"
    if own not in _BY_LAUNCHERS:
        return own, who
    if own != told:
        return None, f"signal unknown on several ranks, of which {launcher} tells one number ({told})"
    return own, who if rank == max((place.rank for place in places), default=None) else "a rank"


def _tasks(said: str) -> Iterator[tuple[int, int]]:
    """List the ranks that signals ended as srun says it, and the signals: those that it sent itself last."""
    names = {signal.strsignal(number): int(number) for number in signal.Signals}
    died = [
        (int(one["rank"]), names[one["words"]]) for one in _BY_TASK.finditer(said) if one["words"] in names
    ]
    yield from sorted(died, key=lambda one: one[1] in (signal.SIGKILL, signal.SIGTERM))


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
