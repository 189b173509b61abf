"""Which rows stand together in a table or a picture, and what tells them apart there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from steelyard.floor import LAYERS, STREAM, is_stream
from steelyard.observations import PointCells
from steelyard.row import Row
from steelyard.units import format_bytes, format_values

COLLECTIVES = frozenset(
    [
        "allgather",
        "allgatherv",
        "allreduce",
        "alltoall",
        "alltoallv",
        "alltoallw",
        "barrier",
        "bcast",
        "exscan",
        "gather",
        "gatherv",
        "neighbor_allgather",
        "neighbor_allgatherv",
        "neighbor_alltoall",
        "neighbor_alltoallv",
        "neighbor_alltoallw",
        "reduce",
        "reduce_scatter",
        "reduce_scatter_block",
        "scan",
        "scatter",
        "scatterv",
    ]
)
BLOCKING, NONBLOCKING, PERSISTENT = "blocking", "nonblocking", "persistent"


@dataclass(frozen=True, slots=True)
class Item:
    """A row, the observations behind it, and the name of the folder that it is from."""

    row: Row
    point: PointCells
    folder: str


@dataclass(frozen=True, slots=True)
class Line:
    """Items that differ in size alone, the smallest first. `label`: what tells the line from its neighbours.

    `colour` numbers the lines of a group; forms of one collective have one colour and different `form`.
    """

    label: str
    form: str
    colour: int
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """What goes into one picture. `common`: what all lines share; `is_sized`: there are curves over sizes."""

    name: str
    common: str
    sizes: tuple[int, ...]
    lines: tuple[Line, ...]
    is_sized: bool


def base_op(op: str) -> tuple[str, str]:
    """The collective an op is a form of, and the form; other ops are their own base and blocking.

    `mpi.iallreduce` -> (`mpi.allreduce`, nonblocking); `mpi.allreduce_init` -> (`mpi.allreduce`, persistent).
    """
    prefix, dot, name = op.rpartition(".")
    if name.endswith("_init") and name.removesuffix("_init") in COLLECTIVES:
        return prefix + dot + name.removesuffix("_init"), PERSISTENT
    if name.startswith("i") and name[1:] in COLLECTIVES:
        return prefix + dot + name[1:], NONBLOCKING
    return op, BLOCKING


def group_items(items: Iterable[Item]) -> tuple[Group, ...]:
    """Groups in the order in which their first row comes.

    Forms of a collective stand together; ops with a single size are collected by the first word of their name
    (`pthread`, `omp`), for a curve needs two points.
    """
    by_base: dict[str, list[Item]] = {}
    for item in items:
        by_base.setdefault(base_op(item.row.op)[0], []).append(item)
    chosen: dict[tuple[str, bool], list[Item]] = {}
    for base, members in by_base.items():
        sized = len({item.row.bytes for item in members}) > 1
        chosen.setdefault((base if sized else base.partition(".")[0], sized), []).extend(members)
    return tuple(_group(name, members, sized) for (name, sized), members in chosen.items())


def layer_group(items: Iterable[Item], streams: bool) -> Group | None:
    """Messages there and back (or streams) over MPI and the layers below it, the lowest layer first.

    None unless there are two layers with several sizes. A size means the same in each: bytes of a message.
    """
    names = [*(op + STREAM for op in LAYERS), "mpi.bandwidth"] if streams else [*LAYERS, "mpi.pingpong"]
    found = [item for item in items if item.row.op in names and is_stream(item.row.op) == streams]
    found.sort(key=lambda item: names.index(item.row.op))
    if len({item.row.op for item in found}) < 2 or len({item.row.bytes for item in found}) < 2:
        return None
    group = _group("layers", found, sized=True)
    short = [" ".join(filter(None, (line.items[0].row.op, line.items[0].row.mpi))) for line in group.lines]
    lines = (
        replace(line, label=name) if short.count(name) == 1 else line
        for line, name in zip(group.lines, short, strict=True)
    )
    return replace(group, lines=tuple(lines))


def _axes(item: Item, sized: bool) -> dict[str, str]:
    """What may tell a line from another, in the order in which a label names it."""
    row = item.row
    return {
        "op": row.op,
        "size": format_bytes(row.bytes) if row.bytes and not sized else "",
        "mpi": row.mpi or "",
        "ranks": _count(row.ranks, "rank"),
        "threads": _count(row.threads, "thread"),
        "thread level": f"thread level {row.thread_level}" if row.thread_level else "",
        "omp": format_values(row.omp),
        "placement": row.placed.text if row.placed else "",
        "params": format_values(row.params),
        "set": format_values({**row.method_params, **row.rule_params}),
        "method": f"method {row.method}" if row.method else "",
        "folder": item.folder,
    }


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _group(name: str, items: list[Item], sized: bool) -> Group:
    """Lines of one picture: their labels hold the axes that vary among them, `common` those that do not."""
    axes = [_axes(item, sized) for item in items]
    names = [name for name in axes[0] if len({one[name] for one in axes}) > 1]
    if "placement" in names:
        axes = [{**one, "placement": one["placement"] or "default placement"} for one in axes]
    same = [text for name, text in axes[0].items() if name not in (*names, "op", "folder")]
    shared = [text for text in same if text not in ("", "1 thread")]
    lines: dict[tuple[str, ...], list[Item]] = {}
    for item, one in zip(items, axes, strict=True):
        lines.setdefault(tuple(one[name] for name in names), []).append(item)
    colours: dict[tuple[str, ...], int] = {}
    result = []
    for key, members in lines.items():
        base, form = base_op(members[0].row.op)
        family = tuple(base if name == "op" else part for name, part in zip(names, key, strict=True))
        colour = colours.setdefault(family, len(colours))
        label = ", ".join(part for part in key if part) or members[0].row.op
        ordered = tuple(sorted(members, key=lambda item: item.row.bytes))
        result.append(Line(label, form, colour, ordered))
    sizes = tuple(sorted({item.row.bytes for item in items}))
    return Group(name, ", ".join(shared), sizes, tuple(result), sized)
