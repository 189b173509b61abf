"""Say now and then that something long still goes on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from steelyard.base.units import format_duration

Tell = Callable[[str], None]

OFTEN = 10.0  # seconds: who sees nothing for longer thinks that it hangs


@contextmanager
def telling_still(tell: Tell, what: str, every: float = OFTEN) -> Iterator[None]:
    """Tell `still building (20 s so far)` every so many seconds, from a thread, until the block ends."""
    ended, began = threading.Event(), time.monotonic()

    def go_on() -> None:
        while not ended.wait(every):
            tell(f"still {what} ({format_duration(time.monotonic() - began)} so far)")

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
