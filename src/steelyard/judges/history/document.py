"""A check as the document that `check --json` prints."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.judges.history.verdicts import Checked


def check_document(found: Checked) -> dict[str, Any]:
    """Make the document of a check: the keys of `Checked`, with a schema of their own."""
    document: dict[str, Any] = msgspec.to_builtins(found)
    return {"schema": 1, **document}
