"""A site's own limits, from a TOML file: times, memory and impacts below, rates above. Each is a topic."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from steelyard.analyses.congestion.model import NONE, P50, TRAFFIC, congestions
from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.printable import shortened, visible
from steelyard.base.toml_file import read_toml
from steelyard.base.units import (
    format_bytes,
    format_factor,
    format_memory,
    format_mops,
    format_rate,
    format_time,
    format_value,
    parse_bytes,
    parse_seconds,
)
from steelyard.judges.accept.criterion import NOT_WELL, WELL, Candidate, Criterion, Finding
from steelyard.judges.accept.measurement import FALSE_ALARM, Weighed
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.records.command_line import command
from steelyard.results.facets import Memory, Rate
from steelyard.results.row import Row, has_time
from steelyard.rows.words import row_name
from steelyard.stats import difference_interval, launch_interval

_MOST_LIMITS = 1000
_LONGEST = 60  # letters of a name, and of what is quoted
_PARTS = ("rank", "socket", "host")
_RATES = {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12}
_OPERATIONS = {"Mop/s": 1.0, "Gop/s": 1e3, "Top/s": 1e6}  # in millions
_ALONE = ("mem.", "cpu.")  # ops whose ranks work each for itself
_KEEPING = "mpi.memory."  # ops that count what the library keeps
_VICTIM = "mpi.pattern.victim"  # how names of ops begin that are measured beside traffic
_FACTOR = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)x", re.ASCII)
_EXAMPLE = 'what = "latency between hosts", op = "mpi.pingpong", bytes = 8, hosts = 2, below = "2us"'


class Limit(Struct, frozen=True, forbid_unknown_fields=True):
    """What a site asks of the test cases that match all its keys: a time, bytes of memory or an impact factor
    `below`, or a rate `above`.

    A rate is that of a rank, as tables show it; `per` makes it that of all ranks of a socket or host.
    """

    what: str
    op: str
    below: str | None = None
    above: str | None = None
    per: str = "rank"
    bytes: int | str | None = None
    ranks: int | None = None
    hosts: int | None = None
    threads: int | None = None
    mpi: str | None = None  # a name or a family
    method: str | None = None
    params: dict[str, float | str] = {}  # of the op, the method or the rule

    def __post_init__(self) -> None:
        """Check what the types do not; msgspec adds the place to the ValueError."""
        if not re.fullmatch(rf"\S.{{0,{_LONGEST - 1}}}", self.what) or visible(self.what) != self.what:
            raise ValueError(f"what is a name of at most {_LONGEST} letters")
        if (self.below is None) == (self.above is None):
            raise ValueError("it has one of below, a time such as 2us, and above, a rate such as 180GB/s")
        if self.is_memory and not self.op.startswith(_KEEPING):
            raise ValueError("bytes are a limit of mpi.memory.*: what the library keeps of each object")
        if self.is_factor and not self.op.startswith(_VICTIM):
            raise ValueError(f"a factor is a limit of {_VICTIM}*: its time beside traffic over that without")
        if self.per not in _PARTS:
            raise ValueError(f"per is one of {', '.join(_PARTS)}")
        if self.per != "rank" and (self.below is not None or not self.op.startswith(_ALONE)):
            raise ValueError("per is for rates of mem.* and cpu.*, whose ranks work each for itself")
        try:
            _ = self.value, self.size
        except InputError as error:
            raise ValueError(str(error)) from None

    @property
    def value(self) -> float:
        """The limit: ns, bytes, a factor, bytes/s, or millions of operations a second. Raises InputError."""
        if self.is_memory:
            return float(parse_bytes(self.below or ""))
        if self.is_factor:
            return float((self.below or "")[:-1])
        if self.below is not None:
            return parse_seconds(self.below) * 1e9
        number, unit = _number_of(self.above or "")
        return number * (_OPERATIONS | _RATES)[unit]

    @property
    def size(self) -> int | None:
        """Bytes of a message or array; None: any. Raises InputError."""
        return None if self.bytes is None else parse_bytes(str(self.bytes))

    @property
    def is_memory(self) -> bool:
        """Is it of the memory of an object, `10KiB`?"""
        return self.below is not None and self.below.endswith("B")

    @property
    def is_factor(self) -> bool:
        """Is it of the impact of traffic on a victim, `3x`?"""
        return self.below is not None and _FACTOR.fullmatch(self.below) is not None

    @property
    def counts(self) -> bool:
        """Is it a rate of operations, and not of bytes?"""
        return self.above is not None and _number_of(self.above)[1] in _OPERATIONS

    def matches(self, row: Row) -> bool:
        """Is a row one of the test cases that are meant?"""
        on = len(row.placed.hosts) if row.placed and row.placed.hosts else (row.hosts or 1)
        asked = (self.size, self.ranks, self.hosts, self.threads, self.method)
        has = (row.bytes, row.ranks, on, row.threads, row.method)
        given = {**row.params, **row.method_params, **row.rule_params}
        is_loaded = not self.is_factor or row.params.get(TRAFFIC) != NONE
        return (
            row.op == self.op
            and is_loaded
            and all(given.get(name) == value for name, value in self.params.items())
            and all(a is None or a == b for a, b in zip(asked, has, strict=True))
            and (self.mpi is None or self.mpi in (row.mpi, (row.mpi or "").partition("-")[0]))
        )

    def words(self, value: float) -> str:
        """Write a value in its unit: `1.42 us`, `183 GB/s a socket`."""
        if self.is_factor:
            return f"{format_factor(value)}x"
        if self.below is not None:
            return format_memory(value) if self.is_memory else format_time(value)
        return f"{format_mops(value) if self.counts else format_rate(value)}{self._each}"

    @property
    def _each(self) -> str:
        return "" if self.per == "rank" else f" a {self.per}"

    @property
    def question(self) -> str:
        """Write `Is mpi.pingpong 8 B on 2 hosts below 2us?`."""
        of = "" if self.size is None else f" {format_bytes(self.size)}"
        on = "" if self.hosts is None else f" on {counted(self.hosts, 'host')}"
        params = "".join(f" {name}={format_value(value)}" for name, value in self.params.items())
        return f"Is {self.op}{of}{on}{params} {self.asked}?"

    @property
    def asked(self) -> str:
        """Write `below 2us`, `above 180GB/s a socket`, in the site's words."""
        return f"below {self.below}" if self.below is not None else f"above {self.above}{self._each}"


