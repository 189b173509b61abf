"""The only module that starts processes: from lists, never through a shell. It leaves none behind."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import FrameType, TracebackType
from typing import IO

from steelyard.base.errors import ExhaustedError, InputError, MeasurementError
from steelyard.system.launch_processes import (
    GRACE_SECONDS,
    KILL_SECONDS,
    MARK,
    alive,
    marked,
    marks_of,
    new_mark,
    reap,
    signal_all,
)
from steelyard.system.process_stat import ProcessStat, family, process_stats

_TAIL_BYTES = 1 << 16  # what is kept of a launch's stdout and stderr
_WHOLE_BYTES = 1 << 26  # of a short command's output that is kept: all, within reason
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # of prctl(2)
_prctl = ctypes.CDLL(None).prctl  # resolved here: a forked process should load nothing


@dataclass(frozen=True, slots=True)
class Done:
    """A finished process: exit code (negative: the signal that ended it), and its output."""

    code: int
    out: str
    err: str


def run(
    argv: Sequence[str | os.PathLike[str]],
    *,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    cwd: str | os.PathLike[str] | None = None,
    stdin: IO[bytes] | None = None,
    ends_with_us: bool = False,
) -> Done:
    """Run a short command to its end; `env` is the whole environment (None: ours), `timeout` in seconds.

    Its input is the file `stdin`, or nothing. If this program is killed, the command goes on, unless it
    `ends_with_us`. Raises InputError if it cannot be started, and MeasurementError if it takes longer than
    `timeout`.
    """
    with Child(
        argv, env=env, cwd=cwd, keep=_WHOLE_BYTES, tidy=False, stdin=stdin, ends_with_us=ends_with_us
    ) as child:
        code = child.wait(timeout)
    if code is None:
        raise MeasurementError(f"'{os.fspath(argv[0])}' did not finish within {timeout:g} s and was ended")
    return Done(code, child.out, child.err)


class Child:
    """A running launch, in a session of its own. Use it in a `with`: at its end none of its processes is
    left.

    Within the `with`, SIGTERM and SIGHUP end this program by an exception (SystemExit), as SIGINT does by
    KeyboardInterrupt, so that the `with` ends the launch too. The last `keep` bytes of stdout and stderr are
    kept. `tidy=False` skips the search in /proc for what it may have left after it ended by itself.

    If this program is killed, the kernel ends the launch with a TERM. `ends_with_us=False` is for a command
    that soon ends by itself: it needs no copy of this process, which takes longer than most of them do.

    All processes carry `mark`, by which `end_marked` finds those that are left, and inherit the descriptors
    `held`. Those that lose their parent become children of this program, so that they are found without their
    environment, too. `before_stop` hears of the processes that are there before they are ended.
    """

    def __init__(
        self,
        argv: Sequence[str | os.PathLike[str]],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        keep: int = _TAIL_BYTES,
        tidy: bool = True,
        mark: str | None = None,
        held: Sequence[int] = (),
        stdin: IO[bytes] | None = None,
        ends_with_us: bool = True,
        before_stop: Callable[[Iterable[int]], None] = lambda _: None,
    ) -> None:
        """Start `argv`. Raises InputError if that is impossible."""
        if tidy:
            _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._older = {(pid, stat.started) for pid, stat in process_stats().items()} if tidy else set()
        self._before_stop = before_stop
        self._mark = mark or new_mark()
        self._tidy = tidy
        self._is_over = False
        self._handled: list[signal.Signals] = []
        environment = dict(os.environ if env is None else env) | {MARK: self._mark}
        try:
            # Threads come first: where none can be started, no process is left behind.
            with _Drain(keep) as self._out, _Drain(keep) as self._err:
                self._process = subprocess.Popen(
                    [os.fspath(word) for word in argv],
                    env=environment,
                    cwd=cwd,
                    stdin=subprocess.DEVNULL if stdin is None else stdin,
                    stdout=self._out.writer,
                    stderr=self._err.writer,
                    start_new_session=True,
                    pass_fds=held,
                    preexec_fn=partial(die_with, os.getpid()) if ends_with_us else None,
                )
        except OSError as error:
            words = f"'{os.fspath(argv[0])}' cannot be started: {error.strerror}"
            if error.errno in _EXHAUSTED:
                raise ExhaustedError(f"{words} (see ulimit -a)") from None
            raise InputError(words) from None
        self.pid = self._process.pid

    def __enter__(self) -> Child:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(number) is signal.SIG_DFL:
                    signal.signal(number, _exit_on_signal)
                    self._handled.append(number)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.stop()
        finally:
            while self._handled:
                signal.signal(self._handled.pop(), signal.SIG_DFL)

    @property
    def out(self) -> str:
        """The end of its output on stdout so far."""
        return self._out.text()

    @property
    def err(self) -> str:
        """The end of its output on stderr so far."""
        return self._err.text()

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self._process.poll()

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait at most `timeout` seconds; return the exit code, or None if it still runs."""
        self.pause(timeout)
        code = self.poll()
        if code is None:
            return None
        self._out.join()
        self._err.join()
        return code

    def pause(self, seconds: float | None) -> None:
        """Wait so long (None: for ever), or until its first process has ended, which the kernel reports at
        once.
        """
        if self._process.returncode is not None:
            return
        try:
            process = os.pidfd_open(self.pid)
        except OSError:  # before Linux 5.3, or forbidden: look every 50 ms
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
            return
        try:
            poll = select.poll()
            poll.register(process, select.POLLIN)
            poll.poll(None if seconds is None else 1e3 * seconds)
        finally:
            os.close(process)

    def signal(self, pids: Iterable[int], number: signal.Signals) -> list[int]:
        """Send a signal to those of its processes that still run, and return their pids. No other process
        gets it.
        """
        own = alive(self._family())
        sent = {pid: own[pid] for pid in pids if pid in own}
        signal_all(sent, number)
        return list(sent)

    def pids(self) -> list[int]:
        """List its processes."""
        return list(self._family())

    def stop(self, grace: float = GRACE_SECONDS) -> None:
        """End it and all that it started: TERM to its group, `grace` seconds later KILL to what is left.

        A second Ctrl-C waits until this is over. Does nothing if nothing is left.
        """
        with _signals_held():
            if self._is_over or (self._process.poll() is not None and not self._tidy):
                return
            family = self._family()
            self._before_stop(family)
            if self._process.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(self.pid, signal.SIGTERM)
                self._await_end(family, grace)
            deadline = time.monotonic() + KILL_SECONDS
            while left := alive(family := family | self._family()):
                signal_all(left, signal.SIGKILL)
                self._process.poll()  # reaps, where the launcher itself was killed
                if time.monotonic() > deadline:
                    break
                time.sleep(0.005)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(KILL_SECONDS)
            reap(family.keys() - {self.pid})
            self._out.join()
            self._err.join()
            self._is_over = True

    def _family(self) -> dict[int, int]:
        """Find its processes, pid -> start time. After it was reaped, its pid may be another's: only the mark
        counts, and who became a child of this program. What ran before the launch cannot carry its mark.
        """
        stats = process_stats()
        younger = {pid: stat for pid, stat in stats.items() if (pid, stat.started) not in self._older}
        roots = [pid for pid, stat in stats.items() if self._lost_its_parent(pid, stat)]
        if self._process.returncode is None:
            roots.append(self.pid)
        return {pid: stats[pid].started for pid in family(stats, *roots)} | marked(younger, self._mark)

    def _lost_its_parent(self, pid: int, stat: ProcessStat) -> bool:
        """Is it a child of this program, younger than the launch, that this program did not start?

        What this program forks is in its session, and what it starts carries another mark. A command that is
        not tidy adopts nobody: what was there before it is not known.
        """
        return (
            self._tidy
            and stat.parent == os.getpid()
            and (pid, stat.started) not in self._older
            and stat.session != os.getsid(0)
            and marks_of(pid) <= {self._mark}
        )

    def _await_end(self, family: dict[int, int], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and (self._process.poll() is None or alive(family)):
            time.sleep(0.01)


class _Drain:
    """A thread that empties a pipe, so that the writer never blocks, and keeps the last `keep` bytes.

    Use it in a `with` for as long as this process has the end `writer`.
    """

    def __init__(self, keep: int) -> None:
        self._reader, self.writer = os.pipe()
        self._keep = keep
        self._kept = bytearray()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def __enter__(self) -> _Drain:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.writer)

    def _work(self) -> None:
        try:
            while chunk := os.read(self._reader, 1 << 16):
                with self._lock:
                    self._kept += chunk
                    if len(self._kept) > 2 * self._keep:
                        del self._kept[: -self._keep]
        finally:
            os.close(self._reader)

    def text(self) -> str:
        with self._lock:
            return self._kept[-self._keep :].decode(errors="replace")

    def join(self) -> None:
        """Wait for the end of the pipe; a second is enough unless a survivor holds it open."""
        self._thread.join(1.0)


def die_with(parent: int) -> None:
    """Ask the kernel for a TERM when `parent` ends; a new process does this first."""
    _prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent:  # it ended before we could ask
        os._exit(128 + signal.SIGTERM)


@contextlib.contextmanager
def signals_as_exceptions() -> Iterator[None]:
    """Turn the first SIGINT, SIGTERM or SIGHUP into an exception, for a main thread whose children run in
    other threads. Later ones do nothing until the block is over: it ends by the first, and clears up.
    """
    is_ending = False

    def end_once(number: int, _frame: FrameType | None) -> None:
        nonlocal is_ending
        if not is_ending:
            is_ending = True
            raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)

    is_main = threading.current_thread() is threading.main_thread()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if is_main else ()
    before = {number: signal.getsignal(number) for number in numbers}
    heard = [number for number in numbers if before[number] not in (signal.SIG_IGN, None)]
    for number in heard:
        signal.signal(number, end_once)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])


def _exit_on_signal(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Delay signals that would end this program until the block is over (only the main thread gets them)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, old)
