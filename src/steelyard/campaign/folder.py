"""A results folder: named, begun, or taken up again."""

from __future__ import annotations

import datetime
import platform
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from steelyard.base.errors import InputError
from steelyard.base.files import make_folder
from steelyard.base.ownership import check_own_folder
from steelyard.base.plural import counted
from steelyard.base.printable import visible
from steelyard.base.secret import masked_document
from steelyard.engines.cache import digest_of
from steelyard.engines.description import Ops
from steelyard.launch.batch_systems import read_allocation, with_switches
from steelyard.plan.arms import with_arms
from steelyard.plan.host_pairs import is_of_hosts, placement_words, stand_ins
from steelyard.plan.plan import Plan, differences, plan_document
from steelyard.records.campaign_file import (
    CampaignFile,
    Design,
    PlannedMethod,
    PlannedOp,
    PlannedPoint,
    holds_campaign,
    points_without_secrets,
    read_campaign,
    without_secrets,
    write_campaign,
)
from steelyard.records.command_line import resumed
from steelyard.records.read import read_folder
from steelyard.records.schema import SCHEMA, End
from steelyard.system.allocation import AllocatedHost, take_hosts
from steelyard.system.machine import Machine
from steelyard.system.topology import NOWHERE, Topology, read_topology

_MOST_DIFFERENCES = 3  # named between a campaign and the one that a folder holds


def default_folder(plan: Plan) -> Path:
    """Choose results/NAME-DATE-TIME, free."""
    return free_folder(plan.name)


def free_folder(name: str) -> Path:
    """Choose the same for what is no plan."""
    now = datetime.datetime.now().astimezone()
    base = Path("results") / f"{name}-{now:%Y%m%d-%H%M%S}"
    folder, part = base, 2
    while folder.exists():
        folder = base.with_name(f"{base.name}.{part}")
        part += 1
    return folder


def topology_for(folder: Path, plan: Plan, hosts: int = 0) -> Topology:
    """Find the topology for placements: that of the folder, else of this machine, if there are any
    placements.

    The CPUs that take the interrupts may change from day to day; a resumed campaign keeps the same points.
    Hosts are those of the allocation; a job that does not have its `hosts` yet has placeholders.
    """
    words = [word for measure in with_arms(plan).measure for word in placement_words(measure)]
    if not words:
        return NOWHERE
    if holds_campaign(folder) and (known := read_campaign(folder).topology) is not None:
        try:
            return msgspec.convert(known, Topology)
        except msgspec.ValidationError as error:
            raise InputError(
                f"{folder / 'campaign.json'} has no sound topology ({error}); restore it, or give "
                "--out another name"
            ) from None
    found = stand_ins(words, hosts) if hosts else _allocated()
    among = found if any(is_of_hosts(word, found) for word in words) else ()
    return msgspec.structs.replace(read_topology(), hosts=among)


def _check_name(folder: Path) -> None:
    """Raise InputError for a place whose name records cannot hold, such as one that is not UTF-8."""
    place = str(folder.absolute())
    if visible(place) != place:
        raise InputError(
            f"the results would be in '{visible(place)}', whose name has control characters or is not UTF-8; "
            "give --out a place with a plain name, with the whole path"
        )


def _allocated() -> tuple[AllocatedHost, ...]:
    """List the hosts of the allocation of this process, its own first; none outside."""
    allocation = read_allocation()
    if allocation is None:
        return ()
    return take_hosts(with_switches(allocation), len(allocation.hosts), platform.node())


def planned_ops(ops: Ops) -> dict[str, PlannedOp]:
    """Make what readers are told of each op. Raises OSError for a library that went away meanwhile."""
    libraries = {op.library for op in ops.all.values() if op.library is not None}
    hashes = {library: digest_of(Path(library)).decode() for library in libraries}
    return {
        name: PlannedOp(
            summary=op.summary,
            sized=op.sized,
            base=op.base,
            form=op.form,
            role=op.role,
            layer=op.layer,
            params=op.defaults,
            library=op.library,
            library_sha256=hashes.get(op.library or ""),
        )
        for name, op in ops.all.items()
    }


