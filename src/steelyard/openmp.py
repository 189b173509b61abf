"""What OpenMP is told when it is started: settings that a plan asks for, and those that are there already.

The run-time system reads its variables once, when the process begins; so a setting is of a launch, and
launches with different settings are different points. Names and values are those of the OpenMP 5.2
specification, chapter 21, and of the run-time systems of gcc (GOMP_) and LLVM (KMP_).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from steelyard.errors import InputError


@dataclass(frozen=True, slots=True)
class Setting:
    """A variable that a plan may set: which values it takes, as a pattern and in words."""

    variable: str
    pattern: str
    words: str


SETTINGS: Mapping[str, Setting] = {
    "wait_policy": Setting("OMP_WAIT_POLICY", "active|passive", "active or passive"),
    "proc_bind": Setting(
        "OMP_PROC_BIND", "true|false|primary|master|close|spread", "true, false, primary, close or spread"
    ),
    "places": Setting(
        "OMP_PLACES",
        r"(threads|cores|ll_caches|numa_domains|sockets)(\(\d+\))?|\{[0-9,:-]+\}([,:!{}0-9-]*)",
        "threads, cores, sockets, or a list such as {0},{1}",
    ),
    "cancellation": Setting("OMP_CANCELLATION", "true|false", "true or false"),
    "max_task_priority": Setting("OMP_MAX_TASK_PRIORITY", r"\d+", "a number"),
    "stacksize": Setting("OMP_STACKSIZE", r"\d+[BKMGbkmg]?", "a size such as 4M"),
}
# What says how long a waiting thread spins; where none of them is said and threads share cores, they sleep.
_WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
_REFUSED = {
    "GOMP_CPU_AFFINITY": "places threads elsewhere than the plan does",
    "KMP_AFFINITY": "places threads elsewhere than the plan does",
    "KMP_HW_SUBSET": "takes threads away from the plan",
}
_OVERRIDDEN = {
    "OMP_DYNAMIC": ("false", "teams are as large as the plan says"),
    "OMP_SCHEDULE": ("static", "omp.for sets the schedule of its loops"),
    "OMP_NESTED": ("false", "omp.nested sets what it needs"),
    "OMP_MAX_ACTIVE_LEVELS": ("1", "omp.nested sets what it needs"),
}


@dataclass(frozen=True, slots=True)
class Told:
    """Variables for a launch, and what a reader of the numbers should know of them."""

    environment: dict[str, str]
    notes: tuple[str, ...]


def omp_axis(given: Mapping[str, str | tuple[str, ...]]) -> tuple[dict[str, str], ...]:
    """Every combination of settings, each value checked; one empty one without any. Raises InputError."""
    values = {name: _values(name, value) for name, value in given.items()}
    return tuple(
        dict(zip(values, combination, strict=True)) for combination in itertools.product(*values.values())
    )


def _values(name: str, given: str | tuple[str, ...]) -> tuple[str, ...]:
    setting = SETTINGS.get(name)
    if setting is None:
        raise InputError(f"there is no OpenMP setting '{name}'; give one of {', '.join(SETTINGS)}")
    parts = (given,) if isinstance(given, str) else given
    values = tuple(dict.fromkeys(value for part in parts for value in re.split(r",(?![^{]*\})", part)))
    if all(value.startswith("{") for value in values):  # a list of places is one value
        values = (",".join(values),)
    for value in values:
        if not re.fullmatch(setting.pattern, value):
            raise InputError(f"the OpenMP setting {name} is {setting.words}, not '{value}'")
    return values


def read_omp_words(words: Sequence[str]) -> dict[str, str | tuple[str, ...]]:
    """Settings as the command line gives them, `wait_policy=active,passive`. Raises InputError."""
    settings: dict[str, str | tuple[str, ...]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not value:
            raise InputError(f"--omp {word} is not of the form name=value, as in --omp wait_policy=passive")
        settings[name] = value
    return settings


def omp_launch(
    settings: Mapping[str, str],
    threads: int,
    binding: Mapping[str, str],
    environ: Mapping[str, str],
    *,
    shares: bool = False,
) -> Told:
    """What a launch with so many threads tells OpenMP.

    `binding` is how the launcher places threads (empty: not at all), for which the plan has no settings;
    `environ` is what the user's environment says. Threads that share cores (`shares`) sleep while they wait,
    unless plan or environment says how they wait: one that spins keeps its core from the one that it waits
    for, and a kernel that takes a second takes minutes. Raises InputError where plan and environment cannot
    both hold.
    """
    asked = {SETTINGS[name].variable: value for name, value in settings.items()}
    for variable, value in asked.items():
        if (there := environ.get(variable)) is not None and there.lower() != value.lower():
            raise InputError(
                f"the plan asks for {variable}={value} and the environment says {there}; unset {variable}"
            )
    for variable, why in _REFUSED.items():
        if variable in environ:
            raise InputError(f"{variable} of the environment {why}; unset it")
    _check_limit(environ.get("OMP_THREAD_LIMIT"), threads)
    told = {**binding, **asked}
    notes = []
    if shares and not any(variable in environ or variable in asked for variable in _WAITING):
        told["OMP_WAIT_POLICY"] = "passive"
        notes.append("OpenMP's threads sleep while they wait (OMP_WAIT_POLICY=passive), for they share cores")
    numbers = {"OMP_NUM_THREADS": (str(threads), f"the plan asks for {threads} threads")}
    places = dict.fromkeys(("OMP_PROC_BIND", "OMP_PLACES"), "threads are placed as the plan says")
    placed = {
        variable: (told.get(variable, "false"), why)
        for variable, why in places.items()
        if variable in told or variable == "OMP_PROC_BIND"
    }
    for variable, (value, why) in {**_OVERRIDDEN, **numbers, **placed}.items():
        if (there := environ.get(variable)) is not None and there.lower() != value.lower():
            told[variable] = value
            notes.append(f"{variable}={there} of the environment is overridden: {why}")
    for setting in SETTINGS.values():
        if setting.variable in environ and setting.variable not in (*told, *places):
            value = environ[setting.variable]
            notes.append(f"{setting.variable}={value} of the environment holds in all launches")
    return Told(told, tuple(notes))


def _check_limit(limit: str | None, threads: int) -> None:
    if limit is not None and limit.strip().isdigit() and int(limit) < threads:
        raise InputError(
            f"OMP_THREAD_LIMIT={limit} of the environment does not allow the {threads} threads of the plan; "
            "unset it, or ask for fewer with --threads"
        )
