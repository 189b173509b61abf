"""Plans: what will be measured, from TOML or from the command line; resolve.py makes points of it."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from steelyard.base.engine_kinds import KINDS
from steelyard.base.errors import InputError, naming
from steelyard.base.files import real_path
from steelyard.base.printable import one_line, shortened
from steelyard.base.product import MOST_LAUNCHES
from steelyard.base.toml_file import read_toml
from steelyard.base.units import parse_duration, parse_percent, parse_seconds
from steelyard.plan.arrivals import Delays, read_arrivals
from steelyard.plan.axis import PlanAxis, WordAxis, as_value_error, check_key
from steelyard.plan.exclude import Exclude
from steelyard.plan.mistakes import explained, line_of
from steelyard.plan.own_words import own_words
from steelyard.plan.settings import (
    check_files,
    check_modules,
    check_stage,
    check_variable,
    check_wrappers,
    words_of,
)
from steelyard.plan.shipped import shipped_plans

MOST_SECONDS = (
    10.0  # most time of a point in a launch under a large time budget: more launches are better then
)

USUAL_LAUNCHES = 10
MOST_PRECISE = 200  # launches with a precision, if no other number is given: narrower by 5 than ten
_MOST_QUOTED = 100  # letters of a key, in a sentence
_LEAST_LEFT = 0.1  # s, of a time budget that is written with one decimal

Value = float | str  # of a parameter


# Keys of a measure that are not empty, and have what is read from them.
_AXES = ("bytes", "ranks", "hosts", "ranks_per_host", "threads", "thread_level", "method", "placement")
_LOOKED_FOR = ("ops", "params", "omp", "env")
_MOST_ENTRIES = 1000  # of each of them, and of measures
_CHECKED = ("ops", *_AXES, "rule", "params", "omp", "env")
# Keys of a plan that are texts, lists or tables of them; those that are times.
_PERCENTAGES = ("precision", "detect")
_TIMES = ("time_budget", "spread", "hang_after")
_TEXTS = ("include", "mpi", "shmem", "launcher", "stage", "arms", "clock", "sync", "arrivals")
_MAY_BE_NONE = ("include", "mpi", "shmem", "arms")  # empty by default


class MeasureError(InputError, ValueError):
    """A value that no measure or plan can have; the reader of TOML adds the place to a ValueError."""


class Measure(Struct, frozen=True, forbid_unknown_fields=True):
    """A product of axes: each op at each size, rank count, thread count and value of each parameter."""

    ops: tuple[str, ...]  # names or patterns
    bytes: PlanAxis | None = None  # sizes, "0,8,1Ki..4Mi"; None: the op's own
    ranks: PlanAxis | None = None  # None: 2 for point-to-point, all cores for collectives, 1 for local ops
    hosts: PlanAxis | None = None  # of equal numbers of ranks; None: one, and results do not mention hosts
    ranks_per_host: PlanAxis | None = None  # in place of ranks
    threads: PlanAxis = 1
    thread_level: WordAxis | None = None  # "multiple", "single,multiple": launches that ask MPI for it
    method: WordAxis | None = None  # several: each op under all of them that suit it
    rule: str | None = None
    placement: PlanAxis | None = None  # "each", "0,1;0,2": launches with these places of ranks and threads
    engine: str | None = (
        None  # "solo", "mpi", "shmem"; None: without MPI for ops on one rank and messages that need none
    )
    params: Mapping[str, Value | tuple[Value, ...]] = {}
    omp: Mapping[str, str | tuple[str, ...]] = {}  # settings of OpenMP: launches for each
    env: Mapping[str, str | tuple[str, ...]] = {}  # variables: launches for each value; "-" removes one
    modules: str | tuple[str, ...] = ()  # sets of modules, "gcc/12 ucx": launches with each; "-": none
    wrapper: str | tuple[str, ...] = ()  # words before the engine, "apptainer exec x.sif": launches of each
    files: str | tuple[str, ...] = ()  # folders for files that ops read and write: launches of each
    if_files: bool = False  # the measure is left out unless `files` are given
    exclude: tuple[Exclude, ...] = ()  # of the product, these test cases
    beside: bool | None = None  # points of the same size follow each other in a launch, in random order
    first: bool = False  # the first launches have these points alone: what a time budget cuts are the others

    def __post_init__(self) -> None:
        """Check what the types do not. Raises MeasureError."""
        with as_value_error(MeasureError):
            self._check()

    def _check(self) -> None:
        for name in _CHECKED:
            if (value := getattr(self, name)) is not None:
                check_key(name, value, may_be_empty=name == "env")
        for name in _LOOKED_FOR:
            _check_few(name, len(getattr(self, name)))
        for name, words in self.env.items():
            check_variable(name, words_of(words))
        check_modules(words_of(self.modules))
        check_wrappers(words_of(self.wrapper))
        check_files(words_of(self.files))
        if self.engine not in (None, *KINDS):
            raise ValueError("engine is 'solo', 'mpi' or 'shmem'")


def _check_few(name: str, count: int) -> None:
    """Raise ValueError for more entries than somebody writes: each is looked for among all ops."""
    if count > _MOST_ENTRIES:
        raise ValueError(f"{name} has {count} entries; give at most {_MOST_ENTRIES}")


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """A campaign as its author wrote it."""

    measure: tuple[Measure, ...] = ()
    include: tuple[str, ...] = ()  # other plans, whose measures come first; empty after they are read
    name: str = "run"
    summary: str = ""
    launches: int | None = None  # of each test case; None: `most_launches`
    precision: str | None = None  # of each time, or ratio of arms: launches are added until ± is so narrow
    detect: str | None = None  # a difference of arms: as many launches as find it, if the scatter is known
    time_budget: str | None = None
    spread: str | None = None  # launches begin evenly over this time; waits do not count for the budget
    mpi: tuple[str, ...] = ()  # names or paths; none: the default
    shmem: tuple[str, ...] = ()  # the same of OpenSHMEM libraries
    launcher: str | None = None  # for ranks; None: that of the allocation, or the MPI's own
    stage: str | None = None  # a folder of each host's own, to which engines are copied
    arms: Mapping[str, tuple[Value, ...]] = {}  # a factor and its values: measured as neighbours
    oversubscribe: bool = False
    refine: bool = False  # in further launches, sizes around changes of protocol and bends
    yield_: str = msgspec.field(name="yield", default="real")
    clock: str | None = None
    sync: str | None = None  # the algorithm of synchronisation
    paths: str | None = None  # asymmetric: only guaranteed errors of the clocks are stated
    keep: str | None = None  # of each sample: all ranks' timestamps, or values reduced over ranks
    arrivals: Delays | str | None = None  # for arrival=file; in a plan's file the name of a file beside it
    hang_after: str = "60s"  # a launch that writes no record for this time hangs
    seed: int | None = None

    def __post_init__(self) -> None:
        """Check what the types do not. Raises MeasureError."""
        with as_value_error(MeasureError):
            self._check()

    @property
    def most_launches(self) -> int:
        """The launches of each test case; with a precision the most."""
        if self.launches is not None:
            return self.launches
        return MOST_PRECISE if self.precision else USUAL_LAUNCHES

    def _check(self) -> None:
        _check_few("measure", len(self.measure))
        for name in _TEXTS:
            value = getattr(self, name)
            if value is not None and not (name in _MAY_BE_NONE and not value):
                check_key(name, value)
        for name in _TIMES:
            if (value := getattr(self, name)) is not None:
                with naming(name):
                    parse_duration(value)
        for name in _PERCENTAGES:
            if (value := getattr(self, name)) is not None:
                with naming(name):
                    parse_percent(value)
        for name in ("refine", "detect"):
            if self.precision and getattr(self, name):
                raise ValueError(f"precision and {name} both decide what is measured; leave one of them out")
        if self.detect and not self.arms:
            raise ValueError("detect is about a difference of rivals; name them, as in --arms mpi=A,B")
        if self.stage is not None:
            check_stage(self.stage)
        if not self.measure and not self.include:
            raise ValueError("there is no [[measure]], so nothing to measure")
        if not 1 <= self.most_launches <= MOST_LAUNCHES:
            raise ValueError(f"launches must be from 1 to {MOST_LAUNCHES}")
        if self.seed is not None and self.seed < 0:
            raise ValueError(f"seed must be 0 or more, not {self.seed}")
        if not re.fullmatch(r"[\w.+-]{1,100}", self.name) or self.name.startswith("."):
            raise ValueError("name has letters, digits, '_', '-', '+' and '.', and does not begin with a '.'")
        if self.yield_ not in ("real", "none"):
            raise ValueError("yield is 'real' or 'none'")
        if self.paths not in (None, "symmetric", "asymmetric"):
            raise ValueError("paths is 'symmetric' or 'asymmetric'")
        if self.keep not in (None, "ranks", "sampled", "slowest"):
            raise ValueError("keep is 'ranks', 'sampled' or 'slowest'")


def read_plan(path: Path, within: tuple[Path, ...] = ()) -> Plan:
    """Read a plan from a TOML file, with the measures of those that it includes.

    `within` are the files that include this one. Raises InputError: which file, which line and key, what is
    allowed.
    """
    if not os.path.exists(path):  # noqa: PTH110 -- a name may be too long for a file
        raise InputError(f"there is no plan {path}; 'steelyard list' names those that ship")
    text, document = read_toml(path, f"the plan {path}")
    document = _listed(document)
    try:
        plan = msgspec.convert(document, Plan)
    except msgspec.ValidationError as error:
        line, sentence = _explain(str(error), text, document)
        where = f"{path}, line {line}" if line else str(path)
        raise InputError(f"the plan {where}: {sentence}") from None
    own = (
        msgspec.structs.replace(measure, ops=own_words(measure.ops, path.parent)) for measure in plan.measure
    )
    plan = msgspec.structs.replace(plan, measure=tuple(own))
    plan = _with_included(plan, path, (*within, real_path(path)))
    if isinstance(plan.arrivals, str):
        return msgspec.structs.replace(plan, arrivals=read_arrivals(path.parent / plan.arrivals))
    return plan


def _with_included(plan: Plan, path: Path, within: tuple[Path, ...]) -> Plan:
    """Put the measures of included plans before the plan's own: files beside it, or shipped plans."""
    measures: list[Measure] = []
    for name in plan.include:
        other = path.parent / name if name.endswith(".toml") else shipped_plans().get(name)
        quoted = one_line(name)
        if other is None:
            raise InputError(
                f"the plan {path} includes '{quoted}', which is neither a plan that ships nor a file that "
                f"ends in .toml{nearest(name, shipped_plans())}"
            )
        if real_path(other) in within:
            raise InputError(f"the plan {path} includes '{quoted}', which includes it; leave one of them out")
        measures += read_plan(other, within).measure
    return msgspec.structs.replace(plan, measure=(*measures, *plan.measure), include=())


