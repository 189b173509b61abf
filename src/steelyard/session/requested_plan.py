"""What is to be measured, in the words of a command line or of Python, as a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import msgspec

from steelyard.base.comma_lists import values_in
from steelyard.base.engine_kinds import MPI, SHMEM
from steelyard.base.errors import InputError
from steelyard.base.printable import shortened, visible
from steelyard.plan.arguments import asked_plan
from steelyard.plan.arms import read_arms
from steelyard.plan.arrivals import read_arrivals
from steelyard.plan.like import OTHER_NAMES
from steelyard.plan.plan import Plan, nearest
from steelyard.plan.settings import read_around
from steelyard.records.campaign_file import AROUND

GivenValue = str | int | float
GivenValues = GivenValue | Sequence[GivenValue]
GivenNames = str | Sequence[str]
GivenPairs = Mapping[str, GivenValues]

_MOST_QUOTED = 60  # letters of a value, in a sentence
_AXES = ("ranks", "bytes", "method", "rule", "thread_level", "hosts", "ranks_per_host", "placement", "engine")
_OF_PLAN = (
    *("launches", "launcher", "yield_", "clock", "sync", "paths", "keep", "precision", "detect"),
    *("time_budget", "spread", "hang_after", "seed", "stage"),
)
_SWITCHES = ("oversubscribe", "refine")
_DECIDING = ("precision", "detect")  # how many launches, unless their number is given, too


class MeasureOptions(TypedDict, total=False):
    """Keywords of `steelyard.measure`; those left out are left to the plan or the op.

    Each is the option of `steelyard run` of that name, and takes what is typed there, `bytes="0,8,1Ki..4Mi"`.
    Where several values are allowed, a number or a list is as good, `ranks=2`, `bytes=[8, 1024]`.
    """

    like: GivenNames  # tests of other suites, in place of ops: "osu_latency"
    ranks: GivenValues
    bytes: GivenValues  # sizes
    method: GivenNames
    rule: str
    hosts: GivenValues
    ranks_per_host: GivenValues
    threads: GivenValues
    thread_level: GivenNames
    params: GivenPairs  # of op, method or rule: {"window": [1, 64]}
    omp: GivenPairs  # settings of OpenMP: {"wait_policy": "active"}
    env: GivenPairs  # variables; each value in launches of its own; "-": without it
    modules: GivenNames  # sets of modules
    wrapper: GivenNames  # words before the engine
    files: GivenNames  # folders for files that ops read and write
    placement: GivenValues
    engine: str  # "solo" or "mpi"
    mpi: GivenNames
    shmem: GivenNames
    arms: GivenPairs  # one factor and its values: {"mpi": ["openmpi", "mpich"]}
    launches: int
    precision: str  # "2%"
    detect: str
    time_budget: str  # "90s"
    spread: str
    hang_after: str
    seed: int
    oversubscribe: bool
    refine: bool
    yield_: str
    clock: str
    sync: str
    paths: str
    keep: str
    arrivals: str | Path
    launcher: str
    stage: str


def plan_asked(what: Sequence[str], given: Mapping[str, Any], known: Plan | None = None) -> Plan:
    """Make the plan of what is named; `known` is a plan that is there already, and `what` is empty then.

    `given` has the words of options by the names in `MeasureOptions`. Raises InputError.
    """
    plan = _named(what, given) if known is None else known
    changes = {name: given.get(name) for name in _OF_PLAN}
    changes |= {name: given.get(name) or None for name in _SWITCHES}
    changes |= {kind: _listed(given.get(kind)) or None for kind in (MPI, SHMEM)}
    changes["arms"] = read_arms(given["arms"]) if given.get("arms") else None
    changes["arrivals"] = read_arrivals(Path(given["arrivals"])) if given.get("arrivals") else None
    changes = {name: value for name, value in changes.items() if value is not None}
    if "launches" not in changes and not changes.keys().isdisjoint(_DECIDING):
        changes["launches"] = None  # the plan's number answered another question
    return msgspec.structs.replace(plan, **changes)


def _named(what: Sequence[str], given: Mapping[str, Any]) -> Plan:
    axes = {name: given.get(name) for name in _AXES}
    axes |= read_around({name: given.get(name) for name in AROUND})
    settings = (given.get("omp") or (), given.get("env") or ())
    return asked_plan(
        what, _listed(given.get("like")), axes, given.get("threads"), given.get("params") or (), *settings
    )


def _listed(words: Sequence[str] | None) -> tuple[str, ...]:
    """List the values of an option that may be repeated; `a,b` is two. In order, each once."""
    return tuple(dict.fromkeys(part for word in words or () for part in values_in(word, "the list")))


# ---- from Python -----------------------------------------------------------------------------------------


def python_words(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Check what was given from Python, and write it in the words of a command line. Raises InputError."""
    words = dict[str, Any]()
    for name, value in settings.items():
        if name not in _KINDS:
            meant = f"; did you mean '{_CALLED[name]}'?" if name in _CALLED else nearest(name, _KINDS)
            raise InputError(f"measure takes no '{shortened(name, _MOST_QUOTED)}'{meant}")
        if value is not None:
            words[name] = _KINDS[name](name, value)
    return words


