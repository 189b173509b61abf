"""A comparison as the document that `compare --json` prints."""

from __future__ import annotations

from typing import Any

import msgspec

from steelyard.judges.compare.verdicts import Verdicts


def verdicts_document(found: Verdicts) -> dict[str, Any]:
    """The keys of `Verdicts`, with a schema of their own."""
    document: dict[str, Any] = msgspec.to_builtins(found)
    return {"schema": 1, **document}