def _listed(document: dict[str, Any]) -> dict[str, Any]:
    """Replace texts of several names, `ops = "a,b"`, by lists."""

    def with_list(table: Any, key: str) -> Any:
        if not isinstance(table, dict) or not isinstance(names := table.get(key), str):
            return table
        return table | {key: [name.strip() for name in names.split(",")]}

    document = with_list(with_list(with_list(document, "mpi"), "shmem"), "include")
    measures = document.get("measure")
    if isinstance(measures, list):
        document = document | {"measure": [with_list(measure, "ops") for measure in measures]}
    return document


def _explain(message: str, text: str, document: Mapping[str, Any]) -> tuple[int | None, str]:
    """Make the line and a sentence; for an unknown key with the one that was probably meant."""
    match = re.match(r"Object contains unknown field `(.+?)`(?: - at `\$(.*)`)?", message)
    if match is None:
        return explained(message, text, document)
    inside = "measure" in (match[2] or "")
    excludes = "exclude" in (match[2] or "")
    whose = Exclude if excludes else Measure if inside else Plan
    known = [field.encode_name for field in msgspec.structs.fields(whose)]
    where = "an exclude" if excludes else "a [[measure]]" if inside else "it"
    line = line_of(text, "exclude" if excludes else match[1], inside)
    key = shortened(match[1], _MOST_QUOTED)
    return line, f"{where} has no key '{key}'{nearest(key, known)}"


