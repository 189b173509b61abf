"""Diagnostics: what is wrong or doubtful, the evidence, why it matters, and what to do.

A check is a row of a table: a function that looks for one thing, and its texts. Checks may look at any value:
a results folder for `steelyard.diagnostics.results`, a machine for `steelyard.diagnostics.machine`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

ERROR, WARNING, NOTE = "error", "warning", "note"
SEVERITIES = (ERROR, WARNING, NOTE)

Seen = TypeVar("Seen")


class Diagnostic(Struct, frozen=True, kw_only=True):
    """The finding of a check: `what` is the title, `evidence` what was seen, `remedy` what to do.

    `cause` is the name of another diagnostic of the same list that may explain this one, None without any.
    """

    name: str
    severity: str
    what: str
    evidence: str
    why: str
    remedy: str
    cause: str | None = None


@dataclass(frozen=True, slots=True)
class Check(Generic[Seen]):
    """A row of a table of checks; `find` returns the evidence in whole sentences, or None.

    If one of the checks `caused_by` finds something too, that may explain this one. `remedy` may be made from
    what was seen.
    """

    name: str
    severity: str
    what: str
    find: Callable[[Seen], str | None]
    why: str
    remedy: str | Callable[[Seen], str]
    caused_by: tuple[str, ...] = ()


def check(
    name: str,
    severity: str,
    what: str,
    *,
    why: str,
    remedy: str | Callable[[Seen], str],
    caused_by: tuple[str, ...] = (),
) -> Callable[[Callable[[Seen], str | None]], Check[Seen]]:
    """Make the function below it a row; what it returns is the evidence."""
    return lambda find: Check(name, severity, what, find, why, remedy, caused_by)


def checks_of(*modules: ModuleType) -> tuple[Check[Any], ...]:
    """List all rows of some modules, the gravest first, else in the order of the source."""
    rows = [value for module in modules for value in vars(module).values() if isinstance(value, Check)]
    return tuple(sorted(rows, key=lambda row: SEVERITIES.index(row.severity)))


def diagnose(checks: Iterable[Check[Seen]], seen: Seen) -> tuple[Diagnostic, ...]:
    """Run the checks in their order; each finding gets the first of its causes that was found too."""
    rows = [(row, evidence) for row in checks if (evidence := row.find(seen)) is not None]
    found = {
        row.name: Diagnostic(
            name=row.name,
            severity=row.severity,
            what=row.what,
            evidence=evidence,
            why=row.why,
            remedy=row.remedy if isinstance(row.remedy, str) else row.remedy(seen),
        )
        for row, evidence in rows
    }
    for row, _ in rows:
        cause = next((name for name in row.caused_by if name in found), None)
        found[row.name] = replace(found[row.name], cause=cause)
    return tuple(found.values())
