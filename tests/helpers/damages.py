"""Random damage of text, lines of JSON and documents: `Damage` makes other bytes of some."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

Damage = Callable[[random.Random, bytes], bytes]

_LONG = b"x" * 10_000_000
_ODD = (b"\0", b"\xff\xfe", b"\n", b"}", b"{", b'"', b"\x1b", b"[" * 5000, b"9" * 5000, b" ", b"-", _LONG)
_NUMBERS = (b"0", b"7", b"-1", b"9223372036854775808", b"1e308", b"1" + b"0" * 30)
_DEEP = json.loads('{"a":[' * 200 + "]}" * 200)
_EXTREMES: tuple[Any, ...] = (
    0, -1, 1, 2**31, 2**53, 2**63, -(2**63), 2**64, 10**30, 1e308, -1e308, 5e-324, 0.5, None, True, "",
    "x" * 100_000, [], {}, [[]], _DEEP, "8", "1..", "\u202e", "\x1b]0;x\x07",
)  # fmt: skip


def _flip(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))] if rng.random() < 0.5 else data[rng.randrange(len(data)) :]


def _drop_bytes(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice((1, 2, 30, 1000)) :]


def _insert(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + rng.choice(_ODD) + data[at:]


def _number(rng: random.Random, data: bytes) -> bytes:
    at = rng.choice([at for at in range(len(data)) if data[at : at + 1].isdigit()])
    return data[:at] + rng.choice(_NUMBERS) + data[at + 1 :]


def _lines(rng: random.Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(5)
    if how == 0:
        del lines[one]
    elif how == 1:
        lines.insert(other, lines[one])
    elif how == 2:
        lines[one], lines[other] = lines[other], lines[one]
    elif how == 3:
        del lines[one : one + rng.randrange(1, 6)]
    else:
        lines[one] = lines[one].rstrip(b"}\n") + b"\n"
    return b"".join(lines)


def _ways(node: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if way:
        yield way
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, item in items:
        if not isinstance(key, int) or key < 3:
            yield from _ways(item, (*way, key))


def _value(rng: random.Random, data: bytes) -> bytes:
    """Another value, type or key of one line, or of the whole document."""
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    is_line = lines[at].startswith(b"{") and len(lines[at]) > 3
    try:
        document = json.loads(lines[at] if is_line else data)
    except ValueError:
        return _flip(rng, data)
    *way, key = rng.choice(list(_ways(document)))
    node = document
    for step in way:
        node = node[step]
    how = rng.randrange(5)
    if how == 0:
        del node[key]
    elif how == 1 and isinstance(node[key], list):
        rng.shuffle(node[key])
    elif how == 2 and isinstance(node, list):
        node.append(node[key])
    elif how == 3 and isinstance(node[key], int):
        node[key] += rng.choice((1, -1, 10))
    else:
        node[key] = rng.choice(_EXTREMES)
    written = msgspec.json.encode(document) if rng.random() < 0.8 else json.dumps(document).encode()
    if not is_line:
        return written
    lines[at] = written + b"\n"
    return b"".join(lines)


OF_TEXT: tuple[Damage, ...] = (_flip, _cut, _drop_bytes, _insert, _number, _lines)
OF_JSON: tuple[Damage, ...] = (*OF_TEXT, _value, _value)
OF_VALUES: tuple[Damage, ...] = (_value, _value, _value, _number, _lines)  # what is still JSON, mostly
