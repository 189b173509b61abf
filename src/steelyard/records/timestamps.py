"""Decode chunks of samples from lines of records, as `schema.Obs`, but with timestamps as arrays.

A folder is nearly all timestamps. As tuples of Python's integers they are slow to check and to convert.
Timestamps of messages, which have one instant on either side, stand in a line twice and are decoded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from operator import attrgetter
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Raw

from steelyard.records.fields import FEW, MOST, Name
from steelyard.records.schema import Obs

_ROWS = {"start_ns": list[Raw], "stop_ns": list[Raw], "counts": Annotated[dict[Name, list[Raw]], FEW]}
_LAST = b"0"  # after all rows: it is not reached if anything before it is no whole number


def _text_type() -> type[Any]:
    """Make the type of `Obs` whose rows of numbers stay text."""
    fields = [
        (
            field.encode_name,
            _ROWS.get(field.name, field.type),
            field.default,
            field.default_factory,
        )
        for field in msgspec.structs.fields(Obs)
    ]
    made: list[Any] = [
        (name, kind)
        if default is factory is msgspec.NODEFAULT
        else (name, kind, default if factory is msgspec.NODEFAULT else msgspec.field(default_factory=factory))
        for name, kind, default, factory in fields
    ]
    return msgspec.defstruct("ObsText", made, frozen=True, kw_only=True, tag_field="record", tag="obs")


_decoder = msgspec.json.Decoder(_text_type())
_OTHERS = tuple(name for name in Obs.__struct_fields__ if name not in _ROWS)
_others_of = attrgetter(*_OTHERS)


def decode_chunk(line: bytes) -> Obs | None:
    """Decode the chunk of a line, its rows of timestamps and counts as memoryviews of int64.

    None if the line is anything else, or damaged: then the ordinary decoder explains what is wrong.
    """
    try:
        text = _decoder.decode(line)
        ranks, is_instant = len(text.start_ns), text.stop_ns == text.start_ns
        counted = [row for rows in text.counts.values() for row in rows]
        stamps = text.start_ns if is_instant else [*text.start_ns, *text.stop_ns]
        rows = iter(_read_rows([*stamps, *counted], text.count))
        start = list(islice(rows, ranks))
        stop = start if is_instant else list(islice(rows, len(text.stop_ns)))
        counts: dict[str, Sequence[Sequence[int]]] = {
            name: list(islice(rows, len(of_ranks))) for name, of_ranks in text.counts.items()
        }
        others = dict(zip(_OTHERS, _others_of(text), strict=True))
        return Obs(start_ns=start, stop_ns=stop, counts=counts, **others)
    except (msgspec.DecodeError, RecursionError, ValueError, DeprecationWarning):
        return None


def _read_rows(rows: Sequence[Raw], count: int) -> list[memoryview]:
    """Read `[1234,1240,...]` of each rank, which is valid JSON already. Raises ValueError for
    anything else.
    """
    if not all(_has_values(bytes(row), count) for row in rows):
        raise ValueError("a row of timestamps is a list of so many values")
    inner = (memoryview(row)[1:-1] for row in rows)  # no copies: a line may have 100 MB
    stamps = np.fromstring(
        b",".join([*inner, _LAST]), dtype=np.int64, sep=","
    )  # up to the first that is no whole number
    if stamps.size != len(rows) * count + 1 or max(int(stamps.max()), -int(stamps.min())) > MOST:
        raise ValueError("a timestamp is no whole number, or out of bounds")
    return [row.data for row in stamps[:-1].reshape(len(rows), count)]


def _has_values(row: bytes, count: int) -> bool:
    """Is it a list of so many values, with no list in it?"""
    values = row.count(b",") + 1 if len(row) > len(b"[]") else 0
    return row.startswith(b"[") and values == count
