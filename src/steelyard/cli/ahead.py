"""What judges and draws, imported while launches start, so that nobody waits for it afterwards.

Ranks that measure are not disturbed: while they do, nothing is imported unless cores are left to spare.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from steelyard.campaign.run import Event, JobStarted, LaunchMeasures

# In the order in which they are needed, each some tens of ms.
_MODULES = (
    *("numpy", "scipy.special", "steelyard.results.rows", "steelyard.checks", "steelyard.export.formats"),
    *("steelyard.show.overview", "jinja2", "steelyard.report"),
)


class ImportsAhead:
    """A thread that imports modules one after the other, as long as it may."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._modules = modules
        self._may, self._ends = threading.Event(), False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def hear(self, event: Event) -> None:
        """Go on while a launch starts and where cores are left; rest, with the next module, elsewhere."""
        if isinstance(event, JobStarted) or (isinstance(event, LaunchMeasures) and not event.all_cores):
            self._may.set()
        elif isinstance(event, LaunchMeasures):
            self._may.clear()

    def end(self) -> None:
        """Wait for the module that is being imported; the others are left to who needs them."""
        self._ends = True
        self._may.set()
        self._thread.join()

    def _work(self) -> None:
        for name in self._modules:
            self._may.wait()
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
