"""Forks of this process: some share its work, on as many CPUs as it may use; one clears up after its death.

None outlives the block that it is for, but for the one that clears up, if this process is killed there.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NoReturn, TypeVar

from steelyard.system.process import die_with

Thing = TypeVar("Thing")
Found = TypeVar("Found")

_WORTH_SECONDS = 0.3  # of work: a fork, and passing its results, takes 0.05
_MOST_WORKERS = 8  # this process receives their results, and keeps up with no more


def mapped(function: Callable[[Thing], Found], things: Sequence[Thing], seconds: float) -> list[Found]:
    """Return `[function(one) for one in things]`, computed by several processes if `seconds` are worth it.

    Results must be picklable; other effects of `function` are lost with the fork. This process does the work
    alone if there is one CPU or one thing, if it has other threads, which a fork would not have, and if forks
    fail or are killed. Raises what `function` raises.
    """
    workers = min(len(os.sched_getaffinity(0)), len(things), _MOST_WORKERS)
    if workers > 1 and seconds >= _WORTH_SECONDS and threading.active_count() == 1:
        with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError):
            return _shared(function, things, workers)
    return [function(thing) for thing in things]


def _shared(function: Callable[[Thing], Found], things: Sequence[Thing], workers: int) -> list[Found]:
    """Collect the results of forks, each of every n-th thing; raises EOFError if one is killed."""
    found: list[Any] = [None] * len(things)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_without_gc())
        pipes = [stack.enter_context(_fork(function, things[first::workers])) for first in range(workers)]
        for first, pipe in enumerate(pipes):
            made, error = pickle.load(pipe)  # noqa: S301 - of a fork of this process
            if error is not None:
                raise error
            found[first::workers] = made
    return found


@contextlib.contextmanager
def inherited_by(clear: Callable[[], object]) -> Iterator[None]:
    """Let a fork wait for the end of this process, and call `clear` if that is killed within the block.

    The fork is in a group of its own and has nothing open, so that nobody waits for it, and what ends the
    group of this process spares it. Where no process can be made there is none.
    """
    alive, ours = os.pipe()  # is at its end when this process is
    try:
        pid = _forked()
    except OSError:
        pid = -1
    if pid == 0:
        _inherit(clear, alive)
    os.close(alive)
    try:
        yield
    finally:
        if pid > 0:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(ours)


def _inherit(clear: Callable[[], object], alive: int) -> NoReturn:
    """Wait for the end of the process that made this fork, and clear up after it."""
    try:
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setpgid(0, 0)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        os.dup2(alive, 3)
        os.closerange(4, os.sysconf("SC_OPEN_MAX"))
        if os.read(3, 1) == b"":
            clear()
    finally:
        os._exit(0)


def _forked() -> int:
    """Fork; return 0 in the fork."""
    with warnings.catch_warnings():
        # Python warns of other threads. They are those of numpy's BLAS, which starts them again after a fork.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


@contextlib.contextmanager
def _without_gc() -> Iterator[None]:
    """Switch garbage collection off: all received results are kept, and scanning them doubles the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
        gc.freeze()


@contextlib.contextmanager
def _fork(function: Callable[[Thing], Found], things: Sequence[Thing]) -> Iterator[IO[bytes]]:
    """Fork, and give a pipe with the fork's results or its error; end the fork at the end of the block."""
    out, into = os.pipe()
    parent = os.getpid()
    pid = _forked()
    if pid == 0:
        _work(function, things, into, parent)
    os.close(into)
    try:
        with os.fdopen(out, "rb") as pipe:
            yield pipe
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _work(function: Callable[[Thing], Found], things: Sequence[Thing], into: int, parent: int) -> NoReturn:
    """Do a fork's work; the fork ends with its parent, and leaves Ctrl-C to it."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        die_with(parent)
        answer: tuple[list[Found], Exception | None]
        try:
            answer = [function(thing) for thing in things], None
        except Exception as error:  # for the parent to raise
            error.add_note(f"in a fork:\n{traceback.format_exc()}")  # which is not passed otherwise
            answer = [], pickle.loads(pickle.dumps(error))  # noqa: S301 - one that cannot be passed ends here
        with os.fdopen(into, "wb") as pipe:
            pickle.dump(answer, pipe, pickle.HIGHEST_PROTOCOL)
    finally:
        os._exit(0)
