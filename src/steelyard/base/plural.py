"""Counts of things in words: `1 rank`, `3 launches`."""

from __future__ import annotations

from collections.abc import Iterable


def plural(noun: str, count: int) -> str:
    """Write the noun after that number: `launch` after 1, `launches` after 0 and 3."""
    if count == 1:
        return noun
    return noun + ("es" if noun.endswith(("ch", "sh", "s", "x")) else "s")


def counted(count: int, noun: str) -> str:
    """Write `1 rank`, `3 launches`, `0 points`."""
    return f"{count} {plural(noun, count)}"


def joined(names: Iterable[str]) -> str:
    """Write `a`, `a and b`, `a, b and c`: each name once, empty ones left out."""
    *first, last = list(dict.fromkeys(name for name in names if name)) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def counted_range(counts: Iterable[int], noun: str) -> str:
    """Write `7 launches`, `3 to 10 launches`, `no launch`: from the least of several counts to
    the greatest.
    """
    found = sorted(set(counts))
    if not found:
        return f"no {noun}"
    return counted(found[0], noun) if len(found) == 1 else f"{found[0]} to {counted(found[-1], noun)}"


def capital(text: str) -> str:
    """Begin a sentence with a capital letter, unless it begins with a name such as `mpi.bcast`."""
    return text[0].upper() + text[1:] if text.partition(" ")[0].rstrip(":,").isalpha() else text
