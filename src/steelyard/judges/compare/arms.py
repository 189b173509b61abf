"""Find rivals: the same test case in several arms, by a factor within a folder, or by folder."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from steelyard.base.errors import InputError
from steelyard.base.factors import AXES, COMPARED
from steelyard.base.units import format_bytes, format_values
from steelyard.judges.compare.conditions import consequences
from steelyard.records.campaign_file import AROUND
from steelyard.results.key import RowKey, key_of, later_params
from steelyard.results.row import Row
from steelyard.rows.short_names import short_names

_MOST_NAMED = 3  # factors in a sentence
BEST = "best"  # of arms: the fastest in the mean over all test cases


@dataclass(frozen=True, slots=True)
class Rivals:
    """Test cases that all arms have. `cases`: of each, the row of each arm, in the order of `arms`.

    `missing` counts the test cases that some arm lacks. `by` is the factor; None for folders. `may_differ`
    are the conditions that arms need not share: consequences of the factor, or the reader asked for it.
    `is_best`: the first arm was chosen because it is the fastest. `looks` are the numbers of launches of a
    folder at which it was looked at before it grew. `folders` are those of the arms, none if nobody says.
    `variables` are those of `--env` in which folders differ: `results/a: UCX_TLS=tcp`.
    """

    arms: tuple[str, ...]
    cases: tuple[tuple[Row, ...], ...]
    missing: int
    by: str | None = None
    may_differ: frozenset[str] = frozenset()
    is_best: bool = False
    looks: tuple[int, ...] = ()
    folders: tuple[Path, ...] = ()
    variables: tuple[str, ...] = ()

    @property
    def comparisons(self) -> int:
        """The number of comparisons of two arms, or of those possible if the data chose the first arm."""
        count = len(self.arms)
        return count * (count - 1) // 2 if self.is_best else count - 1


def factor_of(word: str) -> str:
    """Find the factor that was typed: `param=window` is `param.window`, `thread-level` an option's name."""
    typed = word.lstrip("-").replace("-", "_")
    axis = _TYPED.get(typed, typed)
    return axis if axis in AXES else word.replace("=", ".", 1)


def value_of(row: Row, factor: str) -> str | None:
    """Find the value of a row for a factor; None if it has none. Raises InputError for an unknown factor."""
    kind, _, name = factor.partition(".")
    if factor in ("mpi", "shmem", "engine"):
        return row.mpi
    if factor == "placement":
        return row.placed_text or "default"
    if factor in AROUND:
        return row.env.get(AROUND[factor])
    if factor in AXES:
        value = getattr(row, factor)
        return None if value in (None, "") else f"{factor}={value}"
    if kind == "param" and name:
        params = {**row.params, **row.method_params, **row.rule_params}
        return format_values({name: params[name]}) if name in params else None
    if kind == "omp" and name:
        return f"{name}={row.omp[name]}" if name in row.omp else None
    if kind == "env" and name:
        value = row.env.get(name)
        return None if value is None else f"{name} unset" if value == "-" else f"{name}={value}"
    if factor in _NO_FACTOR:
        raise InputError(f"--by {factor}: {_NO_FACTOR[factor]}; --by takes {COMPARED}")
    raise InputError(f"'{factor}' is no factor; give {COMPARED}")


_TYPED = {"n": "ranks", "np": "ranks", "rank": "ranks", "thread": "threads", "host": "hosts"}
# What people compare by, and how that is answered.
_NO_FACTOR = {
    **dict.fromkeys(
        ("op", "ops"), "different ops share no test case, and steelyard show has them in one table"
    ),
    **dict.fromkeys(
        ("bytes", "size", "sizes"), "different sizes share no test case, and steelyard show has them"
    ),
    **dict.fromkeys(
        ("launch", "launches", "time", "date"),
        "launches of other times stand in folders of their own, and compare takes several",
    ),
}


def folder_factor(plan: Mapping[str, Any]) -> str:
    """Find the factor of a folder's arms in its plan; its MPIs if it has none."""
    return str(next(iter(plan.get("arms") or {}), "mpi"))


