"""A profile of Caliper (.cali), as Hatchet and Thicket read it: rows are regions, their numbers metrics.

The format is lines of nodes, which refer to each other by number: those of an attribute are its properties
below its type, then its name; those of a region are the levels of its path. Nodes up to 11 are Caliper's own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from steelyard import __version__
from steelyard.base.printable import visible
from steelyard.export.export_input import Export
from steelyard.export.tagged_rows import GAUGES, TaggedRow, numbers_of, tagged_rows

_STRING, _DOUBLE = 3, 5  # Caliper's nodes of types
_NAME, _PROPERTIES = 8, 10  # Caliper's attributes of attributes
_AS_VALUE, _NESTED, _GLOBAL = 1, 256, 512  # bits of the properties: in records, a level of a path, of the run
_FIRST_FREE = 12
_OF_THE_RUN = ("mpi", "ranks", "threads", "method")  # of the profile where all rows have the same
_ESCAPES = str.maketrans({",": r"\,", "=": r"\=", "\\": r"\\"})


class _Profile:
    """The lines so far, and the node of each path."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._nodes: dict[tuple[str, ...], int] = {}
        self._next = _FIRST_FREE
        self._region = self.attribute("region", _STRING, _NESTED)

    def attribute(self, name: str, type_node: int, properties: int) -> int:
        """Add an attribute; return its number."""
        return self._node(_NAME, name, self._node(_PROPERTIES, str(properties), type_node))

    def measured(self, path: tuple[str, ...], values: Mapping[int, str]) -> None:
        """Add what was measured of the region with that path: values by their attributes."""
        node = self._region_node(path)
        self.lines.append(",".join(["__rec=ctx", f"ref={node}", *_listed(values)]))

    def told(self, values: Mapping[int, str]) -> None:
        """Add facts of the run, by their attributes."""
        self.lines.append(",".join(["__rec=globals", *_listed(values)]))

    def _region_node(self, path: tuple[str, ...]) -> int:
        if path not in self._nodes:
            parent = self._region_node(path[:-1]) if path[:-1] else None
            self._nodes[path] = self._node(self._region, path[-1], parent)
        return self._nodes[path]

    def _node(self, attribute: int, data: str, parent: int | None) -> int:
        number, self._next = self._next, self._next + 1
        above = "" if parent is None else f",parent={parent}"
        self.lines.append(f"__rec=node,id={number},attr={attribute},data={_escaped(data)}{above}")
        return number


def caliper_text(what: Export) -> bytes:
    """Write a region `mpi.bcast`, in it `bytes:8`, for each row; what all rows share is metadata of the run.

    Thicket compares profiles where their regions have the same names, and by their metadata. A region that
    only holds others has a record without numbers, or Hatchet would drop it.
    """
    rows = tagged_rows(what)
    shared = {name: value for name in _OF_THE_RUN if (value := _shared(rows, name))}
    profile = _Profile()
    metrics = {key: profile.attribute(gauge.with_unit, _DOUBLE, _AS_VALUE) for key, gauge in GAUGES.items()}
    paths = [_path(row, shared) for row in rows]
    above = dict.fromkeys(path[:i] for path in paths for i in range(1, len(path)))
    for path in (path for path in above if path not in set(paths)):
        profile.measured(path, {})
    for path, tagged_row in zip(paths, rows, strict=True):
        numbers = numbers_of(tagged_row.row)
        profile.measured(path, {metrics[key]: repr(value) for key, value in numbers.items()})
    folders = {"folder": visible(str(what.folders[0].folder))} if len(what.folders) == 1 else {}
    facts = {"steelyard.version": __version__, **folders, **shared}
    profile.told(
        {profile.attribute(name, _STRING, _AS_VALUE | _GLOBAL): value for name, value in facts.items()}
    )
    return "".join(f"{line}\n" for line in profile.lines).encode()


def _path(row: TaggedRow, shared: Collection[str]) -> tuple[str, ...]:
    levels = (f"{name}:{value}" for name, value in row.tags.items() if name not in ("op", *shared))
    return (row.row.op, *levels)


def _shared(rows: Iterable[TaggedRow], name: str) -> str | None:
    values = {row.tags.get(name) for row in rows}
    return values.pop() if len(values) == 1 else None


def _listed(values: Mapping[int, str]) -> tuple[str, ...]:
    """List attributes and their values; nothing where there are none."""
    if not values:
        return ()
    return "=".join(["attr", *map(str, values)]), "=".join(["data", *map(_escaped, values.values())])


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)
