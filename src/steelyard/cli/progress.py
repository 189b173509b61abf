"""Show the progress of a campaign: a line that is rewritten on a terminal, few lines elsewhere.

On a terminal a number appears as its test case ends. Little is computed while ranks run, because their cores
may be the only ones: a number now and then, as its cost allows.
"""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.printable import shortened
from steelyard.base.secret import masked_settings
from steelyard.base.units import format_bytes, format_duration, format_time, format_values
from steelyard.campaign.budget import spared_jobs
from steelyard.campaign.eta import Eta
from steelyard.campaign.events import (
    BudgetSpent,
    CampaignBegins,
    CaseLasts,
    Event,
    JobStarted,
    LaunchEnded,
    Listener,
    PointEnded,
)
from steelyard.campaign.spread import Waits
from steelyard.cli.bar import BAR, Lines
from steelyard.records.campaign_file import PlannedPoint
from steelyard.records.command_line import resumed
from steelyard.records.follow import read_ended
from steelyard.records.job_file import JobFile
from steelyard.records.parts import StuckRank
from steelyard.records.schema import End

_MOST_RANKS, _MOST_CALLS = 4, 6  # that are shown for a hang
_LEAST_NAME = 16  # letters of a line: the rest of a long name
_MOST_SETTINGS = 60  # letters of what a launch sets
_FAR_OFF = 1.5  # a factor: an estimate that is further off is corrected aloud
_FAR_LONGER = 1.8  # a factor: a test case that was told in a launch is told again, in that or a later one
_FAR_OFF_SO_FAR = 3.0  # as long as half of a launch has been measured
_LEVEL = 0.95  # of the interval of a number
_WAIT_SAID_SECONDS = 600.0  # between lines of a pipe, while a launch is waited for
_WORTH_SECONDS = 60.0  # to go: worth ending another process for
_LOOK_SECONDS, _LOOK_SHARE = 0.5, 0.005  # between numbers, and estimates of the time left; their share


@contextmanager
def listening(bar: Lines, launches: int, budget: float | None) -> Iterator[Listener]:
    """Make a listener that shows the progress; `budget` is the time in seconds for all."""
    with bar:
        yield _Shower(bar, launches, budget)


def point_words(point: PlannedPoint) -> str:
    """Describe a point in a few words: `mpi.allreduce 64 KiB root=1`."""
    size = [format_bytes(point.bytes)] if point.bytes else []
    params = format_values({**point.params, **point.method_params})
    return " ".join([point.op, *size, *([params] if params else [])])


def job_words(points: Sequence[PlannedPoint], common: Collection[tuple[str, str]] = ()) -> str:
    """Describe what is started: `openmpi-4.1.4, 2 ranks, 2 threads, 12 test cases`.

    `common` are variables and values that all launches set, which are not told.
    """
    first = points[0]
    own = {name: value for name, value in _settings(first) if (name, value) not in common}
    settings = shortened(format_values(masked_settings(own)), _MOST_SETTINGS)
    return ", ".join(
        [
            *([first.mpi] if first.mpi else []),
            *([counted(first.hosts, "host")] if first.hosts else []),
            counted(first.ranks, "rank"),
            *([counted(first.threads, "thread")] if first.threads > 1 else []),
            *([f"placement {shortened(first.placement.text, _MOST_SETTINGS)}"] if first.placement else []),
            *([settings] if settings else []),
            counted(len(points), "test case"),
        ]
    )


def _settings(point: PlannedPoint) -> tuple[tuple[str, str], ...]:
    return tuple({**point.omp, **point.env}.items())


def ended_words(event: PointEnded) -> str:
    """Describe a test case by its time in this launch, `mpi.bcast 8 B: 480 ns ± 2 %`; empty without one."""
    from steelyard.results.combined import combine  # imported ahead, beside the first launch
    from steelyard.results.load import cell_of
    from steelyard.rows.words import half_words

    try:
        run = read_ended(event.file, event.span)
        cell = None if run is None else cell_of(event.file, run)
    except (InputError, OSError):
        return ""  # readers of the whole file report it
    if cell is None or cell.status != "ok":
        return ""
    found = combine([cell], _LEVEL).estimate
    half = half_words(found.value, found.low, found.high)
    return f"{point_words(event.plan)}: {format_time(found.value)} ± {half}"


def stuck_words(rank: StuckRank) -> str:
    """Write `rank 1 on vm: samples, sample 17, in nanosleep < steelyard-mpi+0x1a2b`."""
    calls = " < ".join(rank.calls[:_MOST_CALLS])
    return (
        f"rank {rank.rank} on {rank.host}: {rank.phase}, sample {rank.sample}, in {calls or 'unknown calls'}"
    )


def _launch_seconds(event: PointEnded) -> float:
    """Find how long a launch had measured when a test case ended; 0 if its record does not say."""
    end = event.file.points[0].end
    return 0.0 if end is None else end.stop_ns / 1e9


