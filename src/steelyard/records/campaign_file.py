"""campaign.json: the plan, and the machine."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.files import check_regular, read_regular, write_whole
from steelyard.base.json_text import ANYTHING, MOST_FREE, MOST_VALUES, check_shape, decode_json, values_in
from steelyard.base.printable import all_visible, is_plain, visible
from steelyard.base.product import MOST_LAUNCHES, MOST_TEST_CASES
from steelyard.base.secret import masked, masked_document, masked_settings, masked_words
from steelyard.records.fields import Count, Environment, Name, Params, RankCount, ThreadCount
from steelyard.records.kinds import BLOCKING, CALL
from steelyard.records.legacy_kinds import op_kind
from steelyard.records.schema import SCHEMA

UNBOUND = "unbound"  # the kind of a placement that binds nothing
OTHER_HOST = "other-host"  # ... whose ranks are on two hosts
UNSET = "-"  # the value that removes a variable from the environment
# Names among a launch's variables that no variable has: modules to load, the words before the engine on each
# rank, as of a container, and the folder for files that ops read and write.
MODULES, WRAPPER, FILES = "module load", "run by", "files in"
# Their keys in a plan, which may be factors of arms, too.
AROUND = {"modules": MODULES, "wrapper": WRAPPER, "files": FILES}
_MOST_POINTS = MOST_TEST_CASES * 11 // 10  # those that --refine adds included
Looks = Annotated[tuple[Count, ...], Meta(max_length=MOST_LAUNCHES)]
_CRC = "crc"  # the key of the checksum
_LONGEST_NAME = 40  # letters for the CPUs of a placement


class Placement(Struct, frozen=True):
    """The places of ranks and threads in a plan: the CPU of each thread of rank 0, then of rank 1, and so on.

    `kind` is the class of a pair of CPUs (see `topology.CLASSES`), `list` for other numbers of them, or
    `unbound`, without `cpus`. `interrupts` are those CPUs whose core takes the interrupts of devices. A
    placement of `hosts` has no CPUs: each has as many ranks, in this order, so of two the first has the
    first half; `kind` is the class of these two, or `other-host` for more.
    """

    kind: str
    cpus: tuple[int, ...] = ()
    interrupts: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Its value for `--placement`: `0,1`, `n1,n2`, `unbound`."""
        return ",".join(self.hosts or map(str, self.cpus)) or self.kind

    @property
    def text(self) -> str:
        """`shared-l3 0,1`, `other-host n1,n2`, `unbound`."""
        return f"{self.kind} {self.words}" if self.cpus or self.hosts else self.kind

    @property
    def name(self) -> str:
        """Its name in files: `on-0-1`, `unbound`; many CPUs are replaced by a checksum, to keep
        names short.
        """
        text = "-".join(self.hosts or map(str, self.cpus))
        if len(text) > _LONGEST_NAME:
            text = f"{zlib.crc32(text.encode()):08x}"
        return f"on-{text}" if text else self.kind

    @property
    def shares(self) -> bool:
        """Must any CPU serve two ranks or threads?"""
        return len(set(self.cpus)) < len(self.cpus)


class PlannedPoint(Struct, frozen=True, kw_only=True):
    """A point as campaign.json plans it."""

    point: Count
    op: Name
    bytes: Count = 0
    ranks: RankCount = 1
    threads: ThreadCount = 1
    thread_level: Name | None = None  # asked of MPI; None: what the threads need
    method: Name = ""
    rule: Name = ""
    params: Params = {}
    method_params: Params = {}
    rule_params: Params = {}
    mpi: Name | None = None
    omp: Environment = {}  # settings of OpenMP for the launch
    reference: Count | None = None  # the point of the same op without what is measured
    placement: Placement | None = None  # None: the launcher's default
    env: Environment = {}  # variables of the launch, those of AROUND; "-" removes one
    hosts: RankCount | None = None  # of equal numbers of ranks; None: the plan does not set them
    arm: Name | None = None  # the arm that it belongs to, if arms are compared
    beside: int | None = None  # points of the same number and size follow each other in a launch
    first: bool = False  # the first launches of these come before those of the others
    opens: bool = False  # it is timed before all else, in a launch of its own
    refines: Count | None = None  # the point from which it differs only in size, which --refine chose


class PlannedOp(Struct, frozen=True):
    """An op as the engine describes it to readers; `base` to `layer` as in `schema.Point`.

    `params` are the defaults of its parameters, for test cases that died before their record had them.
    """

    summary: str = ""
    sized: bool = False
    base: str | None = None  # None: the file is older; the reader fills it in
    form: str = BLOCKING
    role: str = CALL
    layer: str | None = None
    params: Params = {}
    library: str | None = None  # the file of an op of the user's own; None: it is ours
    library_sha256: str | None = None  # of that file, when the campaign began

    def word(self, name: str) -> str:
        """Write what `steelyard run` calls the op of this name: `/home/me/libmine.so:mine.sum`."""
        return name if self.library is None else f"{self.library}:{name}"


class PlannedMethod(Struct, frozen=True):
    """A method as the engine describes it to readers."""

    summary: str = ""


class Design(Struct, frozen=True):
    """What is fixed of the tests of a campaign before its first launch.

    `family` columns are compared by so many `comparisons` of arms, at the rate of `false_alarm` together;
    `least` and `margin` as for verdicts. None and 0 without arms. `looks` are the numbers of launches at
    which results are to be looked at.
    """

    family: Count | None = None
    comparisons: Count = 0
    false_alarm: float = 0.0
    least: float = 0.0
    margin: float = 0.0
    looks: Looks = ()