def _number_of(text: str) -> tuple[float, str]:
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,15})?)\s*(\S+)", text.strip(), re.ASCII)
    if match is None or match[2] not in _RATES | _OPERATIONS or float(match[1]) <= 0:
        raise InputError(f"'{shortened(text, _LONGEST)}' is not a rate; write 180GB/s, 900MB/s or 500Mop/s")
    return float(match[1]), match[2]


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    limit: tuple[Limit, ...] = ()


def read_limits(path: Path) -> tuple[Limit, ...]:
    """Read the limits of a site from a TOML file. Raises InputError: which file, which limit, what is wrong
    with it.
    """
    name = f"the file of limits {path}"
    _, document = read_toml(path, name)
    try:
        found = msgspec.convert(document, _File).limit
    except msgspec.ValidationError as error:
        raise InputError(f"{name}{_explained(str(error))}") from None
    if not found:
        raise InputError(f"{name} has no [[limit]]; write one: {_EXAMPLE}")
    if len(found) > _MOST_LIMITS:
        raise InputError(f"{name} has {len(found)} limits; give {_MOST_LIMITS} at most")
    names = [one.what for one in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{name} has '{twice}' twice; give each a name (what) of its own")
    return found


def _explained(message: str) -> str:
    """Make our words of msgspec's: `, limit 2: it has no key 'byte'; did you mean 'bytes'?`."""
    said, _, where = message.partition(" - at `$")
    at = re.match(r"\.limit\[(\d+)\](?:\.(\w+))?", where)
    place = f", limit {int(at[1]) + 1}: " if at else ": "
    key = at[2] if at else None
    if unknown := re.match(r"Object contains unknown field `(.+)`", said, re.DOTALL):
        known = [field.name for field in msgspec.structs.fields(Limit if at else _File)]
        near = difflib.get_close_matches(unknown[1][:_LONGEST], known, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"it may have {', '.join(known)}"
        return f"{place}there is no key '{visible(shortened(unknown[1], _LONGEST))}'; {hint}"
    if missing := re.match(r"Object missing required field `(\w+)`", said):
        return f"{place}it has no {missing[1]}, as in {_EXAMPLE}"
    return f"{place}{f'{key}: ' if key else ''}{visible(said)}"


def limit_criteria(limits: Sequence[Limit]) -> Iterator[Criterion]:
    """Make a criterion of each limit; all of them share the level."""
    remedy = "Compare the settings with those of a machine that meets it (steelyard diff)."
    for limit in limits:
        yield Criterion(limit.what, limit.question, remedy, partial(_judged, limit=limit, family=len(limits)))


def _judged(candidate: Candidate, limit: Limit, family: int) -> Finding:
    weighed = candidate.weighed
    rows = [row for row in weighed.rows if limit.matches(row) and any(map(has_time, row.launches))]
    if not rows:
        return Finding(CANNOT_TELL, "no test case of this was measured.", _how(limit))
    level = 1 - 2 * FALSE_ALARM / (family * len(rows))  # one end of each interval is used
    sides = [_side(weighed, row, limit, level) for row in rows]
    order = (NOT_WELL, CANNOT_TELL, WELL)
    verdict, words, launches = min(sides, key=lambda side: order.index(side[0]))
    among = f", the worst of {counted(len(rows), 'test case')}" if len(rows) > 1 else ""
    heads = {WELL: "met", NOT_WELL: "missed", CANNOT_TELL: "neither met nor missed"}
    asked = f"{limit.asked} is asked for"
    return Finding(
        verdict,
        f"{heads[verdict]}: {words}{among}; {asked}.",
        weighed.more_launches() if verdict == CANNOT_TELL and launches else "",
        launches,
        f"{limit.what}: {words}, {asked}",
    )


def _side(weighed: Weighed, row: Row, limit: Limit, level: float) -> tuple[str, str, int]:
    """Find on which side of its limit a row is, in words, and from how many launches."""
    name = row_name(row)
    if limit.is_memory:
        return _memory_side(row, limit, name, level)
    if limit.is_factor:
        return _factor_side(weighed, row, limit, name, level)
    scale = _scale(weighed, row, limit)
    medians = [launch.median or 0.0 for launch in row.launches if has_time(launch)]
    if scale is None:
        return CANNOT_TELL, f"{name} has no such rate, or its machine does not say its sockets", 0
    values = [scale / median if limit.above is not None else median for median in medians]
    if len(values) < 2:
        return CANNOT_TELL, f"{limit.words(values[0])} in one launch of {name}", 1
    said = launch_interval(values, level, alike=row.likeness)
    return *_judged_interval((said.value, said.low, said.high), limit, name), len(values)


def _memory_side(row: Row, limit: Limit, name: str, level: float) -> tuple[str, str, int]:
    """The same of what each object takes."""
    held = row.get(Memory).held_in_launches
    if len(held) < 2:
        known = "".join(f"{limit.words(value)} in one launch of " for value in held)
        return CANNOT_TELL, f"{known}{name}", len(held)
    said = difference_interval(held, level, alike=row.alike)
    return *_judged_interval((said.value, said.low, said.high), limit, name), len(held)


def _factor_side(weighed: Weighed, row: Row, limit: Limit, name: str, level: float) -> tuple[str, str, int]:
    """The same of a victim's time beside traffic over that without, by the factor of the medians."""
    quiet = [other for other in weighed.rows if other.params.get(TRAFFIC) == NONE]
    each = next((each for each in congestions([*quiet, row], level) if each.traffic != NONE), None)
    impact = each.impact.get(P50) if each else None
    if impact is None:
        return CANNOT_TELL, f"{name} has no time without traffic", 0
    if impact.low is None or impact.high is None:
        return CANNOT_TELL, f"{limit.words(impact.value)} in one launch of {name}", 1
    said = (impact.value, impact.low, impact.high)
    return *_judged_interval(said, limit, f"{name} {TRAFFIC}={row.params[TRAFFIC]}"), row.launch_count


def _judged_interval(said: tuple[float, float, float], limit: Limit, name: str) -> tuple[str, str]:
    """Find on which side of the limit a whole interval is (value, low, high), in words."""
    value, low, high = said
    words = f"{limit.words(value)} ({limit.words(low)} to {limit.words(high)}) in {name}"
    is_over, is_under = low > limit.value, high < limit.value
    bad, good = (is_over, is_under) if limit.below is not None else (is_under, is_over)
    return (NOT_WELL if bad else WELL if good else CANNOT_TELL), words


def _scale(weighed: Weighed, row: Row, limit: Limit) -> float | None:
    """Compute what a rate is times its time in ns; None if the row has none. 1 for times."""
    if limit.above is None:
        return 1.0
    rate = row.get(Rate).mops if limit.counts else row.get(Rate).bandwidth
    if not rate or not row.time:
        return None
    sockets = weighed.measured.campaign.machine.get("sockets")
    parts = {"rank": row.ranks, "host": row.hosts or 1}
    if limit.per == "socket":
        if not isinstance(sockets, int) or sockets < 1:
            return None
        parts["socket"] = sockets * (row.hosts or 1)
    return rate * row.time * row.ranks / parts[limit.per]


def _how(limit: Limit) -> str:
    """Write the command that measures what a limit is about."""
    given: dict[str, Any] = {
        "bytes": None if limit.bytes is None else str(limit.bytes),
        "-n": limit.ranks if limit.hosts is None else None,
        "hosts": limit.hosts if (limit.hosts or 1) > 1 else None,
        "threads": limit.threads,
        "mpi": limit.mpi,
        "method": limit.method,
    }
    options: dict[str, Any] = {name: None if value is None else str(value) for name, value in given.items()}
    params = {**({TRAFFIC: f"{NONE},all"} if limit.is_factor else {}), **limit.params}
    if limit.is_factor and TRAFFIC in limit.params:
        params[TRAFFIC] = f"{NONE},{limit.params[TRAFFIC]}"
    options["param"] = [f"{name}={format_value(value)}" for name, value in params.items()]
    return f"Measure it, and judge that folder by the same file: {command('run', limit.op, **options)}"