def names_of(name: str, value: Any) -> list[str]:
    """Check a text or a list of texts. Raises InputError."""
    values = [value] if isinstance(value, str | Path) else value
    if not isinstance(values, Sequence) or isinstance(values, bytes):
        raise InputError(f"{name} is a text or a list of texts, not {_shown(value)}")
    if not values:
        raise InputError(f"{name} is an empty list; give a value, or leave it out")
    return [text_of(name, str(one) if isinstance(one, Path) else one) for one in values]


def text_of(name: str, value: Any) -> str:
    """Check a text that is not blank. Raises InputError."""
    if not isinstance(value, str):
        raise InputError(f"{name} is a text, not {_shown(value)}")
    if not value.strip():
        raise InputError(f"{name} is empty; give a value, or leave it out")
    if visible(value) != value:
        shown = shortened(value, _MOST_QUOTED)
        raise InputError(f"{name} '{shown}' has control characters or is not UTF-8; give it plain letters")
    return value


def path_of(name: str, value: Any) -> Path:
    """Check the name of a file or a folder. Raises InputError."""
    if not isinstance(value, str | Path):
        raise InputError(f"{name} is the name of a file or folder, a text or a Path, not {_shown(value)}")
    path = Path(text_of(name, str(value)))
    try:
        path.exists()
    except OSError as error:  # another one than that it is not there
        shown = shortened(str(path), _MOST_QUOTED)
        raise InputError(f"{name} '{shown}' cannot be looked for: {error.strerror}; give another") from None
    return path


def switch_of(name: str, value: Any) -> bool:
    """Check a switch. Raises InputError."""
    if not isinstance(value, bool):
        raise InputError(f"{name} is True or False, not {_shown(value)}")
    return value


def number_of(name: str, value: Any) -> float:
    """Check a number. Raises InputError."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} is a number, not {_shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name} is too large a number; give a smaller one") from None


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{name} is a whole number, not {_shown(value)}")
    return value


def _axis(name: str, value: Any) -> str:
    return ",".join(_texts(name, value))


def _texts(name: str, value: Any) -> list[str]:
    """Write a number, a text or each of a list. Raises InputError."""
    values = [value] if isinstance(value, str) or not isinstance(value, Sequence) else value
    if not values:
        raise InputError(f"{name} is an empty list; give a value, or leave it out")
    for one in values:
        if isinstance(one, bool) or not isinstance(one, str | int | float):
            raise InputError(f"{name} is a number, a text or a list of these, not {_shown(value)}")
    return [text_of(name, str(one)) for one in values]


def _pairs(name: str, value: Any) -> list[str]:
    """Write `{"window": [1, 64]}` as `window=1,64`."""
    return [f"{key}={_axis(f'{name} {key}', values)}" for key, values in _mapping(name, value).items()]


def _variables(name: str, value: Any) -> list[str]:
    """Write each value of a variable on its own, because it may have commas."""
    return [
        f"{key}={text}"
        for key, values in _mapping(name, value).items()
        for text in _texts(f"{name} {key}", values)
    ]


def _factor(name: str, value: Any) -> str:
    pairs = _pairs(name, value)
    if len(pairs) != 1:
        raise InputError(f"{name} has one factor and its values, as {{'mpi': ['openmpi', 'mpich']}}")
    return pairs[0]


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{name} is a dict of names and values, not {_shown(value)}")
    for key in value:
        text_of(f"a name in {name}", key)
    return value


def _shown(value: Any) -> str:
    """Write a value and its type for a sentence: `5 (int)`."""
    return f"{shortened(visible(repr(value)), _MOST_QUOTED)} ({type(value).__name__})"


# What people call a keyword -> its name.
_CALLED: Mapping[str, str] = {
    **{other.replace("-", "_"): name for name, (_, others) in OTHER_NAMES.items() for other in others},
    "n": "ranks",
    "bytes_": "bytes",
    "param": "params",
    "parameters": "params",
    "yield": "yield_",
}

# Key of `MeasureOptions` -> how a value from Python becomes the words of a command line.
_KINDS: Mapping[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(("like", "modules", "wrapper", "files", MPI, SHMEM), names_of),
    **dict.fromkeys(("ranks", "bytes", "hosts", "ranks_per_host", "threads", "placement"), _axis),
    **dict.fromkeys(("method", "thread_level"), _axis),
    **dict.fromkeys(("params", "omp"), _pairs),
    **dict.fromkeys(("launches", "seed"), _whole),
    **dict.fromkeys(_SWITCHES, switch_of),
    **dict.fromkeys(("rule", "engine", "precision", "detect", "time_budget", "spread"), text_of),
    **dict.fromkeys(("hang_after", "yield_", "clock", "sync", "paths", "keep", "launcher", "stage"), text_of),
    "env": _variables,
    "arms": _factor,
    "arrivals": path_of,
}
