"""Where the program begins: signals and streams are seen to before anything heavy is imported.

Ctrl-C at any instant is one sentence and exit code 3: as KeyboardInterrupt while a command works, so that
launches are ended and results written; at once before, when nothing has begun, after, and the second time.
While test cases are measured it waits for the one that is under way, and counts from the second time on.
SIGTERM and SIGHUP end the program as exceptions do, with 128 and their number.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_STOPPED = 3  # as MeasurementError.exit_code, which is not imported yet
_MOMENT_S = 0.01  # longer than a destructor takes
_NO_MEMORY = ("failed to map segment", "cannot allocate memory")  # as the loader says
_AS_EXCEPTION = (signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    """Run the command line, and end the process without taking the interpreter down.

    That takes 0.2 s once numpy and scipy are there. What is to be done at exit is done, streams are flushed.
    """
    try:
        _run()
        code = 0
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        code = end.code
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)  # Python says what is wrong with a stream
    os._exit(code)


def _run() -> None:
    """Run the command line; ends by SystemExit where the exit code is not 0."""
    signal.signal(signal.SIGINT, _stop_at_once)
    sys.unraisablehook = _raise_again
    _open_closed_streams()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of numpy: each more takes memory
    try:
        from steelyard.cli.main import main as run_command_line

        for number in _AS_EXCEPTION:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _exit_by_signal)
        run_command_line()
    except ImportError as error:
        if not _lacks_memory(error):
            raise
        os.write(2, b"steelyard: there is not enough memory (see ulimit -v); what was finished is kept\n")
        os._exit(_STOPPED)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is over; what comes now would interrupt the end


def _lacks_memory(error: BaseException | None) -> bool:
    """Could a library not be loaded for want of memory? Packages wrap what the loader says."""
    while error is not None:
        if any(words in str(error) for words in _NO_MEMORY):
            return True
        error = error.__cause__ or error.__context__
    return False


class ReaderLeftError(Exception):
    """Nobody reads any more what is written on stdout or stderr."""


@contextmanager
def stopped_by_exception() -> Iterator[None]:
    """Within, Ctrl-C is KeyboardInterrupt; typer, outside, would end with a code of its own."""
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
    """Within, the first Ctrl-C asks to stop, which the function tells; the second is KeyboardInterrupt."""
    asked = False

    def ask(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, _stop)
        below = b"\n" if os.isatty(2) else b""  # the bar
        os.write(2, below + b"steelyard: it stops after this test case; Ctrl-C again ends it at once\n")

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
    """The kernel ends the launch, if one runs: see `system.process.Child`."""
    os.write(2, b"steelyard: stopped\n")
    os._exit(_STOPPED)


def _exit_by_signal(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _raise_again(what: sys.UnraisableHookArgs) -> None:
    """Raise an interruption that met a destructor, which Python reports and forgets, again a moment later."""
    interruption = what.exc_value
    if not isinstance(interruption, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(what)
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise interruption

    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, _MOMENT_S)


def _open_closed_streams() -> None:
    """Stand in for streams that were closed, or the next file that is opened would be taken for one.

    What the encoding of the others lacks is replaced.
    """
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: PTH123, SIM115
        elif name != "stdin":
            stream.reconfigure(errors="replace")
