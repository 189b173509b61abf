"""Plans: what is to be measured, from TOML or from the command line; resolve.py makes points of it."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from steelyard.arrivals import Delays, read_arrivals
from steelyard.errors import InputError
from steelyard.units import parse_seconds

Axis = int | str | tuple[int | str, ...]

MOST_SECONDS = (
    10.0  # what a large time budget gives a point in a launch at most: then more launches are better
)

Value = float | str  # of a parameter


class Measure(Struct, frozen=True, forbid_unknown_fields=True):
    """A product of axes: each op at each size, rank count, thread count and value of each parameter."""

    ops: tuple[str, ...]  # names or patterns
    bytes: Axis | None = None  # sizes, "0,8,1Ki..4Mi"; None: the op's own
    ranks: Axis | None = None  # None: 2 for point-to-point ops, all cores for collectives, 1 for local ones
    threads: Axis = 1
    thread_level: Axis | None = None  # "multiple", "single,multiple": launches that ask MPI for it
    method: Axis | None = None  # several: each op under all of them that suit it
    rule: str | None = None
    placement: Axis | None = None  # "each", "0,1;0,2": launches whose ranks and threads are there
    engine: str | None = None  # "solo", "mpi"; None: without MPI what is local on one rank, or point-to-point
    params: Mapping[str, Value | tuple[Value, ...]] = {}
    omp: Mapping[str, str | tuple[str, ...]] = {}  # settings of OpenMP: launches for each

    def __post_init__(self) -> None:
        """Check what the types do not say. msgspec turns the ValueError into its own."""
        if not self.ops:
            raise ValueError("ops names no op")
        if self.engine not in (None, "solo", "mpi"):
            raise ValueError("engine is 'solo' or 'mpi'")


class Plan(Struct, frozen=True, forbid_unknown_fields=True):
    """A campaign as its author wrote it."""

    measure: tuple[Measure, ...]
    name: str = "run"
    summary: str = ""
    launches: int = 10
    time_budget: str | None = None
    mpi: tuple[str, ...] = ()  # names or paths; none: the default
    oversubscribe: bool = False
    yield_: str = msgspec.field(name="yield", default="real")
    clock: str | None = None
    sync: str | None = None  # the algorithm of synchronisation
    paths: str | None = None  # asymmetric: only certain errors of the clocks are stated
    arrivals: Delays | str | None = None  # for arrival=file; in a plan's file the name of one, beside it
    hang_after: str = "60s"  # a launch that writes no record for so long hangs
    seed: int | None = None

    def __post_init__(self) -> None:
        """Check what the types do not say. msgspec turns the ValueError into its own."""
        if not self.measure:
            raise ValueError("there is no [[measure]], so nothing to measure")
        if self.launches < 1:
            raise ValueError("launches must be at least 1")
        if self.yield_ not in ("real", "none"):
            raise ValueError("yield is 'real' or 'none'")
        if self.paths not in (None, "symmetric", "asymmetric"):
            raise ValueError("paths is 'symmetric' or 'asymmetric'")


def read_plan(path: Path) -> Plan:
    """A plan from a TOML file. Raises InputError: which file, which key, what is wrong."""
    try:
        with path.open("rb") as file:
            plan = msgspec.convert(tomllib.load(file), Plan)
    except FileNotFoundError:
        raise InputError(f"there is no plan {path}; 'steelyard list' names those that ship") from None
    except OSError as error:
        raise InputError(f"the plan {path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"the plan {path} is no TOML: {error}") from None
    except msgspec.ValidationError as error:
        raise InputError(f"the plan {path}: {_explain(str(error))}") from None
    if isinstance(plan.arrivals, str):
        return msgspec.structs.replace(plan, arrivals=read_arrivals(path.parent / plan.arrivals))
    return plan


def _explain(message: str) -> str:
    """msgspec's complaint, with the key that was probably meant."""
    match = re.match(r"Object contains unknown field `(.+?)`(?: - at `\$(.*)`)?", message)
    if match is None:
        return message
    inside = "measure" in (match[2] or "")
    known = [field.encode_name for field in msgspec.structs.fields(Measure if inside else Plan)]
    where = "a [[measure]]" if inside else "it"
    return f"{where} has no key '{match[1]}'{nearest(match[1], known)}"


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'mpi.bcast'?`, or nothing where no known word is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean '{near[0]}'?" if near else ""


def budget_seconds(plan: Plan) -> float | None:
    """The time budget of a plan in seconds. Raises InputError."""
    return None if plan.time_budget is None else parse_seconds(plan.time_budget)


# What a plan may say differently when its campaign is gone on with: how much is measured, not what or how.
_FREE = ("name", "summary", "launches", "time_budget", "hang_after")


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as it is kept in campaign.json, which has the seed elsewhere."""
    document: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(plan))
    document.pop("seed")
    return document


def is_same_plan(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Do two documents plan the same measurement, were it in more launches or with more time?"""
    return all(one.get(key) == other.get(key) for key in {*one, *other} - {*_FREE})
