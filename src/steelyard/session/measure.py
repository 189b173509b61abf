"""Measure a plan into a results folder, in as many rounds as it takes, and read what came of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from steelyard.base.product import check_starts
from steelyard.campaign.folder import open_folder, planned_ops, topology_for
from steelyard.campaign.jobs import CampaignSetup, check_launches, groups_of, setup_for
from steelyard.campaign.lock import Lock, locked
from steelyard.campaign.run import run_campaign
from steelyard.campaign.scratch_folders import files_removed
from steelyard.campaign.stage import stage_engines
from steelyard.campaign.start_gate import Aside
from steelyard.campaign.started_programs import check_settings_here, remember
from steelyard.engines.installed import scripts_folder
from steelyard.engines.shadowed_mpi import hidden_mpi
from steelyard.plan.arms import with_arms
from steelyard.plan.plan import Plan, budget_seconds
from steelyard.plan.resolve import resolve
from steelyard.plan.settings import unread_notes
from steelyard.records.campaign_file import CampaignFile, PlannedMethod, PlannedPoint
from steelyard.session.bug_report_file import bugs_kept_in
from steelyard.session.design import design_of, needed, with_launches
from steelyard.session.events import OnEvent, RoundBegins, RoundEnded, ignored, teller
from steelyard.session.precision_rounds import measure_precisely
from steelyard.session.preimport import ImportsAhead
from steelyard.session.refine import measure_rounds
from steelyard.system.machine import Machine, read_machine
from steelyard.system.topology import Topology

if TYPE_CHECKING:
    from steelyard.session.results import Results

Refusing = Callable[[Sequence[PlannedPoint]], None]
# Inside, the function says whether the current test case is to be the last one.
Stopping = Callable[[], AbstractContextManager[Callable[[], bool]]]


class _Ready(Struct, frozen=True):
    """What a plan needs to be measured, all of it there."""

    plan: Plan  # with the launches that a difference takes
    machine: Machine
    topology: Topology
    setup: CampaignSetup
    points: tuple[PlannedPoint, ...]


def any_test_cases(_points: Sequence[PlannedPoint]) -> None:
    """Refuse none."""


@contextmanager
def never_asked() -> Iterator[Callable[[], bool]]:
    """Nobody asks to stop but by an exception."""
    yield lambda: False


def measure_plan(
    plan: Plan,
    folder: Path,
    *,
    on_event: OnEvent = ignored,
    retry_failed: bool = False,
    scatter: Path | None = None,
    typed: Sequence[str] = (),
    stopping: Stopping = never_asked,
    check: Refusing = any_test_cases,
) -> Results:
    """Measure what a plan has and the folder has not, write results.json there, and return all.

    `scatter` are earlier results by whose scatter a precision is planned; `typed` is the command line, for
    the records; `check` may refuse test cases before anything is built. An exception of `on_event`, and
    KeyboardInterrupt, end the launch in progress; what was finished is kept.

    Raises InputError for what cannot be measured and for a folder that holds something else, MeasurementError
    if the measurement cannot go on, KeyboardInterrupt after `stopping` was asked to stop.
    """
    tell = teller(on_event)
    check_settings_here()
    if hidden := hidden_mpi(os.environ.get("PATH", ""), scripts_folder()):
        tell(f"note: {hidden}; steelyard knows both, and 'deactivate' gives yours back")
    ready = _ready(plan, folder, scatter, tell, check)
    plan = ready.plan
    campaign = _opened(folder, ready, typed)
    remember(plan, ready.setup)
    with bugs_kept_in(folder), locked(folder) as lock:
        setup = stage_engines(plan, ready.points, ready.setup, tell)
        for note in lock.notes:
            tell(f"note: {note}")
        removed = files_removed(setup.engines[None], folder, campaign, lambda note: tell(f"note: {note}"))
        try:
            with removed, stopping() as is_stopping:
                launch = _launching(folder, setup, lock, on_event, retry_failed, ImportsAhead(), is_stopping)
                if plan.precision:
                    measure_precisely(folder, plan, campaign, launch, tell)
                else:
                    measure_rounds(folder, plan, campaign, launch, tell)
        finally:
            from steelyard.export.formats import write_results
            from steelyard.session.results import read_results

            results = read_results(folder)
            write_results(results.exported())
    return results


def _launching(
    folder: Path,
    setup: CampaignSetup,
    lock: Lock,
    on_event: OnEvent,
    retry_failed: bool,
    aside: Aside,
    is_stopping: Callable[[], bool],
) -> Callable[[Plan, CampaignFile, int, Mapping[int, float] | None], None]:
    """Make the function that runs the launches of one round."""

    def launch(
        plan: Plan, campaign: CampaignFile, rounds: int, seconds: Mapping[int, float] | None = None
    ) -> None:
        on_event(RoundBegins(plan.most_launches, budget_seconds(plan)))
        try:
            run_campaign(
                *(folder, plan, campaign, setup, on_event),
                rounds=rounds,
                lock=lock,
                retry_failed=retry_failed,
                seconds=seconds,
                aside=aside,
                is_stopping=is_stopping,
            )
        finally:
            on_event(RoundEnded())
        if is_stopping():
            raise KeyboardInterrupt

    return launch


def _ready(
    plan: Plan, folder: Path, scatter: Path | None, tell: Callable[[str], None], check: Refusing
) -> _Ready:
    """Build what a plan needs. Raises InputError for what cannot be measured, before anything is built."""
    machine = read_machine()
    topology = topology_for(folder, plan)
    setup, points = set_up(plan, machine, topology, tell, builds=False)
    check_launches(plan, points, setup)
    check(points)
    if not setup.is_built:
        setup, points = set_up(plan, machine, topology, tell, builds=True)
        check_launches(plan, points, setup)
    is_new = not (folder / "campaign.json").exists()
    takes = needed(plan, points, folder, scatter) if is_new else None
    plan = with_launches(plan, folder, takes)
    if takes is not None:
        tell(f"note: {takes.words}")
        check_launches(plan, points, setup)
    families = [engine.mpi.family for engine in setup.engines.values() if engine.mpi]
    for note in unread_notes((measure.env for measure in with_arms(plan).measure), families):
        tell(f"note: {note}")
    return _Ready(plan, machine, topology, setup, points)


def set_up(
    plan: Plan, machine: Machine, topology: Topology, tell: Callable[[str], None], *, builds: bool
) -> tuple[CampaignSetup, tuple[PlannedPoint, ...]]:
    """Make the setup and the test cases of a plan. Raises InputError for what there is none of."""
    setup = setup_for(plan, machine, tell, builds=builds)
    mpis = [name for name in setup.engines if name is not None]
    points = resolve(plan, setup.ops, mpis, len(machine.cores), topology)
    check_starts(len(groups_of(points)))
    return setup, points


def _opened(folder: Path, ready: _Ready, typed: Sequence[str]) -> CampaignFile:
    """Open the folder for the campaign. Raises InputError if it holds something else."""
    setup, points = ready.setup, ready.points
    ops = planned_ops(setup.ops)
    methods = {name: PlannedMethod(method.summary) for name, method in setup.ops.methods.items()}
    design = design_of(ready.plan, points)
    return open_folder(folder, ready.plan, points, ready.machine, ready.topology, ops, methods, typed, design)
