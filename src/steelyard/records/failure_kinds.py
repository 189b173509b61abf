"""The kinds of failure, with which the reason of an `end` record begins, and what helps against each."""

from __future__ import annotations

import re
from collections.abc import Iterable

STARTING, CLOSING = "start-up: ", "closing: "  # before the kind, of what died before or after all test cases

# How a reason begins, without the two words above, and what helps. The first one that fits counts.
_REMEDIES = (
    (r"hang: .*is suspended", "Continue what is suspended (kill -CONT and its pid), or end it."),
    (r"hang: .*debugger", "Let the debugger go on, or end it."),
    (r"hang: .*cannot be reached", "Leave a lost host out of the allocation."),
    (
        r"hang: .*, and no rank of .* answers",
        "Look at that host and its network, or leave it out; if it is well, try another MPI.",
    ),
    (
        r"hang: .* had not begun to measure",
        "On a busy machine, give launches more time to begin (--hang-after 5m); else try another MPI.",
    ),
    (r"hang", "For a hang, try another MPI."),
    (
        r"node: .*(?:Host key verification failed|Permission denied \()",
        "Let ssh enter each host without a question; 'ssh HOST true' shows what it asks.",
    ),
    (
        r"node: .* or its proxy there was ended",
        "Leave a lost host out of the allocation, and start from a folder that all hosts have.",
    ),
    (
        r"launcher: .*Exec format error",
        "Take hosts of one kind of processor; an engine is built for this host's.",
    ),
    (r"node", "Leave a lost host out of the allocation."),
    (
        r"network",
        "Look at links, firewalls and addresses there, or name the interface (OMPI_MCA_btl_tcp_if_include).",
    ),
    (
        r"locked memory",
        "Raise the limit on locked memory (ulimit -l unlimited; containers: --ulimit memlock=-1).",
    ),
    (
        r"shared memory",
        "Give /dev/shm room (mount -o remount,size=2g /dev/shm; containers: --shm-size=2g), or fewer ranks.",
    ),
    (r"memory", "Give smaller messages, or fewer ranks per host."),
    (
        r"disk: .*\(TMPDIR\): File exists",
        "Another launch made that folder in the same moment: measure again, or give each run a TMPDIR.",
    ),
    (r"disk: .*\(TMPDIR\)", "Set TMPDIR to a folder that has room and can be written."),
    (r"disk", "Make room on the disk, or give --out DIR on another one."),
    (r"limit: no file", "Raise the limit on open files (ulimit -n), or give fewer ranks per host."),
    (
        r"limit",
        "Raise the limits on processes and memory (ulimit -u, -v), or give fewer threads, smaller stacks.",
    ),
    (
        r"binding",
        "Let launchers bind (a container may forbid it), or add --placement unbound.",
    ),
    (r"settings", "Correct or unset what was asked of the MPI, by --env or in the environment."),
    (r".*licen[cs]e", "Ask who runs the licence server."),
    (
        r".*exit was called with code -?\d+ by mca_",
        "Open MPI lost its own message: measure again, and look at what OMPI_MCA_ variables ask for.",
    ),
    (
        r"rank \d+: cannot read the points in",
        "Give --out DIR that the host of rank 0 sees, too, or measure from that host.",
    ),
    (r"signal 4 ", "Build engine and MPI on the host that runs them: they are for another processor."),
    (r"signal 24 ", "Raise the limit on processor time (ulimit -t)."),
    (r"signal 31 ", "Allow the system call that a filter (seccomp) forbade, or leave the container."),
)
_PREFIX = re.compile(f"^(?:{STARTING}|{CLOSING})*")
_NEVER_BEGAN = re.compile(r"hang: .* had not begun to measure after ")
_SLOW_START = re.compile(r"hang: [^;(]* had not begun to measure after [^;(]*$")
_LAUNCHER = re.compile(f"{STARTING}\\S+ ended with code")


def never_began(why: str | None) -> bool:
    """Was a launch ended because it had not begun to measure? It says nothing about one test case."""
    return why is not None and _NEVER_BEGAN.match(why) is not None


def is_slow_start(why: str | None) -> bool:
    """Did a launch not begin to measure in time, and nothing else is known? A busy machine does that, too."""
    return why is not None and _SLOW_START.match(why) is not None


def remedies(whys: Iterable[str], launcher_alone: str) -> list[str]:
    """List what helps against failures with these reasons, each once, in the order of the reasons.

    `launcher_alone` is the command that starts another program in place of the engine.
    """
    found = dict[str, None]()
    for why in whys:
        kind = _PREFIX.sub("", why)
        if remedy := next((text for begin, text in _REMEDIES if re.match(begin, kind)), None):
            found[remedy] = None
        elif _LAUNCHER.match(why):
            found[f"If nothing starts, try the launcher alone: {launcher_alone};"] = None
    return list(found)
