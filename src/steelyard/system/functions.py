"""Functions of a program by their addresses, as the symbols in its file tell; for 64-bit ELF files."""

from __future__ import annotations

import bisect
import struct
from pathlib import Path

from msgspec import Struct

from steelyard.base.errors import InputError
from steelyard.base.files import read_regular

_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")  # after the identification
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOLS, _FUNCTION, _KIND_BITS = 2, 2, 15
_ELF64_LITTLE = b"\x7fELF\x02\x01"


class Functions(Struct, frozen=True):
    """Names of functions with their first addresses, in order, and the addresses after their ends."""

    starts: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    def at(self, address: int) -> str | None:
        """The name of the function that an address lies in."""
        i = bisect.bisect_right(self.starts, address) - 1
        return self.names[i] if i >= 0 and address < self.ends[i] else None


def functions_of(path: Path) -> Functions:
    """The functions of a file; none of one that cannot be read, is stripped, or is not of this format."""
    try:
        data = read_regular(path)
        return _read(data) if data.startswith(_ELF64_LITTLE) else Functions()
    except (InputError, struct.error, IndexError):
        return Functions()


def _read(data: bytes) -> Functions:
    head = _HEADER.unpack_from(data)
    first, size, count = head[5], head[10], head[11]
    sections = [_SECTION.unpack_from(data, first + i * size) for i in range(count)]
    found: list[tuple[int, int, str]] = []
    for _, kind, _, _, at, length, names, *_ in sections:
        if kind == _SYMBOLS:
            texts = sections[names][4]
            whole = length - length % _SYMBOL.size
            for name, info, _, _, start, extent in _SYMBOL.iter_unpack(data[at : at + whole]):
                if info & _KIND_BITS == _FUNCTION and extent > 0:
                    text = data[texts + name : data.index(b"\0", texts + name)]
                    own = text.partition(b".")[0]  # without the compiler's `.part.0`
                    found.append((start, start + extent, own.decode("ascii", "replace")))
    found.sort()
    return Functions(*(tuple(column) for column in zip(*found, strict=True))) if found else Functions()