# Factor -> the parts of a row's key that differ with it, where they are called otherwise.
_PARTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("mpi", "shmem", "engine"), ("mpi",)),
    "placement": ("placed",),
}
_PARTS |= {factor: (f"env.{name}",) for factor, name in AROUND.items()}
_PARTS |= {"method": ("method", "method_params")}


def rivals_by(
    rows: Sequence[Row], factor: str, despite: Collection[str] = (), looks: Sequence[int] = ()
) -> Rivals:
    """Group the rows of one folder by their values of a factor; `looks` are those of its campaign. Raises
    InputError for fewer than two values.
    """
    for setting in _settings_of(rows):
        if setting.partition(".")[2] == factor:
            raise InputError(f"'{factor}' is no factor; did you mean '{setting}'?")
    arms: dict[str, list[Row]] = {}
    for row in rows:
        if (value := value_of(row, factor)) is not None:
            arms.setdefault(value, []).append(row)
    if len(arms) < 2:
        only = f"only {next(iter(arms))}" if arms else "nothing"
        others = " or ".join(f"--by {one}" for one in _varying(rows)[:_MOST_NAMED])
        give = f"{others}, " if others else ""
        raise InputError(
            f"by {factor} there is {only} here; give {give}a second folder, or measure two values with --arms"
        )
    found = _match(arms, _PARTS.get(factor, (factor,)))
    return replace(
        found, by=factor, may_differ=frozenset((*consequences(factor), *despite)), looks=tuple(looks)
    )


def _settings_of(rows: Sequence[Row]) -> dict[str, None]:
    """List the parameters and settings of rows as factors: `param.window`, `omp.wait_policy`."""
    return dict.fromkeys(
        f"{kind}.{name}"
        for row in rows
        for kind, names in (("param", row.params), ("omp", row.omp), ("env", row.env))
        for name in names
    )


def _varying(rows: Sequence[Row]) -> list[str]:
    """List the settings of launches and the axes with several values, as factors."""
    around = set(AROUND.values())
    names = [f"env.{name}" for row in rows for name in row.env if name not in around]
    names += [f"omp.{name}" for row in rows for name in row.omp]
    factors = dict.fromkeys((*names, *AROUND, "placement", *AXES))
    return [factor for factor in factors if len({value_of(row, factor) for row in rows} - {None}) > 1]


def rivals_of(folders: Mapping[str, Sequence[Row]], despite: Collection[str] = ()) -> Rivals:
    """Group the rows of several folders; MPIs may differ if each folder has one, and variables if each has
    its own. Raises InputError.
    """
    mpis = [{row.mpi for row in rows if row.mpi} for rows in folders.values()]
    one_each = all(len(names) <= 1 for names in mpis)
    others = one_each and len(set().union(*mpis)) > 1
    variables = _own_variables(folders)
    without = (*(("mpi",) if one_each else ()), *(("placed",) if "placement" in despite else ()))
    matched = _match(folders, (*without, *(f"env.{name}" for name in variables)))
    if not matched.cases:
        raise InputError(f"the folders have no test case in common{_apart(folders)}")
    may = {*(consequences("mpi") if others else ()), *(consequences("env") if variables else ()), *despite}
    said = variable_names(folders) if variables else {}
    return replace(
        matched,
        may_differ=frozenset(may),
        variables=tuple(f"{folder}: {words}" for folder, words in said.items()),
    )


def _own_variables(folders: Mapping[str, Sequence[Row]]) -> tuple[str, ...]:
    """Name the variables in which folders differ, if each folder has one value of each."""
    every = [{tuple(sorted(row.env.items())) for row in rows} for rows in folders.values()]
    if any(len(envs) != 1 for envs in every):
        return ()
    envs = [dict(next(iter(each))) for each in every]
    names = dict.fromkeys(name for env in envs for name in env)
    return tuple(name for name in names if len({env.get(name) for env in envs}) > 1)


def variable_names(folders: Mapping[str, Sequence[Row]]) -> dict[str, str]:
    """Name each folder by the variables in which they differ: `UCX_TLS=tcp`; by nothing if that tells no two
    apart.
    """
    names = _own_variables(folders)
    said = {folder: " ".join(_setting(rows[0], name) for name in names) for folder, rows in folders.items()}
    return said if names and len(set(said.values())) == len(said) else {}


