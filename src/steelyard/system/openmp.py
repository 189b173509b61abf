"""Settings of OpenMP for a launch: those of a plan, and those in the environment.

The run-time system reads its variables once, when the process begins. So settings belong to a launch, and
launches with different settings are different points. Names and values are those of the OpenMP 5.2
specification, chapter 21, and of the run-time systems of gcc (GOMP_) and LLVM (KMP_).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from steelyard.base.errors import InputError
from steelyard.base.product import product_of
from steelyard.system.openmp_places import LIST_COMMA, parse_places

# Bytes: what Linux gives a thread at least; more than any machine has.
_LEAST_STACK, _MOST_STACK = 2**14, 2**40
_MOST_PRIORITY = 2**31 - 1  # an int


def _is_stack(value: str) -> bool:
    bits = {"B": 0, "M": 20, "G": 30}.get(value[-1].upper(), 10)  # K, or no unit
    return _LEAST_STACK <= int(value.rstrip("BKMGbkmg")) << bits < _MOST_STACK


def _is_places(value: str) -> bool:
    return not _is_list(value) or bool(parse_places(value))


@dataclass(frozen=True, slots=True)
class Setting:
    """A variable that a plan may set: its values, as a pattern and in words.

    `holds` checks, or raises ValueError, whether a run-time system takes a value of that pattern.
    """

    variable: str
    pattern: str
    words: str
    holds: Callable[[str], bool] = bool


SETTINGS: Mapping[str, Setting] = {
    "wait_policy": Setting("OMP_WAIT_POLICY", "active|passive", "active or passive"),
    "proc_bind": Setting(
        "OMP_PROC_BIND", "true|false|primary|master|close|spread", "true, false, primary, close or spread"
    ),
    "places": Setting(
        "OMP_PLACES",
        r"(threads|cores|ll_caches|numa_domains|sockets)(\([1-9]\d{0,4}\))?|\{.*",
        "threads, cores, sockets, or a list of CPUs such as {0},{1} or {0:2}:2:2",
        _is_places,
    ),
    "cancellation": Setting("OMP_CANCELLATION", "true|false", "true or false"),
    "max_task_priority": Setting(
        "OMP_MAX_TASK_PRIORITY", r"\d+", "a number below 2^31", lambda value: int(value) <= _MOST_PRIORITY
    ),
    "stacksize": Setting(
        "OMP_STACKSIZE", r"\d+[BKMGbkmg]?", "a size such as 4M, from 16K to less than 1024G", _is_stack
    ),
}
# Variables for how long a waiting thread spins. If none of them is set and threads share cores, they sleep.
_SPINS = ("GOMP_SPINCOUNT", "KMP_BLOCKTIME")  # how long, whatever the policy
_WAITING = ("OMP_WAIT_POLICY", *_SPINS)
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
    "OMP_NUM_TEAMS": ("1", "omp.teams has a league of one team"),
}


@dataclass(frozen=True, slots=True)
class Told:
    """Variables for a launch, and notes on them for readers of the results."""

    environment: dict[str, str]
    notes: tuple[str, ...]


def omp_axis(given: Mapping[str, str | tuple[str, ...]]) -> tuple[dict[str, str], ...]:
    """Every combination of settings, each value checked; one empty one without any. Raises InputError."""
    values = {name: _values(name, value) for name, value in given.items()}
    return tuple(dict(zip(values, combination, strict=True)) for combination in product_of(*values.values()))


def _values(name: str, given: str | tuple[str, ...]) -> tuple[str, ...]:
    setting = SETTINGS.get(name)
    if setting is None:
        ours = name.lower().removeprefix("omp_")
        give = ours if ours in SETTINGS else f"one of {', '.join(SETTINGS)}"
        raise InputError(f"there is no OpenMP setting '{name}'; give {give}")
    texts = (given,) if isinstance(given, str) else given
    values = tuple(dict.fromkeys(value for text in texts for value in _split(text)))
    for value in values:
        if not _takes(setting, value):
            raise InputError(f"the OpenMP setting {name} is {setting.words}, not '{value}'")
    return values


def _split(text: str) -> list[str]:
    """Split `active,passive` into its values; a list of places is one."""
    values: list[str] = []
    for part in LIST_COMMA.split(text):
        if values and _is_list(values[-1]) and part.startswith(("{", "!")):
            values[-1] += f",{part}"
        else:
            values.append(part)
    return values


def _is_list(places: str) -> bool:
    return places.startswith("{")


def _takes(setting: Setting, value: str) -> bool:
    try:
        return bool(re.fullmatch(setting.pattern, value, re.ASCII)) and setting.holds(value)
    except ValueError:
        return False


def places_cpus(settings: Mapping[str, str]) -> tuple[int, ...]:
    """List the CPUs in the places of checked settings, by number; none if they name kinds of places."""
    places = settings.get("places", "")
    return tuple(sorted(frozenset().union(*parse_places(places)))) if _is_list(places) else ()


def read_omp_words(words: Sequence[str]) -> dict[str, str | tuple[str, ...]]:
    """Read settings of the command line, `wait_policy=active,passive`. Raises InputError.

    A setting that is given twice has the values of both.
    """
    settings: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not value:
            raise InputError(f"--omp {word} is not of the form name=value, as in --omp wait_policy=passive")
        settings[name] = (*settings.get(name, ()), value)
    return {name: values[0] if len(values) == 1 else values for name, values in settings.items()}


def omp_launch(
    settings: Mapping[str, str],
    threads: int,
    binding: Mapping[str, str],
    environ: Mapping[str, str],
    *,
    shares: bool = False,
) -> Told:
    """Choose the variables of OpenMP for a launch with so many threads.

    `binding` is the launcher's placement of threads (empty: none), for which the plan has no settings;
    `environ` is the user's environment. Threads that share cores (`shares`) sleep while they wait, unless
    plan or environment say otherwise: a spinning thread keeps its core from the one that it waits for, and a
    kernel of a second takes minutes. Raises InputError if plan and environment contradict each other.
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
    for variable in _SPINS:
        if variable in environ and "wait_policy" in settings:
            raise InputError(
                f"{variable}={environ[variable]} of the environment says how long threads spin, and the plan "
                f"asks for OMP_WAIT_POLICY={settings['wait_policy']}; unset {variable}"
            )
    check_thread_limit(environ, threads, f"the {threads} threads of the plan")
    told = {**binding, **asked}
    notes = []
    if shares and not any(variable in environ or variable in asked for variable in _WAITING):
        told["OMP_WAIT_POLICY"] = "passive"
        notes.append(
            "OpenMP's threads sleep while they wait (OMP_WAIT_POLICY=passive), because they share cores"
        )
    asks = (str(threads), f"the plan asks for {threads} threads")
    numbers = {"OMP_NUM_THREADS": asks, "OMP_TEAMS_THREAD_LIMIT": asks}
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
    for variable in (*(setting.variable for setting in SETTINGS.values()), *_SPINS):
        if variable in environ and variable not in (*told, *places):
            notes.append(f"{variable}={environ[variable]} of the environment is passed on to all launches")
    return Told(told, tuple(notes))


def check_thread_limit(environ: Mapping[str, str], threads: int, words: str) -> None:
    """Raise InputError if the environment does not allow so many threads at once; `words` name them."""
    limit = environ.get("OMP_THREAD_LIMIT")
    if limit is None:
        return
    if not re.fullmatch(r"\s*\+?0*[1-9]\d*\s*", limit, re.ASCII):
        raise InputError(f"OMP_THREAD_LIMIT={limit} of the environment is not a number of threads; unset it")
    if int(limit) < threads:
        raise InputError(
            f"OMP_THREAD_LIMIT={limit} of the environment does not allow {words}; "
            "unset it, or ask for fewer with --threads"
        )
