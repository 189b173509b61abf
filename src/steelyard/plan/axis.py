"""Axes in plans: a number, a text such as "1,2,4", or a list of either."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from steelyard.base.comma_lists import values_in
from steelyard.base.errors import InputError, naming
from steelyard.base.printable import one_line, shortened, visible
from steelyard.base.units import parse_counts, parse_sizes

PlanAxis = int | str | tuple[int | str, ...]
WordAxis = str | tuple[str, ...]

CORES = "cores"  # the word for one rank on each core
THREAD_LEVELS = ("single", "funneled", "serialized", "multiple")
_MOST_QUOTED = 60  # letters of a value, in a sentence
_SOME_CORES = "2"  # of a machine, for a check that is for any


def _check_levels(text: str) -> None:
    if wrong := [word for word in values_in(text, "") if word not in THREAD_LEVELS]:
        raise InputError(f"there is no thread level '{wrong[0]}'; use {', '.join(THREAD_LEVELS)}")


def read_ranks(text: str, cores: int | str = _SOME_CORES) -> tuple[int, ...]:
    """Read numbers of ranks; the word `cores` is one for each core. Raises InputError."""
    words = (word.strip() for word in text.split(","))
    return parse_counts(",".join(str(cores) if word == CORES else word for word in words), "ranks")


# What is known of the values of a key without an engine: a reader, which raises InputError.
_READERS: Mapping[str, Callable[[str], object]] = {
    "bytes": parse_sizes,
    "ranks": read_ranks,
    "hosts": partial(parse_counts, what="hosts"),
    "ranks_per_host": partial(parse_counts, what="ranks"),
    "threads": partial(parse_counts, what="threads"),
    "thread_level": _check_levels,
}
_LISTS = (*_READERS, "ops", "method", "mpi", "shmem")  # keys whose texts are lists, `a,b`


@contextmanager
def as_value_error(kind: type[ValueError] = ValueError) -> Iterator[None]:
    """Turn what checks raise into a short ValueError, to which the reader of TOML adds the place."""
    try:
        yield
    except (ValueError, InputError) as error:
        raise kind(one_line(str(error))) from None


def check_key(name: str, value: Any, may_be_empty: bool = False) -> None:
    """Raise InputError for a value that a key cannot have: empty, with control characters, or what its reader
    refuses.

    The texts of a table are those of its keys. `may_be_empty`: a text of it may be.
    """
    if isinstance(value, Mapping):
        for key, inner in value.items():
            check_key(key, inner, may_be_empty)
        return
    parts = value if isinstance(value, tuple) else (value,)
    if not parts or (not may_be_empty and any(isinstance(one, str) and not one.strip() for one in parts)):
        what = "is empty" if value in ("", ()) else "has an empty value"
        raise InputError(f"{name} {what}; leave it out, or give it a value")
    odd = [one for one in parts if isinstance(one, str) and visible(one) != one]
    if odd and not may_be_empty:  # the others are variables, which are checked by their names
        raise InputError(
            f"{name} has control characters in '{shortened(odd[0], _MOST_QUOTED)}'; leave them out"
        )
    for part in map(str, parts) if name in _LISTS else ():
        values_in(part, name)
        if name in _READERS:
            with naming(name):
                _READERS[name](part)


def numbers_in(axis: PlanAxis, read: Callable[[str], tuple[int, ...]]) -> tuple[int, ...]:
    """Read an axis as numbers, each once; `read` converts a text, and may raise."""
    parts = axis if isinstance(axis, tuple) else (axis,)
    return tuple(dict.fromkeys(value for part in parts for value in read(str(part))))


def words_in(axis: PlanAxis | None) -> tuple[str, ...]:
    """Read an axis as words, each once: `"epoch,bounds"` or a list; none of None."""
    parts = axis if isinstance(axis, tuple) else () if axis is None else (axis,)
    return tuple(dict.fromkeys(word.strip() for part in parts for word in str(part).split(",")))
