"""Types of fields of records: numbers within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta

from steelyard.base.json_text import MOST_KEYS

# Bounds of numbers, 146 years in ns: beyond them sums exceed 64 bits, and products may be infinite.
MOST, _MOST_REAL = 2**62, 1e18

MOST_RANKS = 2**24  # the largest machines have some ten million cores
_MOST_THREADS = 2**22  # of a host, as Linux numbers them
MOST_LETTERS = 2**17  # Linux gives a program no longer word or variable
_LONGEST_NAME = 1000  # letters of what is a name to people, and stands in tables

Name = Annotated[str, Meta(max_length=_LONGEST_NAME)]
Text = Annotated[str, Meta(max_length=MOST_LETTERS)]
Number = Annotated[int, Meta(ge=-MOST, le=MOST)] | Annotated[float, Meta(ge=-_MOST_REAL, le=_MOST_REAL)]
FEW = Meta(max_length=MOST_KEYS)
Params = Annotated[
    dict[Name, Number | Text], FEW
]  # of an op, a method or a rule: numbers, and words to choose from
Environment = Annotated[dict[Name, Text], FEW]
Free = Annotated[dict[Name, Any], FEW]  # what the package or the engine know of a system
Whole = Annotated[int, Meta(ge=-MOST, le=MOST)]
Count = Annotated[int, Meta(ge=0, le=MOST)]
Several = Annotated[int, Meta(ge=1, le=MOST)]
RankCount = Annotated[int, Meta(ge=1, le=MOST_RANKS)]
ThreadCount = Annotated[int, Meta(ge=1, le=_MOST_THREADS)]
Seed = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Real = Annotated[float, Meta(ge=-_MOST_REAL, le=_MOST_REAL)]
Amount = Annotated[float, Meta(ge=0, le=_MOST_REAL)]
Share = Annotated[float, Meta(ge=0, le=1)]
Timestamps = Sequence[Sequence[Whole]]  # [rank][sample], ns on that rank's own clock since the launch began
Counts = Annotated[dict[Name, Timestamps], FEW]
