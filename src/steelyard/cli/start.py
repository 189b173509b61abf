"""The start of the program: signals and streams are set up before anything heavy is imported.

Ctrl-C at any instant gives one sentence and exit code 130. While a command works it is KeyboardInterrupt, so
that launches are ended and results written. Before and after, and the second time, it ends the program at
once. While test cases are measured, the first Ctrl-C waits for the current one. SIGTERM and SIGHUP end the
program as exceptions do, with 128 plus their number.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

_STOPPED = 128 + signal.SIGINT  # as StoppedError.exit_code, which is not imported yet
_FAILED = 3  # as MeasurementError.exit_code
_STOPPED_WORDS = b"steelyard: stopped\n"
_NO_MEMORY_WORDS = b"steelyard: there is not enough memory (see ulimit -v); what was finished is kept\n"
_MOMENT_S = 0.01  # longer than a destructor takes
_NO_MEMORY = ("failed to map segment", "cannot allocate memory")  # as the loader says
_AS_EXCEPTION = (signal.SIGTERM, signal.SIGHUP)
_GARBAGE_OBJECTS = 50_000  # between two searches for cycles: Python's 700 take a tenth of `show`


def main() -> None:
    """Run the command line, and end the process without taking the interpreter down.

    Taking it down costs 0.2 s after numpy was imported. Exit handlers run, and streams are
    flushed.
    """
    code = _code()
    with suppress(OSError, ValueError):  # a stream that takes nothing: all was said, or cannot be
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _code() -> int:
    """Run the command line; return its exit code. 1 is a verdict; a bug is never one."""
    try:
        _run()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        return _bug(end)
    except KeyboardInterrupt:
        _write(_STOPPED_WORDS)
        return _STOPPED
    except BaseException as error:
        if _lacks_memory(error):
            _write(_NO_MEMORY_WORDS)
            return _FAILED
        return _bug(error)
    return 0


def _bug(error: BaseException) -> int:
    """Keep a report of a bug and say so; if that fails, Python's own words."""
    try:
        from steelyard.cli.internal_error import bug_sentence

        sys.stderr.write(f"steelyard: {bug_sentence(error)}\n")
    except Exception:
        with suppress(OSError, ValueError):
            sys.__excepthook__(type(error), error, error.__traceback__)
    return os.EX_SOFTWARE


def _run() -> None:
    """Run the command line; ends by SystemExit if the exit code is not 0."""
    signal.signal(signal.SIGINT, _stop_at_once)
    signal.signal(signal.SIGALRM, _raise_of_thread)
    sys.unraisablehook = _raise_again
    threading.excepthook = _raise_in_main
    _open_closed_streams()
    gc.set_threshold(_GARBAGE_OBJECTS)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of numpy: each further one takes memory
    if "_STEELYARD_COMPLETE" in os.environ:
        os.environ["TERMINAL_WIDTH"] = "10000"  # typer breaks help into lines, each of which completes a word
    try:
        from steelyard.cli.main import main as run_command_line

        for number in _AS_EXCEPTION:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _exit_by_signal)
        run_command_line()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is over; a signal now would interrupt the end


def _lacks_memory(error: BaseException | None) -> bool:
    """Is it a lack of memory, such as when a library is loaded? Packages wrap the loader's message."""
    while isinstance(error, ImportError):
        if any(words in str(error) for words in _NO_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return isinstance(error, MemoryError)


class ReaderLeftError(Exception):
    """Nobody reads stdout any more."""


@contextmanager
def stopped_by_exception() -> Iterator[None]:
    """Make Ctrl-C KeyboardInterrupt inside; typer, outside, would end with a code of its own."""
    ours = signal.getsignal(signal.SIGINT) is _stop_at_once
    if ours:
        signal.signal(signal.SIGINT, _stop)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGINT, _stop_at_once)


@contextmanager
def stopped_gently() -> Iterator[Callable[[], bool]]:
    """Make the first Ctrl-C ask to stop, which the function reports; the second is KeyboardInterrupt."""
    asked = False

    def ask(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, _stop)
        below = b"\n" if os.isatty(2) else b""  # the bar
        _write(below + b"steelyard: it stops after this test case; Ctrl-C again ends it at once\n")

    ours = signal.getsignal(signal.SIGINT) is _stop
    if ours:
        signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        if ours and signal.getsignal(signal.SIGINT) is ask:
            signal.signal(signal.SIGINT, _stop)


def _stop(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, _stop_at_once)
    raise KeyboardInterrupt


def _stop_at_once(_number: int, _frame: FrameType | None) -> None:
    """End at once; the kernel ends a running launch, see `system.process.Child`."""
    _write(_STOPPED_WORDS)
    os._exit(_STOPPED)


def _write(words: bytes) -> None:
    with suppress(OSError):  # nobody reads it
        os.write(2, words)


def _exit_by_signal(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _raise_again(what: sys.UnraisableHookArgs) -> None:
    """Raise an interruption that a destructor lost again a moment later; Python only reports it."""
    interruption = what.exc_value
    if not isinstance(interruption, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(what)
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise interruption

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, _MOMENT_S)


def _raise_in_main(what: threading.ExceptHookArgs) -> None:
    """Raise what a thread did not catch in the main thread; Python would print its traceback and go on."""
    _of_threads.append(what.exc_value or what.exc_type())
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)


def _raise_of_thread(_number: int, _frame: FrameType | None) -> None:
    if _of_threads:
        raise _of_threads.pop()


_of_threads: list[BaseException] = []  # on their way into the main thread


def _open_closed_streams() -> None:
    """Replace streams that were closed, or the next file that is opened would be taken for one.

    Letters that the encoding of the others lacks are replaced.
    """
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            stream = open(os.devnull, "r" if name == "stdin" else "w")  # noqa: PTH123, SIM115
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)  # as Python's own: its descriptor stays open
        elif name != "stdin":
            stream.reconfigure(errors="replace")
    # What nobody reads on stderr must not end a measurement; rich would end the program there.
    unheard = io.BufferedWriter(_Unheard(sys.stderr.fileno(), "wb", closefd=False))
    sys.stderr.flush()
    sys.stderr = io.TextIOWrapper(unheard, sys.stderr.encoding, "replace", line_buffering=True)


class _Unheard(io.FileIO):
    """A stream whose reader may leave: what is written then is dropped."""

    def write(self, data: Any) -> int:
        """Write, or drop."""
        try:
            return super().write(data)
        except BrokenPipeError:
            return len(data)
