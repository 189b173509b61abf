"""What judges and draws, imported while the first launch starts, so that nobody waits for it afterwards.

Ranks that measure are not disturbed: those that take all cores wait until it is there.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Sequence

# Each some tens of ms, in the order in which they are needed.
_MODULES = (
    *("numpy", "scipy.special", "steelyard.results.rows", "steelyard.checks", "steelyard.export.formats"),
    *("steelyard.show.overview", "jinja2", "steelyard.report"),
)


class ImportsAhead:
    """A thread that imports modules one after the other; who needs one of them before waits for that one."""

    def __init__(self, modules: Sequence[str] = _MODULES) -> None:
        self._thread = threading.Thread(target=_import_all, args=(modules,), daemon=True)
        self._thread.start()

    def is_idle(self) -> bool:
        """Is nothing being imported?"""
        return not self._thread.is_alive()


def _import_all(modules: Sequence[str]) -> None:
    for name in modules:
        with contextlib.suppress(ImportError):  # said by who needs it
            importlib.import_module(name)
