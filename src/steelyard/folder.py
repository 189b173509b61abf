"""A results folder: named, begun or taken up again, held by one steelyard at a time."""

from __future__ import annotations

import datetime
import fcntl
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from steelyard.errors import InputError
from steelyard.machine import Machine
from steelyard.observations import CampaignFile, PlannedPoint, read_campaign
from steelyard.placement import NOWHERE
from steelyard.plan import Plan, is_same_plan, plan_document
from steelyard.reading import read_folder
from steelyard.records import SCHEMA, End
from steelyard.results_files import write_whole
from steelyard.topology import Topology, read_topology


def default_folder(plan: Plan) -> Path:
    """results/NAME-DATE-TIME, free."""
    now = datetime.datetime.now().astimezone()
    base = Path("results") / f"{plan.name}-{now:%Y%m%d-%H%M%S}"
    folder, part = base, 2
    while folder.exists():
        folder = base.with_name(f"{base.name}.{part}")
        part += 1
    return folder


def topology_for(folder: Path, plan: Plan) -> Topology:
    """What placements are made from: what those of the folder were made from, else this machine, if any are.

    Who takes the interrupts may change from day to day; a campaign that is gone on with has the same points.
    """
    if all(measure.placement is None for measure in plan.measure):
        return NOWHERE
    if (folder / "campaign.json").is_file() and (known := read_campaign(folder).topology) is not None:
        return msgspec.convert(known, Topology)
    return read_topology()


def open_folder(
    folder: Path,
    plan: Plan,
    points: tuple[PlannedPoint, ...],
    machine: Machine,
    topology: Topology = NOWHERE,
) -> CampaignFile:
    """The campaign of a results folder: begun, or taken up again when it is the same one.

    Raises InputError when the folder is a file, holds something else, or holds another campaign.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"'{folder}' is a file, not a folder; give --out a name that is free or an earlier folder"
        )
    document = plan_document(plan)
    if (folder / "campaign.json").exists():
        campaign = read_campaign(folder)
        if campaign.points != points or not is_same_plan(campaign.plan, document):
            raise InputError(
                f"'{folder}' holds another campaign ('{campaign.name}', {len(campaign.points)} points); "
                "results are never overwritten; give --out another name, or the same command to go on with it"
            )
        here = msgspec.to_builtins(machine)
        for fact in ("host", "cpu_model"):
            if campaign.machine.get(fact) != here[fact]:
                raise InputError(
                    f"'{folder}' was measured on another machine ({fact} {campaign.machine.get(fact)!r}, "
                    f"here {here[fact]!r}); give --out another name"
                )
        return campaign
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"'{folder}' holds other files and no campaign; give --out a name that is free")
    seed = plan.seed if plan.seed is not None else random.SystemRandom().randrange(2**31)
    campaign = CampaignFile(
        schema=SCHEMA,
        name=plan.name,
        seed=seed,
        created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        plan=document,
        points=points,
        machine=msgspec.to_builtins(machine),
        topology=msgspec.to_builtins(topology) if topology.cpus else None,
    )
    try:
        (folder / "records").mkdir(parents=True, exist_ok=True)
        write_whole(folder / "campaign.json", msgspec.json.format(msgspec.json.encode(campaign)) + b"\n")
    except OSError as error:
        raise InputError(
            f"'{folder}' cannot be written: {error.strerror}; give --out another place"
        ) from None
    return campaign


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Only one steelyard at a time measures into a folder. Raises InputError when another does."""
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"another steelyard is measuring into '{folder}'; wait for it to end") from None
        yield


def finished(folder: Path) -> dict[tuple[str, int], End]:
    """The ends of all points so far, by job name and point; observations are let go as they are read."""
    return {
        (file.job.job, run.index): run.end
        for file in read_folder(folder, visit=lambda *_: None)
        for run in file.points
        if run.end is not None
    }
