"""The end of a line of records: `line`, its number among those of its writer, and `crc`, a checksum.

The checksum is that of all before it, so that a change of any bit is found; the numbers show which lines are
missing or doubled. The package writes no numbers: it adds single lines. Older records have neither.
"""

from __future__ import annotations

import re
import zlib

from msgspec import Struct

# Spaces are not as they were written: such a line was changed, even if it means the same.
_SEAL = re.compile(rb'(?:,\s*"line":\s*(\d{1,18}))?(,\s*"crc":\s*"([0-9a-f]{8})")\s*\}\s*$')
_LONGEST_SEAL = 64  # bytes of the longest one


class Seal(Struct, frozen=True):
    """What the end of a line says: `line` is None where its writer numbers none, `is_right` None if it has no
    checksum.
    """

    line: int | None = None
    is_right: bool | None = None


_NONE = Seal()


def sealed(document: bytes, line: int | None = None) -> bytes:
    """End an object of JSON with its number, if it has one, and its checksum."""
    body = document[:-1] if line is None else b'%s,"line":%d' % (document[:-1], line)
    return b'%s,"crc":"%08x"}' % (body, zlib.crc32(body))


def read_seal(line: bytes) -> Seal:
    """Read the end of a line, and hold its checksum against what is before it."""
    found = _SEAL.search(line, max(0, len(line) - _LONGEST_SEAL))
    if found is None:
        return _NONE
    number, told = found[1], found[3]
    is_right = zlib.crc32(memoryview(line)[: found.start(2)]) == int(told, 16)
    return Seal(None if number is None else int(number), is_right)
