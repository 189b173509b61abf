"""What a campaign does, shown while it does it, on a console that the command line gives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from steelyard.campaign import Event, JobStarted, Listener, PointEnded
from steelyard.observations import CampaignFile


@contextmanager
def listening(
    console: Console, folder: Path, campaign: CampaignFile, launches: int, done: int
) -> Iterator[Listener]:
    """A listener that shows what goes on: a bar with the time left on a terminal, plain lines elsewhere."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("starting", total=len(campaign.points) * launches, completed=done)
        yield _Shower(folder, campaign, launches, progress, task)


class _Shower:
    def __init__(
        self, folder: Path, campaign: CampaignFile, launches: int, bar: Progress, task: TaskID
    ) -> None:
        self.folder, self.campaign, self.launches = folder, campaign, launches
        self.bar, self.task = bar, task
        self.shown: set[int] = set()

    def __call__(self, event: Event) -> None:
        match event:
            case JobStarted():
                self.bar.update(
                    self.task, description=f"launch {event.launch} of {self.launches}: {event.name}"
                )
                if not self.bar.console.is_terminal or event.notes:
                    self._say(
                        f"launch {event.launch} of {self.launches}: {event.name}, {event.points} points"
                    )
                for note in event.notes if event.launch == 1 else ():
                    self._say(f"  note: {note}")
            case PointEnded():
                self.bar.advance(self.task)
                end = event.file.points[0].end
                if event.plan.point not in self.shown or end is None or end.status == "failed":
                    self.shown.add(event.plan.point)
                    self._say("  " + self._line(event))

    def _line(self, event: PointEnded) -> str:
        from steelyard.observations import Measured, PointCells, cell_of
        from steelyard.results import rows_of
        from steelyard.tables import row_line

        cell = cell_of(event.file, event.file.points[0])
        points = (PointCells(event.plan, (cell,)),)
        return row_line(rows_of(Measured(self.folder, self.campaign, (event.file,), points))[0])

    def _say(self, text: str) -> None:
        self.bar.console.print(text, markup=False, soft_wrap=True)
