"""Lists in one word, `a,b`, as options and plans have them."""

from __future__ import annotations

from steelyard.base.errors import InputError
from steelyard.base.printable import shortened

_MOST_QUOTED = 60  # letters of what somebody has written, in a sentence


def values_in(text: str, where: str, shown: str | None = None) -> tuple[str, ...]:
    """List the values between commas. Raises InputError for an empty one.

    The sentence says `where` they stand, and what is written there: `shown`, or the text.
    """
    values = tuple(part.strip() for part in text.split(","))
    if not all(values):
        raise InputError(
            f"{where} {shortened(shown or text, _MOST_QUOTED)} has an empty value; write values between "
            "commas, as a,b"
        )
    return values
