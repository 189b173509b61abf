"""Which rows are rivals: the same test case in several arms, by a factor within a folder, or by folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.base.errors import InputError
from steelyard.results.key import RowKey, key_of
from steelyard.results.row import Row

FACTORS = "mpi, engine, placement, param.NAME, omp.NAME or env.NAME"


@dataclass(frozen=True, slots=True)
class Rivals:
    """Test cases that all arms have. `cases`: of each, the row of each arm, in the order of `arms`.

    `missing` counts the test cases that some arm lacks.
    """

    arms: tuple[str, ...]
    cases: tuple[tuple[Row, ...], ...]
    missing: int


def value_of(row: Row, factor: str) -> str | None:
    """The value that a row has on a factor; None where it has none. Raises InputError for no factor."""
    kind, _, name = factor.partition(".")
    if factor in ("mpi", "engine"):
        return row.mpi
    if factor == "placement":
        return row.placed.text if row.placed else "default"
    if kind == "param" and name:
        return f"{name}={row.params[name]}" if name in row.params else None
    if kind == "omp" and name:
        return f"{name}={row.omp[name]}" if name in row.omp else None
    if kind == "env" and name:
        value = row.env.get(name)
        return None if value is None else f"{name} unset" if value == "-" else f"{name}={value}"
    raise InputError(f"'{factor}' is no factor; give {FACTORS}")


def folder_factor(plan: Mapping[str, Any]) -> str:
    """The factor by which the plan of a folder has arms; its MPIs where it has none."""
    return str(next(iter(plan.get("arms") or {}), "mpi"))


_AXES = {"mpi": "mpi", "engine": "mpi", "placement": "placed"}


def rivals_by(rows: Sequence[Row], factor: str) -> Rivals:
    """The rows of one folder by their values on a factor. Raises InputError for fewer than two values."""
    arms: dict[str, list[Row]] = {}
    for row in rows:
        if (value := value_of(row, factor)) is not None:
            arms.setdefault(value, []).append(row)
    if len(arms) < 2:
        only = f"only {next(iter(arms))}" if arms else "nothing"
        raise InputError(f"by {factor} there is {only} here; two values at least are compared")
    return _match(arms, (_AXES.get(factor, factor),))


def rivals_of(folders: Mapping[str, Sequence[Row]]) -> Rivals:
    """The rows of several folders; where each has one MPI, it may be another in each. Raises InputError."""
    one_each = all(len({row.mpi for row in rows if row.mpi}) <= 1 for rows in folders.values())
    found = _match(folders, ("mpi",) if one_each else ())
    if not found.cases:
        raise InputError("the folders have no test case in common; compare folders of the same plan")
    return found


def _match(arms: Mapping[str, Sequence[Row]], without: Sequence[str]) -> Rivals:
    by_key: dict[RowKey, dict[str, Row]] = {}
    for name, rows in arms.items():
        for row in rows:
            by_key.setdefault(key_of(row, without), {})[name] = row
    whole = [tuple(found[name] for name in arms) for found in by_key.values() if len(found) == len(arms)]
    return Rivals(tuple(arms), tuple(whole), len(by_key) - len(whole))