class _Shower:
    def __init__(self, bar: Lines, launches: int, budget: float | None) -> None:
        self.bar, self.launches, self.budget = bar, launches, budget
        self.began = time.monotonic()
        self.common = frozenset[tuple[str, str]]()  # settings of all launches, if others differ
        self.eta = Eta(())
        self.spared = Eta(())  # of the launch that a time budget does not end
        self.expected: float | None = None  # seconds for all, as was said last
        self.rest: float | None = None  # seconds until the end, as of `rest_at`
        self.rest_at, self.look_at = 0.0, 0.0
        self.to_come: OrderedDict[int, PlannedPoint] = OrderedDict()
        self.launch = 0
        self.awaited, self.wait_said_at = 0, -math.inf  # a launch that is to begin later
        self.cases, self.ended = Counter[int](), 0  # test cases of each launch; how many of this one ended
        self.done, self.total = 0, 0
        self.number, self.number_at = "", 0.0  # of a test case that ended; when the next may be computed
        self.failed: set[tuple[object, str]] = set()
        self.lasted = dict[int, float]()  # seconds of a test case that were told, in whatever launch
        self.is_busy_said = self.is_overrun_said = False

    def __call__(self, event: Event) -> None:
        match event:
            case CampaignBegins():
                self.total, self.began, self.expected = event.points, time.monotonic(), event.seconds
                self.eta, self.spared = Eta(event.jobs), Eta(event.jobs[: spared_jobs(event.jobs)])
                for job in event.jobs:
                    self.cases[job.launch] += len(job.points)
                each = [frozenset(_settings(job.points[0])) for job in event.jobs]
                self.common = frozenset.intersection(*each) if len(set(each)) > 1 else frozenset()
                for line in event.words:
                    self.bar.say(line)
            case Waits():
                self._wait(event)
                return
            case JobStarted():
                self._begin(event)
            case PointEnded():
                self.done, self.ended = self.done + 1, self.ended + 1
                for eta in (self.eta, self.spared):
                    eta.case_ended(event.plan, _launch_seconds(event), time.monotonic())
                self.to_come.pop(event.plan.point, None)
                end = event.file.points[0].end
                if end is not None and end.status == "failed":
                    self._say_failed(event, end)
                self._compute(event)
                self._correct()
                self._correct_budget()
            case CaseLasts():
                if event.seconds > _FAR_LONGER * self.lasted.get(event.plan.point, 0.0):
                    self.lasted[event.plan.point] = event.seconds
                    self.bar.say(
                        f"  {point_words(event.plan)} has run for {format_duration(event.seconds)}, not "
                        f"{format_duration(event.foreseen)} as foreseen; it goes on"
                    )
                return
            case LaunchEnded():
                self._say_busy(event.file)
                return
            case BudgetSpent():
                self.bar.say(
                    f"the time budget is spent: {counted(event.points, 'measurement')} in "
                    f"{counted(event.launches, 'launch')} left out; to go on: "
                    f"{resumed(event.folder)}"
                )
        self._show()

    def _compute(self, event: PointEnded) -> None:
        """Compute the number to show, unless the last one was a moment ago."""
        began = time.monotonic()
        if not self.bar.is_terminal or began < self.number_at:
            return
        self.number = ended_words(event)
        now = time.monotonic()
        self.number_at = now + max(_LOOK_SECONDS, (now - began) / _LOOK_SHARE)

    def _say_failed(self, event: PointEnded, end: End) -> None:
        """Print each failure of a test case, or of all of an MPI, once, and where ranks hung."""
        why = end.why or "no reason given"
        mpi = event.file.job.mpi.name if event.file.job.mpi else ""
        is_of_all = why.startswith("start-up")
        failed = (mpi if is_of_all else event.plan.point, why)
        if failed not in self.failed:
            self.failed.add(failed)
            of = f" of {mpi}" if mpi else ""
            what = "all test cases" if is_of_all else point_words(event.plan)
            self.bar.say(f"  {what}{of} failed in launch {self.launch}: {why}")
            for rank in end.where[:_MOST_RANKS]:
                self.bar.say(f"    {stuck_words(rank)}")
            if len(end.where) > _MOST_RANKS:
                self.bar.say(f"    and {len(end.where) - _MOST_RANKS} more ranks: the records have them")

    def _say_busy(self, file: JobFile) -> None:
        """Print the busiest process on the ranks' CPUs once, in time to end it; short runs end with it."""
        if not self.is_busy_said and (self.rest or 0.0) > _WORTH_SECONDS:
            from steelyard.diagnostics.results.interference import (
                neighbour_words,  # the driver needs it anyway, later
            )

            for words in neighbour_words([file])[:1]:
                self.is_busy_said = True
                self.bar.say(f"  warning: {words}")

    def _begin(self, event: JobStarted) -> None:
        self.launch, self.ended = event.launch, self.ended if event.launch == self.launch else 0
        self.to_come = OrderedDict((point.point, point) for point in event.points)
        for eta in (self.eta, self.spared):
            eta.launch_began(event.name, time.monotonic())
        if not self.bar.is_terminal or event.notes:
            told = [job_words(event.points, self.common), self._left() if self.done else ""]
            self.bar.say(f"launch {event.launch} of {self.launches}: {', '.join(filter(None, told))}")
        for note in event.notes if event.launch == 1 else ():
            self.bar.say(f"  note: {note}")

    def _correct(self) -> None:
        """Say how long it takes in all, if what was said before is far from it.

        A first launch tells. In its middle, a few of its test cases may still take most of the time.
        """
        cases, now, expected = self.cases[self.launch], time.monotonic(), self.expected
        is_middle, is_end = self.ended == cases // 2, self.ended == cases and self.done < self.total
        rest = self.eta.seconds_left(now) if self.launch == 1 and (is_middle or is_end) else None
        if expected is None or rest is None:
            return
        took = now - self.began
        whole, least = took + rest, 0.0 if is_middle else expected / _FAR_OFF
        if not least <= whole <= expected * (_FAR_OFF_SO_FAR if is_middle else _FAR_OFF):
            part = f"{self.ended} of {counted(cases, 'test case')} of " if is_middle else ""
            self.bar.say(
                f"about {format_duration(whole)} in all, not {format_duration(expected)}: "
                f"{part}the first launch took {format_duration(took)}"
            )
            self.expected = whole

    def _correct_budget(self) -> None:
        """Say that the first launch, which no budget ends, takes longer than it, as soon as half of it shows
        that, or the budget is over; and again if what was said is far off.
        """
        cases, now = self.cases[self.launch], time.monotonic()
        rest = self.spared.seconds_left(now)
        if self.budget is None or not rest or self.launch != 1 or self.ended == cases:
            return
        took = now - self.began
        is_seen = 2 * self.ended >= cases and took + rest > _FAR_OFF * self.budget
        if not (is_seen or (took > self.budget and not self.is_overrun_said)):
            return
        said, whole = format_duration(self.budget), format_duration(took + rest)
        part = f"{self.ended} of {counted(cases, 'test case')} of the first launch, which is finished"
        self.bar.say(f"about {whole} in all, not {said}: {part}, took {format_duration(took)}")
        self.budget, self.is_overrun_said = took + rest, True

    def _wait(self, event: Waits) -> None:
        """Show `launch 3 of 10 begins at 14:32:10`, and how long that is; in a pipe now and then."""
        now = time.monotonic()
        if event.launch != self.awaited:
            self.awaited, self.wait_said_at = event.launch, -math.inf
            self.eta.launch_ended(now)
            self.began += event.seconds if self.budget is not None else 0
        at = time.strftime("%H:%M:%S", time.localtime(time.time() + event.seconds))
        words = f"launch {event.launch} of {self.launches} begins at {at}"
        if self.bar.is_terminal:
            left = f"{format_duration(event.seconds)} to wait"
            self.bar.show(words, self.done, self.total, left)
        elif now >= self.wait_said_at + _WAIT_SAID_SECONDS:
            self.wait_said_at = now
            self.bar.say(f"{words}, in {format_duration(event.seconds)}")

    def _show(self) -> None:
        """Show `mpi.allreduce 64 KiB: 12.3 us ± 2 % (12/48 in launch 3/10)`; shorten a long name."""
        if self.to_come and self.bar.is_terminal:
            left = self._left()
            count = f"{self.ended + 1}/{self.cases[self.launch]}"
            where = f"({count} in launch {self.launch}/{self.launches})"
            room = self.bar.width - len(where) - BAR - len(left) - len("   ")
            name, colon, value = self.number.partition(": ")
            if not self.number:
                name = point_words(next(iter(self.to_come.values())))
            short = shortened(name, max(room - len(colon) - len(value), _LEAST_NAME))
            words = f"{short}{colon}{value} {where}"
            self.bar.show(words, self.done, self.total, left)

    def _left(self) -> str:
        """Estimate the rest from the times of points so far, and limit it by the budget."""
        now = time.monotonic()
        rest = [] if self.budget is None else [max(0.0, self.budget - (now - self.began))]
        if now >= self.look_at:
            self.rest, self.rest_at = self.eta.seconds_left(now), now
            cost = time.monotonic() - now
            self.look_at = now + max(_LOOK_SECONDS, cost / _LOOK_SHARE)
        rest += [] if self.rest is None else [max(0.0, self.rest - (now - self.rest_at))]
        return f"{format_duration(min(rest))} left" if rest else ""
