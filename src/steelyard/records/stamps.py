"""Chunks of samples from lines of records: as `schema.Obs` is decoded, but many timestamps at once.

A folder is nearly all timestamps, and as an object of Python each costs far more than its digits. Those of a
chunk are a matrix of digits where all have as many: ns since the launch began get another digit only when the
launch is ten times as old.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from steelyard.records.schema import Obs

_STAMPS = ("start_ns", "stop_ns")
_MOST_DIGITS = 18  # of which each number is an int64


def _text_type() -> type[Any]:
    """`Obs` whose rows of timestamps stay text."""
    fields = [
        (one.encode_name, list[Raw] if one.name in _STAMPS else one.type, one.default, one.default_factory)
        for one in msgspec.structs.fields(Obs)
    ]
    made: list[Any] = [
        (name, kind)
        if default is factory is msgspec.NODEFAULT
        else (name, kind, default if factory is msgspec.NODEFAULT else msgspec.field(default_factory=factory))
        for name, kind, default, factory in fields
    ]
    return msgspec.defstruct("ObsText", made, frozen=True, kw_only=True, tag_field="record", tag="obs")


_decoder = msgspec.json.Decoder(_text_type())


def decode_chunk(line: bytes) -> Obs | None:
    """The chunk of a line, its rows of timestamps as memoryviews of int64.

    None where the line is anything else, or its timestamps do not have as many digits each: then the ordinary
    decoder says what it is.
    """
    try:
        text = _decoder.decode(line)
        is_instant = text.start_ns == text.stop_ns  # of messages, which have one on either side
        rows = text.start_ns if is_instant else [*text.start_ns, *text.stop_ns]
        values = _read_rows(rows, text.count)
        if values is None or len(text.start_ns) != len(text.stop_ns):
            return None
        views = [memoryview(row) for row in values]
        fields = {name: getattr(text, name) for name in text.__struct_fields__ if name not in _STAMPS}
        ranks = len(text.start_ns)
        return Obs(start_ns=views[:ranks], stop_ns=views[-ranks:], **fields)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


def _read_rows(rows: Sequence[Raw], count: int) -> NDArray[np.int64] | None:
    """`[1234,1240,...]` of each row as numbers, shape (rows, count); None where widths differ."""
    size = len(rows[0]) if rows else 0
    width, left = divmod(size - 1, count) if count > 0 else (0, 1)  # of a number and what follows it
    if left or not 1 < width <= _MOST_DIGITS + 1 or any(len(row) != size for row in rows):
        return None
    digits = np.empty((width - 1, len(rows), count), dtype=np.uint8)
    for place, row in enumerate(rows):
        digits[:, place] = np.frombuffer(row, dtype=np.uint8)[1:].reshape(count, width)[:, :-1].T
    digits -= ord("0")
    if digits.max() > 9 or (width > 2 and digits[0].min() == 0):
        return None
    values = np.zeros((len(rows), count), dtype=np.int64)
    for one in digits:  # no product of matrices, whose library would start threads
        values *= 10
        values += one
    return values
