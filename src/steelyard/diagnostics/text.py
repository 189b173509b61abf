"""Diagnostics for a terminal: what was seen and what to do. The report also says why it matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.base.diagnostic import NOTE, Diagnostic

_ON_ROWS = ("failed", "wrong-answer", "wrong-answer-solo")  # whose evidence the rows of tables say, too


def diagnostic_text(
    diagnostics: Sequence[Diagnostic], *, notes: bool = False, where: str = "", below_tables: bool = False
) -> Iterator[str]:
    """Make a line for each, which whoever prints it folds for a terminal; with notes only if asked.

    `where` names the folder if there are several. What the rows of tables said is not said again
    `below_tables`. A diagnostic that may explain another one is named in the
    other's line, and has none of its own.
    """
    shown = [diagnostic for diagnostic in diagnostics if notes or diagnostic.severity != NOTE]
    names = {one.name for one in shown}
    for one in shown:
        if one.cause in names:
            continue
        explained = [other.what[0].lower() + other.what[1:] for other in shown if other.cause == one.name]
        why = f"This may be why: {', '.join(explained)}. " if explained else ""
        about = f"{where}: " if where else ""
        evidence = "The rows say how." if below_tables and one.name in _ON_ROWS else one.evidence
        yield f"{one.severity}: {about}{one.what}. {evidence} {why}{one.remedy}"
