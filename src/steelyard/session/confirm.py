"""Measure what is suspected again, by turns with what it was before; this alone decides slower or faster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.campaign.folder import default_folder
from steelyard.campaign.started_programs import arm_line, started_by
from steelyard.engines.mpi import WHEELS, choose_mpi
from steelyard.judges.compare.arms import rivals_by
from steelyard.judges.compare.scale import Question
from steelyard.judges.compare.verdicts import compare
from steelyard.judges.history.store import Night, is_results
from steelyard.judges.history.verdicts import Checked, with_confirmed
from steelyard.plan.arms import USUAL
from steelyard.plan.plan import Plan
from steelyard.plan.remeasure import plan_again, with_secrets
from steelyard.records.campaign_file import PlannedPoint, read_campaign
from steelyard.results.key import RowKey, key_of
from steelyard.results.load import load
from steelyard.results.quantiles import rows_at
from steelyard.results.row import Row
from steelyard.session.history import build_of, read_night
from steelyard.session.results import Results

_OF_MPI = ("MPI", "MPI library", "mpiexec")  # settings of a night that identify its MPI


@dataclass(frozen=True)
class Turns:
    """How test cases are measured by turns with a baseline: pairs of launches, the time for all, the folder.

    `measure` measures a plan into a folder. `ask` hears of the lines that a night's folder would start, and
    raises InputError for what must not be started.
    """

    baseline: str
    launches: int
    time_budget: str | None
    out: Path | None
    measure: Callable[[Plan, Path], Results]
    ask: Callable[[Path, Iterable[str]], None]


def suspects_of(night: Night, checked: Checked) -> list[PlannedPoint]:
    """List the test cases of a night that are suspected."""
    suspects = {point.point_b for point in checked.points if point.suspected}
    return [point for point in load(night.folder).campaign.points if point.point in suspects]


def check_baseline(baseline: str, night: Night) -> None:
    """Look for the build that a baseline names, as what is suspected would be measured with it.

    Raises InputError.
    """
    ((factor, (build, _)),) = arms_of(baseline, night).items()
    if is_results(Path(baseline)):
        return  # it may be somebody else's: nothing that it names is started
    if factor == "engine" and not Path(build).is_file():
        raise InputError(
            f"--baseline {baseline} does not exist; give the path of the build that was replaced"
        )
    if factor == "mpi" and build not in WHEELS:  # which would be installed
        choose_mpi(build)


def measure_by_turns(
    turns: Turns, night: Night, points: Sequence[PlannedPoint]
) -> tuple[Path, Sequence[Row], str]:
    """Measure test cases of a night again, by turns with the baseline: the folder, its rows, the factor."""
    arms = arms_of(turns.baseline, night)
    ((factor, _),) = arms.items()
    plan = replace(
        plan_again(load(night.folder).campaign, points, arms, turns.launches),
        time_budget=turns.time_budget,
    )
    lines, of_baseline = started_by(plan), arm_line(factor, arms[factor][0])
    turns.ask(night.folder, [line for line in lines if line != of_baseline])
    if is_results(Path(turns.baseline)):  # else it is the user's own word
        turns.ask(Path(turns.baseline), [line for line in lines if line == of_baseline])
    folder = turns.out or default_folder(plan)
    return folder, turns.measure(with_secrets(plan), folder).rows, factor


def confirm(
    turns: Turns, night: Night, points: Sequence[PlannedPoint], checked: Checked, asked: Question
) -> Checked:
    """Measure the suspected `points` again, by turns with the baseline, and say what came of it."""
    folder, rows, factor = measure_by_turns(turns, night, points)
    if asked.quantile is not None:
        rows = rows_at(load(folder), asked.quantile)
    said = compare(rivals_by(rows, factor, looks=read_campaign(folder).looks), True, asked)
    keys: dict[int | None, RowKey | None] = {row.point: key_of(row, ("mpi", factor)) for row in rows}
    suspects = {point.point for point in points}
    tonight: dict[RowKey | None, int] = {
        key_of(row, ("mpi", factor)): row.point for row in night.rows if row.point in suspects
    }
    known = {
        tonight[keys[point.point_a]]: point for point in said.points if keys.get(point.point_a) in tonight
    }
    return with_confirmed(checked, said.promise, known)


def arms_of(baseline: str, night: Night) -> dict[str, tuple[str, ...]]:
    """Make arms of the baseline and of tonight's build. Raises InputError."""
    if is_results(Path(baseline)):
        before = read_night(Path(baseline))
        build = build_of(before, night)
        if build is None:
            mpi = before.settings.get("MPI", "no MPI")
            why = (
                f"was measured with {mpi}, which is no longer there"
                if any(before.settings.get(name) != night.settings.get(name) for name in _OF_MPI)
                else "was measured with tonight's MPI, LD_PRELOAD and LD_LIBRARY_PATH, as its records say"
            )
            raise InputError(f"--baseline {baseline} {why}; give the path of the build that was replaced")
        baseline = build
    if Path(baseline).name.startswith("steelyard-"):
        files = load(night.folder).files
        engines = {file.job.engine for file in files if file.job.mpi}
        theirs = engines.pop() if len(engines) == 1 else ""
        return {"engine": (baseline, theirs if Path(theirs).is_file() else USUAL)}
    if baseline.startswith("env."):
        name, equals, value = baseline.removeprefix("env.").partition("=")
        if not equals or not name or not value:
            raise InputError(
                f"--baseline {baseline} is not of the form env.NAME=VALUE; '-' is for a variable unset"
            )
        return {f"env.{name}": (value, night.settings.get(name, "-"))}
    launcher = night.settings.get("mpiexec")
    if launcher is None or " and " in launcher:
        raise InputError(
            "--baseline needs a night of one MPI; compare others as in steelyard run --arms mpi=openmpi,mpich"
        )
    return {"mpi": (baseline, launcher)}
