"""How many launches a precision or a difference takes, by how launches scattered before."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.units import parse_percent
from steelyard.plan.plan import MOST_PRECISE, Plan
from steelyard.records.campaign_file import Design, PlannedPoint, read_campaign
from steelyard.system.machine import read_machine

if TYPE_CHECKING:
    from steelyard.results.scatter import Scatters

_MOST_SEEN = 5  # folders that are looked into


class Earlier(Struct, frozen=True):
    """Earlier results of this machine, and how launches scattered there."""

    folder: Path
    scatters: Scatters
    launches: int


class Needed(Struct, frozen=True):
    """What a plan takes: `launches` of each test case, None for very many; `words` say it."""

    launches: tuple[int | None, ...]
    words: str

    def of_plan(self, most: int) -> int:
        """Count the launches that all test cases have enough of, `most` at most."""
        return min(max((launch or most for launch in self.launches), default=most), most)

    def on_average(self, most: int) -> int:
        """Count the launches of a test case in the mean: those that have enough drop out."""
        return round(mean(min(launch or most, most) for launch in self.launches))


def design_of(plan: Plan, points: Sequence[PlannedPoint]) -> Design:
    """Make what is fixed of a campaign's tests before its first launch."""
    arms = len(dict.fromkeys(point.arm for point in points if point.arm is not None))
    cases = len(points) // max(arms, 1)
    ops = len({point.op for point in points})
    looks: tuple[int, ...] = (plan.most_launches,)
    if plan.precision:  # statistics take 0.1 s to import, which is later done beside the first launch
        from steelyard.stats.interim_looks import looks_until

        looks = tuple(looks_until(plan.most_launches))
    if arms < 2:
        return Design(looks=looks)
    from steelyard.judges.compare.scale import FALSE_ALARM, LEAST, MARGIN

    return Design((cases + ops) * (arms - 1), arms - 1, FALSE_ALARM, LEAST, MARGIN, looks)


def needed(plan: Plan, points: Sequence[PlannedPoint], out: Path, given: Path | None = None) -> Needed | None:
    """Estimate the launches that the plan's precision or detect takes; None if it has neither.

    `given` are earlier results, else the newest beside `out` are taken. Raises InputError if `given` has none
    of the ops, or is of no use.
    """
    if not plan.precision and not plan.detect:
        if given is not None:
            raise InputError(
                "scatter is for a precision or a difference to detect; give one, or leave it out"
            )
        return None
    what = f"a difference of {plan.detect}" if plan.detect else f"±{plan.precision}"
    known = _earlier(points, out, given)
    if known is None:
        lacking = f"no results of these ops on this machine are in '{out.parent}'"
        return Needed((), f"how many launches {what} takes is not known: {lacking}; give --scatter DIR")
    found = tuple(_each(plan, points, known.scatters))
    return Needed(found, f"{what} takes {_launch_words(found)}: {_scatter_words(points, known)}")


def _each(plan: Plan, points: Sequence[PlannedPoint], scatters: Scatters) -> Iterator[int | None]:
    """Find the launches of each test case whose scatter is known; the arms of one have one number each."""
    from steelyard.judges.compare.power import launches_to_find
    from steelyard.stats.interim_looks import launches_of_scatter

    design = design_of(plan, points)
    for point in points:
        if (seen := scatters.of(point)) is None:
            continue
        if plan.detect:
            family, alarm = (
                (design.family or 1) // design.comparisons,
                design.false_alarm / design.comparisons,
            )
            yield launches_to_find(parse_percent(plan.detect), seen.deviation, seen.degrees, family, alarm)
        elif plan.arms:
            yield launches_of_scatter(
                parse_percent(plan.precision or ""), seen.deviation, family=design.family
            )
        else:
            yield launches_of_scatter(parse_percent(plan.precision or ""), seen.deviation)


def _launch_words(found: Sequence[int | None]) -> str:
    """Write `about 13 launches`, `about 13 launches in half of the test cases, 60 in all`."""
    numbers = sorted(one for one in found if one is not None)
    if not numbers:
        return "more launches than can be made"
    half, most = round(median(numbers)), numbers[-1]
    lost = len(found) - len(numbers)
    beyond = f", and more than can be made in {counted(lost, 'test case')}" if lost else ""
    if half == most:
        return f"about {most} launches{beyond}"
    return f"about {half} launches in half of the test cases, {most} in {'others' if lost else 'all'}{beyond}"


def _scatter_words(points: Sequence[PlannedPoint], known: Earlier) -> str:
    seen = [one.deviation for point in points if (one := known.scatters.of(point)) is not None]
    span = " to ".join(dict.fromkeys(f"{100 * one:.2g}" for one in (min(seen), max(seen))))
    return f"launches scatter by {span} % in '{known.folder}' ({counted(known.launches, 'launch')})"


def _earlier(points: Sequence[PlannedPoint], out: Path, given: Path | None) -> Earlier | None:
    """Find earlier results of the ops on this machine. Raises InputError if the given ones have none."""
    if given is not None:
        from steelyard.records.results_folder import check_results_folder

        check_results_folder(given)
        found = _read(given, points)
        if found is None:
            raise InputError(f"'{given}' has no three launches of these ops; give --scatter another one")
        return found
    files = [path for path in out.parent.glob("*/campaign.json") if path.parent != out]
    newest = sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)
    folders = (path.parent for path in newest if _is_of_this_machine(path.parent))
    read = (_read(folder, points) for folder in itertools.islice(folders, _MOST_SEEN))
    return next((one for one in read if one is not None), None)


def _read(folder: Path, points: Sequence[PlannedPoint]) -> Earlier | None:
    """Read how launches scattered in a folder; None if it has none of the points' ops, or cannot be read."""
    from steelyard.results.rows import results
    from steelyard.results.scatter import Scatters

    try:
        rows = results(folder)
    except InputError:
        return None
    scatters = Scatters(rows)
    if not any(scatters.of(point) for point in points):
        return None
    return Earlier(folder, scatters, max(row.launch_count for row in rows))


def _is_of_this_machine(folder: Path) -> bool:
    try:
        machine = read_campaign(folder).machine
    except InputError:
        return False
    here = read_machine()
    return (machine.get("host"), machine.get("cpu_model")) == (here.host, here.cpu_model)


def with_launches(plan: Plan, folder: Path, found: Needed | None) -> Plan:
    """Plan as many launches as a difference takes, if no other number was given: as many as it took when the
    folder began, if there is one.
    """
    if not plan.detect or plan.launches is not None:
        return plan
    if (folder / "campaign.json").exists():
        planned = read_campaign(folder).plan.get("launches")
        return replace(plan, launches=planned) if isinstance(planned, int) else plan
    return replace(plan, launches=found.of_plan(MOST_PRECISE)) if found and found.launches else plan
