"""Diagnostics as a terminal shows them: what was seen and what to do; why it matters is in the report."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from steelyard.base.diagnostic import NOTE, Diagnostic

INDENT = "  "  # of all lines of a paragraph but the first


def diagnostic_text(found: Sequence[Diagnostic], width: int, *, notes: bool = False) -> Iterator[str]:
    """A paragraph for each, wrapped at `width`; notes only where they are asked for.

    What another one may explain is named in that one's paragraph and has none of its own.
    """
    shown = [one for one in found if notes or one.severity != NOTE]
    names = {one.name for one in shown}
    for one in shown:
        if one.cause in names:
            continue
        explained = [other.what[0].lower() + other.what[1:] for other in shown if other.cause == one.name]
        why = f"This may be why: {', '.join(explained)}. " if explained else ""
        yield textwrap.fill(
            f"{one.severity}: {one.what}. {one.evidence} {why}{one.remedy}",
            width,
            subsequent_indent=INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
