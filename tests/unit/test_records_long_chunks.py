"""Chunks of so many stamps that they are read as arrays."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest

from record_lines import LINES, text_of
from steelyard.records import read
from steelyard.records.read import decode_record, read_records
from steelyard.records.schema import Obs
from steelyard.records.timestamps import decode_chunk


def test_a_hundred_thousand_stamps_are_one_list(tmp_path: Path) -> None:
    count = 25_000
    stamps = (np.arange(4 * count).reshape(4, count) * 1000).tolist()
    obs = Obs(point=0, first=0, count=count, start_ns=stamps[:2], stop_ns=stamps[2:])
    path = tmp_path / "a.jsonl"
    path.write_bytes(text_of(LINES[:3]).encode() + msgspec.json.encode(obs) + b"\n")
    reading = read_records(path)
    last = reading.records[-1]
    assert isinstance(last, Obs)
    assert [list(row) for row in last.stop_ns] == stamps[2:]


def _long_line(first: int, step: int, count: int = 300, instants: bool = False) -> bytes:
    """A chunk of two ranks whose stamps go up from `first`, long enough to be read as arrays."""
    rows = (first + step * np.arange(4 * count).reshape(4, count)).tolist()
    stop = rows[:2] if instants else rows[2:]
    obs = Obs(point=3, first=7, count=count, start_ns=rows[:2], stop_ns=stop, late=(1, 5), canary_ns=81.5)
    return msgspec.json.encode(obs)


@pytest.mark.parametrize(
    "line",
    [
        _long_line(4_123_456_789, 997),
        _long_line(4_123_456_789, 997, instants=True),
        _long_line(900_000, 997),  # another digit on the way
        _long_line(0, 997),  # and six more
        _long_line(4_611_686_018_000_000_000, 12_345),  # near the greatest that there may be
        _long_line(-5_000_000_000, 997),
        _long_line(4_123_456_789, 997).replace(b",4123457786,", b",4123457786 ,"),
    ],
    ids=["even", "instants", "uneven", "from 0", "large", "negative", "blank"],
)
def test_long_chunks_are_read_as_the_ordinary_decoder_reads_them(line: bytes) -> None:
    plain = msgspec.json.decode(line, type=Obs)
    for obs in (decode_chunk(line), decode_record(line)):
        assert isinstance(obs, Obs)
        rows = {name: [list(row) for row in getattr(obs, name)] for name in ("start_ns", "stop_ns")}
        assert msgspec.structs.replace(obs, **rows) == plain


def test_counts_of_a_long_chunk_are_arrays_too() -> None:
    """A chunk of 4096 ranks whose op counts has 13 million numbers: too many for Python's."""
    count = 300
    stamps = (4_123_456_789 + 997 * np.arange(4 * count).reshape(4, count)).tolist()
    firsts = (("lost_ns", 1), ("units", 2**40))
    counts: dict[str, Sequence[Sequence[int]]] = {
        name: [[first] * count, [7] * count] for name, first in firsts
    }
    obs = Obs(point=3, first=0, count=count, start_ns=stamps[:2], stop_ns=stamps[2:], counts=counts)
    line = msgspec.json.encode(obs)
    read = decode_chunk(line)
    assert read is not None
    assert {name: [list(row) for row in rows] for name, rows in read.counts.items()} == counts
    assert all(isinstance(row, memoryview) for rows in read.counts.values() for row in rows)
    assert [list(row) for row in read.stop_ns] == stamps[2:]
    assert decode_chunk(line.replace(b"[7,7,", b"[7,", 1)) is None
    assert decode_chunk(line.replace(b"[7,7,", b"[7,7.5,", 1)) is None


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (b"4123457786,", b"4123457_86,"),
        (b"4123457786,", b"0123457786,"),
        (b"4123457786,", b"41234577.6,"),
        (b"4123457786,", b"4611686018427387905,"),
        (b'"count":300', b'"count":299'),
        (b'"first":7', b'"first":-7'),
    ],
)
def test_long_chunks_that_are_damaged_are_refused(right: bytes, wrong: bytes) -> None:
    line = _long_line(4_123_456_789, 997)
    assert right in line
    assert decode_chunk(line.replace(right, wrong, 1)) is None
    with pytest.raises(msgspec.DecodeError):
        decode_record(line.replace(right, wrong, 1))


def test_no_copies_are_made_of_a_long_chunk() -> None:
    """A line may have 100 MB. Its rows are looked at one after the other, and joined once."""
    line = _long_line(4_123_456_789, 997, count=25_000)
    tracemalloc.start()
    try:
        obs = decode_chunk(line)
        assert obs is not None
        assert tracemalloc.get_traced_memory()[1] < 3 * len(line)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("end", [b"", b"\n", b"]}\n"])
def test_a_line_longer_than_any_ends_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: bytes
) -> None:
    monkeypatch.setattr(read, "_LONGEST_LINE", 1 << 21)
    path = tmp_path / "a.jsonl"
    path.write_bytes(text_of(LINES[:3]).encode() + b'{"record":"obs","zz":[' + b"1," * (1 << 21) + end)
    reading = read_records(path)
    assert (len(reading.records), reading.cut_line) == (3, True)  # what is behind it is not looked at
