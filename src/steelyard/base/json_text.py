"""JSON of unknown origin: whatever is wrong with it is one kind of error, and it takes bounded memory."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

Found = TypeVar("Found")

# A plan of the most test cases has two thirds of it. Python takes 20 to 120 bytes for each.
MOST_VALUES = 3 << 20
_DEEPEST = 64  # objects in objects: campaign.json has eight; Python's own functions end at some hundred

ANYTHING: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


def decode_json(data: bytes, decoder: msgspec.json.Decoder[Found]) -> Found:
    """Decode a document. Raises msgspec.DecodeError, whatever is wrong with it."""
    if values_in(data) > MOST_VALUES:
        raise msgspec.DecodeError(f"it has more than {MOST_VALUES} values")
    try:
        document = decoder.decode(data)
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(f"not UTF-8: {error.reason}") from None
    except RecursionError:
        raise msgspec.DecodeError("it is nested too deeply") from None
    check_depth(document)
    return document


def values_in(data: bytes) -> int:
    """Count the values of a document, or more where texts have brackets and commas."""
    return sum(map(data.count, (b",", b"[", b"{")))


def check_depth(document: Any, deepest: int = _DEEPEST) -> None:
    """Raise msgspec.DecodeError for a document that functions which call themselves could not follow."""
    if isinstance(document, dict | list):
        if deepest == 0:
            raise msgspec.DecodeError("it is nested too deeply")
        for item in document.values() if isinstance(document, dict) else document:
            check_depth(item, deepest - 1)
