"""Import statistics and plots while the first launch starts, so that nobody waits for them afterwards.

Ranks that measure are not disturbed: those that take all cores wait until the import is done.
"""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Sequence

# Each takes some tens of ms; in the order of their first use.
_MODULES = (
    *(
        "numpy",
        "numpy.ma",
        "steelyard.results.rows",
        "steelyard.diagnostics.results",
        "steelyard.export.formats",
    ),
    *("steelyard.session.results", "jinja2", "steelyard.report"),
)


class ImportsAhead:
    """A thread that imports modules one after the other; an earlier use of one waits for its import.

    It begins when a launch has started: before that it would take turns with what starts the launch.
    """

    def __init__(self, modules: Sequence[str] = _MODULES) -> None:
        self._thread = threading.Thread(target=_import_all, args=(modules,), daemon=True)

    def begin(self) -> None:
        """Begin to import, if that has not begun."""
        if self._thread.ident is None:
            self._thread.start()

    def is_idle(self) -> bool:
        """Is all imported?"""
        return self._thread.ident is not None and not self._thread.is_alive()


def _import_all(modules: Sequence[str]) -> None:
    for name in modules:
        with contextlib.suppress(Exception):  # its first use reports the error
            importlib.import_module(name)
