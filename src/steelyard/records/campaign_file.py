"""campaign.json: what was planned, on which machine."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.files import read_regular
from steelyard.base.foreign import all_visible, visible
from steelyard.records.fields import Params
from steelyard.records.kinds import BLOCKING, CALL
from steelyard.records.older import op_kind
from steelyard.records.schema import SCHEMA

UNBOUND = "unbound"  # the kind of a placement that binds nothing
OTHER_HOST = "other-host"  # ... whose ranks are on two hosts
UNSET = "-"  # the value of a variable that is taken out of the environment
# Among the variables of a launch, by names that no variable has: modules that are loaded for it, and the
# words that come before the engine on each rank, as of a container.
MODULES, WRAPPER = "module load", "run by"
AROUND = {"modules": MODULES, "wrapper": WRAPPER}  # by their keys in a plan, which are factors of arms, too
_LONGEST_NAME = 40  # of the CPUs of a placement, in letters


class Placement(Struct, frozen=True):
    """Where a plan wants ranks and threads: the CPU of each thread of rank 0, then of rank 1, and so on.

    `kind` is the class of a pair of CPUs (see `topology.CLASSES`), `list` for other numbers of them, or
    `unbound`, without `cpus`. `interrupts` are those of them whose core takes the interrupts of devices.
    A placement of `hosts` has no CPUs: the first half of the ranks is on the first host, the others are on
    the second, and `kind` is the class of these two.
    """

    kind: str
    cpus: tuple[int, ...] = ()
    interrupts: tuple[int, ...] = ()
    hosts: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """As `--placement` takes it: `0,1`, `n1,n2`, `unbound`."""
        return ",".join(self.hosts or map(str, self.cpus)) or self.kind

    @property
    def text(self) -> str:
        """`shared-l3 0,1`, `other-host n1,n2`, `unbound`."""
        return f"{self.kind} {self.words}" if self.cpus or self.hosts else self.kind

    @property
    def name(self) -> str:
        """For files: `on-0-1`, `unbound`; of many CPUs a number that stands for them, for names are short."""
        text = "-".join(self.hosts or map(str, self.cpus))
        if len(text) > _LONGEST_NAME:
            text = f"{zlib.crc32(text.encode()):08x}"
        return f"on-{text}" if text else self.kind

    @property
    def shares(self) -> bool:
        """Does any CPU have to serve two?"""
        return len(set(self.cpus)) < len(self.cpus)


class PlannedPoint(Struct, frozen=True, kw_only=True):
    """A point as campaign.json plans it."""

    point: int
    op: str
    bytes: int = 0
    ranks: int = 1
    threads: int = 1
    thread_level: str | None = None  # of MPI; None: what the threads need
    method: str = ""
    rule: str = ""
    params: Params = {}
    method_params: Params = {}
    rule_params: Params = {}
    mpi: str | None = None
    omp: dict[str, str] = {}  # settings of OpenMP that the launch makes
    reference: int | None = None  # the point that is the same without what is measured
    placement: Placement | None = None  # None: as the launcher is told by default
    env: dict[str, str] = {}  # variables of the launch, MODULES and WRAPPER; "-" takes one out
    hosts: int | None = None  # as many ranks on each; None: the plan says nothing of hosts
    arm: str | None = None  # which of the arms that are compared it belongs to
    beside: int | None = None  # those of the same number and size follow each other in a launch
    refines: int | None = None  # the point that it is but for its size, which was found on the way


class PlannedOp(Struct, frozen=True):
    """What a reader wants to know of an op, as the engine says it; `base` to `layer` as in `schema.Point`.

    `params` are the defaults of its parameters: what a test case was that died before its record had them.
    """

    summary: str = ""
    sized: bool = False
    base: str | None = None  # None: the file is older; the reader fills it in
    form: str = BLOCKING
    role: str = CALL
    layer: str | None = None
    params: Params = {}


class PlannedMethod(Struct, frozen=True):
    """What a reader wants to know of a method, as the engine says it."""

    summary: str = ""


class CampaignFile(Struct, frozen=True, kw_only=True):
    """campaign.json: what was planned, on which machine."""

    schema: int = SCHEMA
    name: str = ""
    seed: int = 0
    created: str = ""
    plan: dict[str, Any] = {}
    points: tuple[PlannedPoint, ...] = ()
    machine: dict[str, Any] = {}
    topology: dict[str, Any] | None = None  # that placements were made from
    command: tuple[str, ...] = ()  # the words of the command that began it; older folders do not say
    ops: dict[str, PlannedOp] = {}  # those of the points, by name
    methods: dict[str, PlannedMethod] = {}  # those of the points, by name; none in older files


class _MachineFacts(Struct, frozen=True):
    """The facts of the machine that readers count with; `system.machine.Machine` has more."""

    host: str = ""
    cpu_model: str = ""
    cores: tuple[tuple[int, ...], ...] = ()


def read_campaign(folder: Path) -> CampaignFile:
    """campaign.json of a results folder, an empty one where it is missing. Raises InputError."""
    path = folder / "campaign.json"
    if not path.exists():
        return CampaignFile(name=visible(folder.name))
    try:
        document = all_visible(msgspec.json.decode(read_regular(path)))
        campaign = msgspec.convert(document, CampaignFile)
        msgspec.convert(campaign.machine, _MachineFacts)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f"{path} is not a campaign ({visible(str(error))}); restore it or measure into another folder"
        ) from error
    if campaign.schema != SCHEMA:
        raise InputError(
            f"{path} has format {campaign.schema}, not {SCHEMA}; use the steelyard that wrote it"
        )
    known = {point.op: campaign.ops.get(point.op, PlannedOp()) for point in campaign.points}
    return replace(campaign, ops={name: _completed(name, op) for name, op in known.items()})


def _completed(name: str, op: PlannedOp) -> PlannedOp:
    """An op with what an older file leaves out."""
    if op.base is not None:
        return op
    kind = op_kind(name)
    return replace(op, base=kind.base, form=kind.form, role=kind.role, layer=kind.layer)
