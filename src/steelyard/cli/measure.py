"""A plan measured from the command line: with a bar, and Ctrl-C that waits for the current test case."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.base.printable import visible
from steelyard.cli.console import tell
from steelyard.cli.start import stopped_gently
from steelyard.plan.plan import Plan
from steelyard.session.events import RoundBegins, RoundEnded, Said, SessionEvent
from steelyard.session.measure import Refusing, any_test_cases, measure_plan

if TYPE_CHECKING:
    from steelyard.campaign.events import Listener
    from steelyard.session.results import Results


def measured(
    plan: Plan,
    folder: Path,
    *,
    retry_failed: bool = False,
    scatter: Path | None = None,
    check: Refusing = any_test_cases,
) -> Results:
    """Measure a plan into a folder, show the progress on stderr, and return the results."""
    with _Shown() as shown:
        return measure_plan(
            plan,
            folder,
            on_event=shown,
            retry_failed=retry_failed,
            scatter=scatter,
            typed=("steelyard", *map(visible, sys.argv[1:])),
            stopping=stopped_gently,
            check=check,
        )


def say_event(event: SessionEvent) -> None:
    """Write a sentence that comes as an event on stderr; other events are not shown."""
    if isinstance(event, Said):
        tell(event.text)


class _Shown(ExitStack):
    """Hears of a measurement: sentences are printed, and each round has a bar of its own."""

    _show: Listener

    def __call__(self, event: SessionEvent) -> None:
        match event:
            case Said():
                say_event(event)
            case RoundBegins():
                from steelyard.cli.bar import bar_on
                from steelyard.cli.progress import listening

                self._show = self.enter_context(listening(bar_on(sys.stderr), event.launches, event.seconds))
            case RoundEnded():
                self.close()
            case _:
                self._show(event)