def open_folder(
    folder: Path,
    plan: Plan,
    points: tuple[PlannedPoint, ...],
    machine: Machine,
    topology: Topology = NOWHERE,
    ops: Mapping[str, PlannedOp] | None = None,
    methods: Mapping[str, PlannedMethod] | None = None,
    command: Sequence[str] = (),
    design: Design | None = None,
) -> CampaignFile:
    """Begin the campaign of a results folder, or take it up again if it is the same one.

    The `ops` and `methods` in use, by name, are kept for readers, and the `design` of its tests. `command`
    are the words for a shell that begin it. Raises InputError if the folder is a file, holds something else,
    or holds another campaign, or if it is another user's.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"'{folder}' is a file, not a folder; give --out a name that is free or an earlier folder"
        )
    check_own_folder(folder)
    _check_name(folder)
    document = plan_document(plan)
    if (folder / "campaign.json").exists():
        campaign = read_campaign(folder)
        _check_same(folder, campaign, document, points)
        _check_libraries(folder, campaign, ops or {})
        campaign = msgspec.structs.replace(campaign, points=_with_refined(points, campaign.points))
        here = msgspec.to_builtins(machine)
        spans = any(
            point.hosts is not None for point in points
        )  # an allocation may have other hosts each time
        for fact in ("cpu_model",) if spans else ("host", "cpu_model"):
            if campaign.machine.get(fact) != here[fact]:
                raise InputError(
                    f"'{folder}' was measured on another machine ({fact} {campaign.machine.get(fact)!r}, "
                    f"here {here[fact]!r}); give --out another name"
                )
        return _with_launches(folder, campaign, plan)
    if folder.exists() and not _is_ours_and_empty(folder):
        raise InputError(f"'{folder}' holds other files and no campaign; give --out a name that is free")
    measured, used = {point.op for point in points}, {point.method for point in points}
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
        ops={name: op for name, op in (ops or {}).items() if name in measured},
        methods={name: method for name, method in (methods or {}).items() if name in used},
        command=tuple(command),
        design=design,
    )
    _write(folder, campaign)
    return campaign


def add_sizes(folder: Path, campaign: CampaignFile, wanted: Sequence[tuple[int, int]]) -> CampaignFile:
    """Add points to the campaign, `(point, bytes)`: each as an earlier point, but of another size."""
    known = {point.point: point for point in campaign.points}
    first = max(known) + 1
    added = tuple(
        _resized(known[index], msgspec.structs.replace(known[index], point=first + i, bytes=size))
        for i, (index, size) in enumerate(wanted)
    )
    grown = msgspec.structs.replace(campaign, points=(*campaign.points, *added))
    _write(folder, grown)
    return grown


def add_look(folder: Path, campaign: CampaignFile, launches: int) -> CampaignFile:
    """Record that results of so many launches are looked at, and that more may follow."""
    if launches in campaign.looks:
        return campaign
    campaign = msgspec.structs.replace(campaign, looks=tuple(sorted((*campaign.looks, launches))))
    _write(folder, campaign)
    return campaign


def _with_launches(folder: Path, campaign: CampaignFile, plan: Plan) -> CampaignFile:
    """Raise the number of launches that the folder plans, and take the precision that is asked now: whoever
    goes on there goes on with these.

    Results of the launches before were looked at; so were those of a time budget, however many it had.
    """
    planned, changed = campaign.plan.get("launches"), dict[str, Any]()
    if not isinstance(planned, int):
        return campaign
    if campaign.plan.get("time_budget") or plan.time_budget:
        done = last_launch(folder)
        if 0 < done < planned:
            campaign = add_look(folder, campaign, done)
    if planned < plan.most_launches:
        campaign = add_look(folder, campaign, planned)
        changed["launches"] = plan.most_launches
    if plan.precision not in (None, campaign.plan.get("precision")):
        changed["precision"] = plan.precision
    if changed:
        campaign = msgspec.structs.replace(campaign, plan={**campaign.plan, **changed})
        _write(folder, campaign)
    return campaign


def last_launch(folder: Path) -> int:
    """Find the last launch in which anything has ended, 0 without any."""
    ended = (file for file in read_folder(folder, samples=False) if any(run.end for run in file.points))
    return max((file.job.launch for file in ended), default=0)


def _write(folder: Path, campaign: CampaignFile) -> None:
    try:
        make_folder(folder / "records")
        write_campaign(folder, without_secrets(campaign))
    except OSError as error:
        raise InputError(
            f"'{folder}' cannot be written: {error.strerror}; give --out another place"
        ) from None


def _check_same(
    folder: Path, campaign: CampaignFile, document: dict[str, Any], points: tuple[PlannedPoint, ...]
) -> None:
    """Raise InputError, with the differences, for a folder of another campaign."""
    differing = differences(masked_document(document), campaign.plan)
    points = points_without_secrets(points, document)
    _check_refined(folder, campaign.points)
    planned = tuple(point for point in campaign.points if point.refines is None)
    if not differing and planned == points:
        return
    if not differing:
        now = {msgspec.json.encode(point) for point in points}
        same = sum(msgspec.json.encode(point) in now for point in planned)
        told = f"{counted(len(points), 'test case')}, there {len(planned)}, {same} of them the same"
        differing = (told,)
    more = f"; and {len(differing) - _MOST_DIFFERENCES} more" if len(differing) > _MOST_DIFFERENCES else ""
    raise InputError(
        f"'{folder}' holds another campaign: {'; '.join(differing[:_MOST_DIFFERENCES])}{more}. Results are "
        f"never overwritten; give --out another name, or go on there: {resumed(folder)}"
    )


def _check_libraries(folder: Path, campaign: CampaignFile, ops: Mapping[str, PlannedOp]) -> None:
    """Raise InputError if a library of ops is another one than when the campaign began."""
    for name, op in campaign.ops.items():
        if op.library_sha256 is not None and name in ops and ops[name].library_sha256 != op.library_sha256:
            raise InputError(
                f"'{op.library}' has changed since '{folder}' was begun, and results of two libraries are "
                "not mixed; give --out another name, or restore the file"
            )


def _check_refined(folder: Path, points: Sequence[PlannedPoint]) -> None:
    """Raise InputError if a point that refines another one differs from it in more than its size: the command
    that resumes does not name it, so it may ask for nothing else.
    """
    known: dict[int, PlannedPoint] = {}
    for point in points:
        if point.refines is not None and (
            (origin := known.get(point.refines)) is None or _resized(origin, point) != point
        ):
            raise InputError(
                f"point {point.point} of {folder / 'campaign.json'} is none that --refine has added; restore "
                "the file, or give --out another name"
            )
        known[point.point] = point


def _with_refined(points: Sequence[PlannedPoint], known: Sequence[PlannedPoint]) -> tuple[PlannedPoint, ...]:
    """Take the points of the command, with their secrets, and after them those that refine them."""
    found = {point.point: point for point in points}
    for point in known:
        if point.refines is not None:
            found[point.point] = _resized(found[point.refines], point)
    return tuple(found.values())


def _resized(origin: PlannedPoint, to: PlannedPoint) -> PlannedPoint:
    """Make the point that differs only in size, under the number of `to`."""
    return msgspec.structs.replace(
        origin, point=to.point, bytes=to.bytes, reference=None, refines=origin.point
    )


def _is_ours_and_empty(folder: Path) -> bool:
    """Does a folder hold only what a full disk has left of one of ours?"""
    for path in folder.iterdir():
        if not (
            path.name == ".lock" or (path.name == "records" and path.is_dir() and not any(path.iterdir()))
        ):
            return False
    return True


def finished(folder: Path) -> dict[tuple[str, int], End]:
    """Read the ends of all points so far, by job name and point, without their samples; none of a point whose
    records are damaged.
    """
    return {
        (file.job.job, run.index): run.end
        for file in read_folder(folder, samples=False)
        for run in file.points
        if run.end is not None and run.damage is None
    }
