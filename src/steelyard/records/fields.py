"""Types of fields of records: numbers within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

# Bounds of numbers, 146 years in ns: beyond them sums exceed 64 bits, and products may be infinite.
MOST, _MOST_REAL = 2**62, 1e18

Number = int | float
Params = dict[str, Number | str]  # of an op, a method or a rule: numbers, and words to choose from
Whole = Annotated[int, Meta(ge=-MOST, le=MOST)]
Count = Annotated[int, Meta(ge=0, le=MOST)]
Several = Annotated[int, Meta(ge=1, le=MOST)]
Real = Annotated[float, Meta(ge=-_MOST_REAL, le=_MOST_REAL)]
Amount = Annotated[float, Meta(ge=0, le=_MOST_REAL)]
Share = Annotated[float, Meta(ge=0, le=1)]
Timestamps = Sequence[Sequence[Whole]]  # [rank][sample], ns on that rank's own clock since the launch began