def _setting(row: Row, name: str) -> str:
    """Write the value of a variable of a launch; what is not given there may stand in the shell."""
    if name in AROUND.values():
        return f"{name} {row.env.get(name, 'nothing')}"
    return value_of(row, f"env.{name}") or f"{name} not given"


def against(rivals: Rivals, name: str) -> Rivals:
    """Make the named arm the first, with which the others are compared; `best`: the fastest.

    A name may be a part that only one arm has. Raises InputError if no arm, or several, have it.
    """
    names = short_names(rivals.arms)
    if name == BEST:
        first = _best(rivals)
    else:
        exact = [arm for arm in rivals.arms if name in (arm, names[arm])]
        found = exact or [arm for arm in rivals.arms if name in arm]
        if len(found) != 1:
            what = "several" if found else "none"
            known = ", ".join((*names.values(), BEST))
            raise InputError(f"--against {name} names {what} of the rivals; give one of {known}")
        first = rivals.arms.index(found[0])
    order = [first, *(k for k in range(len(rivals.arms)) if k != first)]
    return replace(
        rivals,
        arms=tuple(rivals.arms[k] for k in order),
        cases=tuple(tuple(case[k] for k in order) for case in rivals.cases),
        folders=tuple(rivals.folders[k] for k in order) if rivals.folders else (),
        is_best=name == BEST,
    )


def _best(rivals: Rivals) -> int:
    """Find the arm with the least mean of logarithms, over test cases in which each has a time."""
    times = [[row.median or 0.0 for row in case] for case in rivals.cases]
    logs = [[math.log(time) for time in own] for own in times if min(own) > 0]
    sums = [sum(log[k] for log in logs) for k in range(len(rivals.arms))]
    return sums.index(min(sums))


def _match(arms: Mapping[str, Sequence[Row]], without: Sequence[str]) -> Rivals:
    by_key: dict[RowKey, dict[str, Row]] = {}
    later = later_params(arms.values())
    for name, rows in arms.items():
        for row in rows:
            namesake = by_key.setdefault(key_of(row, without, later), {}).setdefault(name, row)
            if namesake.placed != row.placed:
                raise InputError(
                    f"{name} holds several placements; compare folders of one, or '{name}' --by placement"
                )
    whole = [tuple(found[name] for name in arms) for found in by_key.values() if len(found) == len(arms)]
    return Rivals(tuple(arms), tuple(whole), len(by_key) - len(whole))


# Properties that test cases of folders may not share, in words, and the word of a row's value.
_APART: dict[str, Callable[[Row], str]] = {
    "ops": lambda row: row.op,
    "sizes": lambda row: format_bytes(row.bytes),
    "numbers of ranks": lambda row: str(row.ranks),
    "numbers of threads": lambda row: str(row.threads),
    "methods": lambda row: row.method,
    "placements": lambda row: row.placed_text or "default",
    "variables of the environment": lambda row: " ".join(f"{k}={v}" for k, v in row.env.items()) or "none",
}
_SHOWN = 3  # values of a folder


def _apart(folders: Mapping[str, Sequence[Row]]) -> str:
    """Write `: other sizes (8 B against 64 B); compare ...`, if no row of the others has it."""
    each_has = [dict.fromkeys(name for row in rows for name in row.params) for rows in folders.values()]
    params = {
        f"values of {name}": _value_of(name)
        for name in each_has[0]
        if all(name in has for has in each_has)  # older records lack later parameters
    }
    for words, value in {**_APART, **params}.items():
        each = [list(dict.fromkeys(map(value, rows))) for rows in folders.values()]
        if not set(each[0]).intersection(*each[1:]):
            texts = (
                ", ".join(values[:_SHOWN]) + (", ..." if len(values) > _SHOWN else "") for values in each
            )
            how = (
                "; measure them in the same way, or compare nevertheless with --despite placement"
                if words == "placements"
                else "; compare folders of the same plan"
            )
            return f": other {words} ({' against '.join(texts)}){how}"
    return "; compare folders of the same plan"


def _value_of(param: str) -> Callable[[Row], str]:
    return lambda row: str(row.params.get(param, "none"))
