"""The types of elements that ops of MPI take, by their size."""

from __future__ import annotations

from collections.abc import Mapping

ELEMENT_BYTES: Mapping[str, int] = {
    **dict.fromkeys(("byte", "char", "int8", "bool"), 1),
    "short": 2,
    **dict.fromkeys(("int", "float"), 4),
    **dict.fromkeys(("long", "double"), 8),
    "complex": 16,
}
