"""What judges and draws, imported while the first launch starts, so that nobody waits for it afterwards.

Ranks that measure are not disturbed: those that take all cores wait until it is there.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from steelyard.campaign.run import Event, JobStarted

# Each some tens of ms, in the order in which they are needed.
_MODULES = (
    *("numpy", "scipy.special", "steelyard.results.rows", "steelyard.checks", "steelyard.export.formats"),
    *("steelyard.show.overview", "jinja2", "steelyard.report"),
)


class ImportsAhead:
    """A thread that imports modules one after the other, from when a launch starts."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._modules, self._ends = modules, False
        self._thread = threading.Thread(target=self._work, daemon=True)

    def hear(self, event: Event) -> None:
        """Begin when the first launch starts."""
        if isinstance(event, JobStarted) and self._thread.ident is None:
            self._thread.start()

    def is_idle(self) -> bool:
        """Is nothing being imported?"""
        return not self._thread.is_alive()

    def end(self) -> None:
        """Wait for the module that is being imported; the others are left to who needs them."""
        self._ends = True
        if self._thread.ident is not None:
            self._thread.join()

    def _work(self) -> None:
        for name in self._modules:
            if self._ends:
                return
            with contextlib.suppress(ImportError):  # said by who needs it
                importlib.import_module(name)


@contextmanager
def imports_ahead() -> Iterator[ImportsAhead]:
    """Import what comes after a campaign, until the block is over."""
    imports = ImportsAhead(_MODULES)
    try:
        yield imports
    finally:
        imports.end()
