"""A row as one flat mapping, the base of all file formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec.structs import asdict

from steelyard.records.campaign_file import Placement
from steelyard.records.parts import Hint
from steelyard.results.core_noise import CoreNoise
from steelyard.results.facets import FACETS
from steelyard.results.facets.messages import RowPair
from steelyard.results.facets.modes import RowMode
from steelyard.results.facets.watched_path import RowPath
from steelyard.results.facets.windows import RowSpun
from steelyard.results.phases import RowPhases
from steelyard.results.row import Row
from steelyard.stats import Interval

# Columns of structures -> the words in one cell.
_WORDS: Mapping[type, Callable[[Any], str]] = {
    RowMode: lambda mode: f"{mode.value:g}:{mode.share:g}",
    RowPair: lambda pair: f"{pair.low}-{pair.high}:{pair.median:g}",
    RowSpun: lambda one: f"{one.rank}:{one.share:g}",
    CoreNoise: lambda one: f"{one.rank}:{one.share:g}",
    Hint: lambda hint: f"{hint.key}={hint.asked}:{hint.has or ''}",
    RowPath: lambda path: f"{path.late}>{path.observer}",
    RowPhases: lambda found: " ".join(f"{phase.name}:{phase.median:g}" for phase in found.phases),
    Interval: lambda found: f"{found.value:g}",
    Placement: lambda placed: placed.text,
}


def columns() -> list[str]:
    """List the names of all columns, in their order; `facets` and `launches` are none."""
    own = [name for name in Row.__struct_fields__ if name not in ("facets", "launches")]
    return [*own, *(name for kind in FACETS for name in kind.__struct_fields__)]


def flat(row: Row) -> dict[str, Any]:
    """List the columns of a row and their values, in order; missing facets have their defaults."""
    own = asdict(row)
    del own["facets"], own["launches"]
    for kind in FACETS:
        own |= asdict(row.get(kind))
    return own


def row_document(row: Row) -> dict[str, Any]:
    """Make a row of results.json: flat, with its launches."""
    document: dict[str, Any] = msgspec.to_builtins({**flat(row), "launches": row.launches})
    return document


def cell(value: Any) -> Any:
    """Write a value in one cell: mappings are `window=64`, several values stand side by side."""
    if isinstance(value, dict):
        return " ".join(f"{key}={one}" for key, one in value.items())
    if isinstance(value, tuple):
        return " ".join(f"{one:g}" if isinstance(one, float | int) else str(cell(one)) for one in value)
    words = _WORDS.get(type(value))
    return words(value) if words else value
