"""Bounds of what a call may take, whatever else the machine does: time of the processor, and memory."""

from __future__ import annotations

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from steelyard.base.files import read_field

SECONDS = 2.0
MEMORY = 500 << 20  # bytes, beyond what the process has already
_AGAIN = 0.1  # seconds from one alarm to the next: one may be lost in a destructor


class OverBoundsError(BaseException):
    """A call took more than it may. No `except Exception` hides it."""


@contextmanager
def bounded(seconds: float = SECONDS, memory: int = MEMORY) -> Iterator[None]:
    """Let the body take so many seconds of CPU time and so many bytes. Raises OverBoundsError."""

    def over(*_: object) -> None:
        raise OverBoundsError(f"more than {seconds:g} s of CPU time")

    has = int(read_field(Path("/proc/self/status"), "VmData").split()[0]) << 10
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    before = signal.signal(signal.SIGPROF, over)
    resource.setrlimit(resource.RLIMIT_DATA, (has + memory, hard))
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        yield
    except MemoryError:
        raise OverBoundsError(f"more than {memory >> 20} MiB") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        signal.signal(signal.SIGPROF, before)
