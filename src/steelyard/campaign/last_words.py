"""The telling lines of what ranks and a launcher said, for a sentence about a launch that died."""

from __future__ import annotations

import re

from steelyard.base.printable import shortened

_QUOTED_LINES, _QUOTED_LETTERS = 3, 300
# Lines that launchers and libraries add to every death, and that say nothing about this one.
_BOILERPLATE = re.compile(
    "|".join(
        (
            # Open MPI's launcher
            r"Primary job +terminated normally, but \d+ process(es)? returned",
            r"a non-zero exit code\. Per user-direction, the job has been aborted",
            r"process rank \d+ with PID \d+ on node \S+ exited on signal",
            r"detected that one or more processes exited with non-zero status",
            r"the job to be terminated\. The first process to do so was",
            r"(Process name|Exit code|Error code|Node|Local host|Working dir|Host|PID): ",
            r"ORTE_ERROR_LOG: [^\n]* in file \S*show_help\.c",  # its own message is lost then
            r"\d+ more process(es)? (has|have) sent help message",
            r"Set MCA parameter \"\w+\" to 0 to see all",
            r"\d+ total processes (failed to start|killed)",
            r"^(while attempting|when attempting) to start process rank",
            r"has exited due to process rank \d+",
            r"exiting improperly\. There are",
            r"^\d\. this process (did not call|called)",
            r"^(the job did\. This can cause|for all processes to call|then ALL processes must call)",
            r"^(By rule, all processes that call|exiting or it will be considered)",
            r"^(orte_create_session_dirs is|detect that the abort call was|error message you will receive)",
            r"^(This may have caused other|terminated by signals sent by|You can avoid this message)",
            r"^(NOTE: invoking MPI_ABORT|You may or may not see output|exactly when Open MPI kills)",
            r"^a? ?requested component was not found|^means that this component is either not",
            r"^used on your system \(e\.g\.|^that the component requires are|stopped checking at the first",
            r"looks like MPI_INIT failed for some reason|^likely to abort\. +There are many reasons",
            r"^fail during MPI_INIT; some of which|^problems\. +This failure appears to be",
            r"^additional information \(which may only|^developer\):$",
            r"\*\*\* (reported by process|on a NULL communicator|on communicator|Unknown error)",
            r"\*\*\* MPI_ERRORS_ARE_FATAL|\*\*\* +and potentially your (MPI )?job",
            r"\*\*\* (Process received signal|End of error message)",
            r"abort is already in progress\.\.\.hit ctrl-c",
            r"\] (Signal|Signal code|Failing at address): ",
            r"^Open MPI tried to fork a new process|^failed\. +Open MPI checks many things",
            r"^child process, but nothing is perfect|^of another problem on the target host",
            r"^having specified a directory|^abort\.$|was unable to start the specified application as it",
            r"^error:$|^Sorry! +You were supposed to get help|^But I couldn't open the help file",
            # Hydra
            r"^BAD TERMINATION|^(RANK \d+ )?PID \d+ RUNNING AT|EXIT CODE: \d|CLEANING UP REMAINING",
            r"YOU CAN IGNORE THE BELOW|EXIT STRING: ",
            r"^This typically refers to a problem|^Please see the FAQ page for debugging",
            r"^KILLED BY SIGNAL: |HYDT_dmxu_poll_wait_for_event|HYD_pmci_wait_for_completion",
            r"main \([^)]*mpiexec\.c:\d+\)",
            # Slurm
            r"srun: (Job step aborted: Waiting|Force Terminated|forcing job|launch/slurm|job \d+ )",
            r"srun: error: \S+: tasks? [\d,-]+: ",
            r"slurmstepd\S*: error: \*\*\* STEP \S+ ON \S+ CANCELLED AT \S+$",
            r"^Abort\(1\) on node \d+: Internal error$",  # of MPICH, behind the assertion that failed
            # places in the code
            r"^=* ?backtrace \(tid:|^\[ *\d+\] /|^\d+ +/\S+\(|^/\S+\([^)]*\) ?\[0x|\] \[ *\d+\] ",
            r"^steelyard: rank \d+( is in point|: died of signal|: exit was called)|\] Caught signal \d+ ",
            r"from LD_PRELOAD cannot be preloaded .*: ignored",  # also of launches that go well
        )
    )
)
_RULES = " =-*\t"  # around lines and between paragraphs
# What a line says that tells of a failure.
_TELLING = re.compile(
    r"error|fail|cannot|can't|could ?n[o']t|unable|not (found|available|permitted|allowed|supported)"
    r"|no such|no [a-z]+ |denied|refused|invalid|illegal|unknown|unrecognized|exceed|assert|abort|corrupt"
    r"|terminate|lost|timed? ?out|too many|what\(\)|exhausted|expired|fatal|licen[cs]e",
    re.IGNORECASE,
)
_LONGEST_LINE = 600  # letters that are searched: patterns take the square of a line's length
_CHANGING = re.compile(r"\d+")  # numbers of processes and times: ranks say the same with others


def with_short_lines(said: str) -> str:
    """Take the middle out of lines that are longer than any which tells of a failure."""
    half = _LONGEST_LINE // 2
    lines = (
        line if len(line) <= _LONGEST_LINE else f"{line[:half]}...{line[-half:]}" for line in said.split("\n")
    )
    return "\n".join(lines)


def _own_lines(said: str) -> list[str]:
    """List the lines that are of this death alone, without rules and frames, each once."""
    lines = dict[str, str]()
    for line in said.splitlines():
        text = " ".join(line.strip(_RULES).split())
        if text and not _BOILERPLATE.search(text):
            lines.setdefault(_CHANGING.sub("", text), text)
    return list(lines.values())


def failures_told(said: str) -> list[str]:
    """List the lines that speak of a failure."""
    return [line for line in _own_lines(said) if _TELLING.search(line)]


def quoted(said: str) -> str:
    """Quote the telling lines of a message: `: no such host: mars`; "" if it has none.

    At most three: if there are more, those that speak of a failure come before the others.
    """
    lines = _own_lines(said)
    if len(lines) > _QUOTED_LINES:
        lines = failures_told(said) or lines
    told = " / ".join(lines[:_QUOTED_LINES])
    return f": {shortened(told, _QUOTED_LETTERS)}" if told else ""


def quoted_word(text: str) -> str:
    """A part of a message, such as a path or a wrapped sentence, fit for a sentence of ours."""
    return shortened(" ".join(text.split()), _QUOTED_LETTERS)
