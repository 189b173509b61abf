"""Chunks of samples from lines of records: as `schema.Obs` is decoded, but with timestamps as arrays.

A folder is nearly all timestamps. As tuples of Python's integers they are slow to check and to convert. Those
of messages, which have one instant on either side, stand in a line twice and are decoded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw

from steelyard.records.fields import Whole
from steelyard.records.schema import Obs

_STAMPS = ("start_ns", "stop_ns")


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
_OTHERS = tuple(name for name in Obs.__struct_fields__ if name not in _STAMPS)
_others_of = attrgetter(*_OTHERS)
_row_decoder = msgspec.json.Decoder(list[Whole])


def decode_chunk(line: bytes) -> Obs | None:
    """The chunk of a line, its rows of timestamps as memoryviews of int64.

    None where the line is anything else, or damaged: then the ordinary decoder says what is wrong.
    """
    try:
        text = _decoder.decode(line)
        start = _read_rows(text.start_ns)
        stop = start if text.stop_ns == text.start_ns else _read_rows(text.stop_ns)
        return Obs(start_ns=start, stop_ns=stop, **dict(zip(_OTHERS, _others_of(text), strict=True)))
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


def _read_rows(rows: Sequence[Raw]) -> list[memoryview]:
    """`[1234,1240,...]` of each rank. Raises DecodeError for what is no such row."""
    return [np.array(_row_decoder.decode(row), dtype=np.int64).data for row in rows]
