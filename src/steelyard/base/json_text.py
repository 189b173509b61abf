"""JSON of unknown origin: whatever is wrong with it is one kind of error, and it takes bounded memory."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

Found = TypeVar("Found")

# A plan of the most test cases has two thirds of it. Python takes 20 to 120 bytes for each.
MOST_VALUES = 3 << 20
_DEEPEST = 64  # objects in objects: campaign.json has eight; Python's own functions end at some hundred
MOST_KEYS = 1 << 14  # of one object: a launch has some 2000 variables, a plan some 1000 ops
# Values of what has no type: a plan has at most a MiB of text, a machine some 10,000 CPUs.
MOST_FREE = 1 << 18

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
    check_shape(document)
    return document


def values_in(data: bytes) -> int:
    """Count the values of a document, or more where texts have brackets and commas."""
    return sum(map(data.count, (b",", b"[", b"{")))


def check_shape(document: Any, most: int = MOST_VALUES) -> None:
    """Raise msgspec.DecodeError for a document that functions which call themselves could not follow, that
    has an object of too many keys, or more than so many values.
    """
    level: list[Any] = [document]
    for _ in range(_DEEPEST + 1):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                if len(item) > MOST_KEYS:
                    raise msgspec.DecodeError(f"an object in it has more than {MOST_KEYS} keys")
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        most -= len(inner)
        if most < 0:
            raise msgspec.DecodeError("it has too many values")
        level = inner
        if not level:
            return
    raise msgspec.DecodeError("it is nested too deeply")
