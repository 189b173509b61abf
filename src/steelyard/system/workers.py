"""Work shared among processes: forks of this one, on as many CPUs as it may use. None outlives the work."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, NoReturn, TypeVar

from steelyard.system.process import die_with

Thing = TypeVar("Thing")
Found = TypeVar("Found")

_WORTH_SECONDS = 0.3  # of work: to fork, and to hand over what was found, takes 0.05
_MOST_WORKERS = 8  # this process takes in what they hand over, and keeps up with no more


def mapped(function: Callable[[Thing], Found], things: Sequence[Thing], seconds: float) -> list[Found]:
    """`[function(one) for one in things]`, by several processes where that takes `seconds` that are worth it.

    What `function` returns must be what pickle takes; what else it does is lost. This process does the work
    alone where there is one CPU or one thing, where it has other threads, which a fork would not have, and
    where forks fail or are killed. Raises what `function` raises.
    """
    workers = min(len(os.sched_getaffinity(0)), len(things), _MOST_WORKERS)
    if workers > 1 and seconds >= _WORTH_SECONDS and threading.active_count() == 1:
        with contextlib.suppress(OSError, EOFError, pickle.UnpicklingError):
            return _shared(function, things, workers)
    return [function(one) for one in things]


def _shared(function: Callable[[Thing], Found], things: Sequence[Thing], workers: int) -> list[Found]:
    """What forks find, each of every so many things; raises EOFError where one is killed."""
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
def _without_gc() -> Iterator[None]:
    """All that a fork hands over is kept: to look through it for garbage takes as long as to take it in."""
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
    """A pipe that says what a fork finds, or its error; the fork is ended when that is of no more use."""
    out, into = os.pipe()
    parent = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # numpy's library has threads that survive a fork
        pid = os.fork()
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
    """What a fork does, which ends with its parent; Ctrl-C is for the parent to answer."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        die_with(parent)
        answer: tuple[list[Found], Exception | None]
        try:
            answer = [function(one) for one in things], None
        except Exception as error:  # for the parent to raise
            answer = [], error
        with os.fdopen(into, "wb") as pipe:
            pickle.dump(answer, pipe, pickle.HIGHEST_PROTOCOL)
    finally:
        os._exit(0)
