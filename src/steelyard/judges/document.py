"""Verdicts as the document that `--json` prints."""

from __future__ import annotations

from typing import Any

import msgspec


def verdict_document(found: msgspec.Struct) -> dict[str, Any]:
    """Make the document of what was judged: its keys, with a schema of their own."""
    document: dict[str, Any] = msgspec.to_builtins(found)
    return {"schema": 1, **document}