class CampaignFile(Struct, frozen=True, kw_only=True):
    """campaign.json: the plan, and the machine."""

    schema: int = SCHEMA
    name: str = ""
    seed: int = 0
    created: str = ""
    plan: dict[str, Any] = {}
    points: Annotated[tuple[PlannedPoint, ...], Meta(max_length=_MOST_POINTS)] = ()
    machine: dict[str, Any] = {}
    topology: dict[str, Any] | None = None  # the origin of placements
    command: tuple[str, ...] = ()  # the words of the command that began it; older folders have none
    ops: dict[str, PlannedOp] = {}  # those of the points, by name
    methods: dict[str, PlannedMethod] = {}  # those of the points, by name; none in older files
    design: Design | None = None  # None in older files
    looks: Looks = ()  # launches that there were when results were looked at, before it grew


class _MachineFacts(Struct, frozen=True):
    """The facts of the machine that readers compute with; `system.machine.Machine` has more."""

    host: Name = ""
    cpu_model: Name = ""
    cores: tuple[tuple[int, ...], ...] = ()


def holds_campaign(folder: Path) -> bool:
    """Has a folder a campaign.json? Raises InputError if that is no regular file."""
    path = folder / "campaign.json"
    check_regular(path)
    return path.exists()


def read_campaign(folder: Path) -> CampaignFile:
    """Read campaign.json of a results folder, or make an empty one if it is missing. Raises InputError.

    Secrets that an earlier version kept are masked.
    """
    path = folder / "campaign.json"
    if not holds_campaign(folder):
        return CampaignFile(name=visible(folder.name))
    try:
        data = read_regular(path)
        document = decode_json(data, ANYTHING)
        is_whole = not isinstance(document, dict) or document.pop(_CRC, None) in (None, _crc_of(document))
        document = document if is_plain(data) else all_visible(document)
        campaign = msgspec.convert(document, CampaignFile)
        msgspec.convert(campaign.machine, _MachineFacts)
        _check_shape(document, campaign)
    except msgspec.DecodeError as error:
        raise InputError(
            f"{path} is not a campaign ({visible(str(error))}); restore it or measure into another folder"
        ) from error
    if campaign.schema != SCHEMA:
        raise InputError(
            f"{path} has format {campaign.schema}, not {SCHEMA}; use the steelyard that wrote it"
        )
    if not is_whole:
        raise InputError(
            f"{path} was changed after it was written; restore it, or move it away to see what the records "
            "alone say"
        )
    known = {point.op: campaign.ops.get(point.op, PlannedOp()) for point in campaign.points}
    return without_secrets(replace(campaign, ops={name: _completed(name, op) for name, op in known.items()}))


def without_secrets(campaign: CampaignFile) -> CampaignFile:
    """Mask secrets, as the file has it: in variables, wrappers and the command that began it."""
    return replace(
        campaign,
        plan=masked_document(campaign.plan),
        points=points_without_secrets(campaign.points, campaign.plan),
        command=masked_words(campaign.command),
    )


def points_without_secrets(
    points: Iterable[PlannedPoint], plan: Mapping[str, Any]
) -> tuple[PlannedPoint, ...]:
    """Mask secrets in the variables, wrappers and arms of points of a plan."""
    factor = next(iter(plan.get("arms") or {""}))

    @cache  # many points have the same
    def shown(env: tuple[tuple[str, str], ...], arm: str | None) -> dict[str, Any]:
        return {"env": masked_settings(dict(env)), "arm": None if arm is None else masked(factor, arm)}

    return tuple(
        replace(point, **shown(tuple(point.env.items()), point.arm))
        if point.env or point.arm is not None
        else point
        for point in points
    )


def write_campaign(folder: Path, campaign: CampaignFile) -> None:
    """Write campaign.json, with a checksum of all that it says. Raises OSError, and InputError for one that
    would not be read again.
    """
    encoded = msgspec.json.encode(campaign)
    if values_in(encoded) > MOST_VALUES:
        raise InputError(
            f"the plan and its test cases have more than {MOST_VALUES} values; divide it into several plans"
        )
    document = msgspec.json.decode(encoded)
    try:
        _check_shape(document, campaign)
    except msgspec.DecodeError as error:
        raise InputError(
            f"campaign.json would hold more than anybody reads ({error}); divide the plan into several plans"
        ) from None
    document[_CRC] = _crc_of(document)
    write_whole(folder / "campaign.json", msgspec.json.format(msgspec.json.encode(document)) + b"\n")


def _check_shape(document: Any, campaign: CampaignFile) -> None:
    """Raise msgspec.DecodeError for a campaign of which some part is larger than readers can follow."""
    check_shape(document)
    check_shape([campaign.plan, campaign.machine, campaign.topology, list(campaign.command)], MOST_FREE)


def _crc_of(document: dict[str, Any]) -> str:
    """Compute the checksum of a document without one, whatever its layout."""
    return f"{zlib.crc32(msgspec.json.encode(document)):08x}"


def _completed(name: str, op: PlannedOp) -> PlannedOp:
    """Complete an op of an older file."""
    if op.base is not None:
        return op
    kind = op_kind(name)
    return replace(op, base=kind.base, form=kind.form, role=kind.role, layer=kind.layer)