def nearest(word: str, known: Iterable[str]) -> str:
    """Write `; did you mean 'mpi.bcast'?`, or nothing if no known word is near."""
    names = list(known)
    parts = sorted((name for name in names if f".{word}." in f".{name}."), key=len)  # whole parts of a name
    near = parts or difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else ""


def budget_left(seconds: float | None) -> str | None:
    """Write what is left of a time budget, for the plan of a further round: above 0, as it must be."""
    return None if seconds is None else f"{max(seconds, _LEAST_LEFT):.1f}s"


def budget_seconds(plan: Plan) -> float | None:
    """Return the time budget of a plan in seconds. Raises InputError."""
    return None if plan.time_budget is None else parse_seconds(plan.time_budget)


# Keys that may differ when a campaign is resumed: how much is measured, not what or how.
_FREE = (
    *("name", "summary", "launches", "precision", "detect", "time_budget"),
    *("spread", "hang_after", "refine", "stage"),
)
_NOT_GIVEN: tuple[Any, ...] = (None, [], (), {})  # an older plan does not have the key


def plan_document(plan: Plan) -> dict[str, Any]:
    """Make the plan's document for campaign.json, which has the seed elsewhere."""
    document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(plan))
    document.pop("seed")
    document["launches"] = plan.most_launches
    return document


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[str, ...]:
    """List the differences of two plans' documents in words, except the number of launches and the time.

    The value of `one` stands first: `yield is "none", there "real"`. A document that an older Steelyard wrote
    lacks newer keys; it has their defaults.
    """
    usual = {
        field.encode_name: field.default
        for kind in (Plan, Measure)
        for field in structs.fields(kind)
        if field.default is not msgspec.NODEFAULT
    }
    found: list[str] = []
    for key in dict.fromkeys((*one, *other)):
        mine, theirs = (document.get(key, usual.get(key)) for document in (one, other))
        if key in _FREE or mine == theirs or (mine in _NOT_GIVEN and theirs in _NOT_GIVEN):
            continue
        if key == "measure" and len(mine or ()) == len(theirs or ()):
            for here, there in zip(mine or (), theirs or (), strict=True):
                found += differences(here, there)
        elif key == "measure":
            found.append(f"{len(mine or ())} measures, there {len(theirs or ())}")
        else:
            found.append(f"{key} is {_shown(mine)}, there {_shown(theirs)}")
    return tuple(found)


def _shown(value: Any) -> str:
    return "not given" if value in _NOT_GIVEN else msgspec.json.encode(value).decode()
