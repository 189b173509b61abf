"""Tests of other suites by name: `steelyard run --like osu_latency`, and the page docs/reference/like.md."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from steelyard.base.errors import InputError
from steelyard.base.units import format_values
from steelyard.plan.other_suites import SUITES, Like

# Tests of other suites without an op here, by parts of their names.
_NOT_YET = (
    (r"(^|_)(put|get|acc|fop|cas)(_|$)|(^|_)rma|one_?sided", "one-sided operations of another kind"),
    (r"oshm|upc|shmem", "OpenSHMEM or UPC"),
    (r"^[scp]_(i?read|i?write)|^(open_close|mpi_?io)", "files"),
)


def known_as(word: str) -> Like | None:
    """Find the row of that name, in any case."""
    rows = (row for suite in SUITES.values() for row in suite)
    return next((row for row in rows if row.name.lower() == word.lower()), None)


def find_like(name: str) -> Like:
    """Find the row of that name, in any case. Raises InputError with the nearest names."""
    if (row := known_as(name)) is not None:
        return row
    rows = [row for suite in SUITES.values() for row in suite]
    for pattern, subject in _NOT_YET:
        if re.search(pattern, name.lower()):
            raise InputError(f"'{name}' is a test of {subject}, and there are no such ops yet")
    close = _near(name, (row.name for row in rows))
    hint = f"did you mean {close}? See" if close else "see"
    raise InputError(f"no test of another suite is called '{name}'; {hint} docs/reference/like.md")


def _near(name: str, known: Iterable[str]) -> str:
    lower = {word.lower(): word for word in known}
    return " or ".join(lower[word] for word in difflib.get_close_matches(name.lower(), lower, n=2))


def like_page() -> str:
    """Write docs/reference/like.md."""
    lines = ["# What other suites call it", "", _INTRODUCTION, ""]
    for suite, rows in SUITES.items():
        lines += [f"## {suite}", "", "| test | op here | sizes | difference |", "| --- | --- | --- | --- |"]
        for row in rows:
            given = f" `{format_values(row.params)}`" if row.params else ""
            given += f" `--threads {row.threads}`" if row.threads > 1 else ""
            sizes = f"`{row.bytes}`" if row.bytes else "none"
            lines.append(f"| {row.name} | `{row.op}`{given} | {sizes} | {row.differs} |")
        lines.append("")
    return "\n".join(lines)


_INTRODUCTION = """`docs/generate.py` makes this page from `src/steelyard/plan/other_suites.py`.
`steelyard run --like NAME` runs the op with the sizes of that suite; other options may be given with it. The
*measurement* is Steelyard's. Every row of a collective also has what OSU and IMB would have printed (`osu`
and `imb`); with `--to osu` or `--to imb` the run prints [their text](export.md)."""
