"""Which rows form one table or picture, and what distinguishes them in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from steelyard.records.kinds import LAYERS
from steelyard.render.axes import MOST_COLOURS
from steelyard.results.load import PointLaunches
from steelyard.results.row import Row
from steelyard.rows.labels import row_labels

MOST_NAMED = 3  # ops in a title
SKIPPED = "skipped"  # the status of a row that was not measured
PARAMETERS = ("param ", "omp ", "env ")  # prefixes of keys of facts
_PLACES = {"mpi": 0, "self": 2}  # of families, before and after all others
# What readers compare, the most frequent first. If there are too many lines, colours stand for one of these.
RIVALS = ("folder", "mpi", "threads", "ranks", "method", "thread level", "omp", "env", "placement")


@dataclass(frozen=True, slots=True)
class Shown:
    """A row, its observations, and the name of its folder."""

    row: Row
    point: PointLaunches
    folder: str


@dataclass(frozen=True, slots=True)
class FigureLine:
    """Items that differ only in size, the smallest first. `label` distinguishes the line from its neighbours.

    `colour` numbers the colours of a group; forms of one collective share a colour and differ in `form`.
    `level` is the value that the colour stands for. If there are more lines than colours, `row` is the rest
    of the label: lines of one row share a picture, and differ in their colours.
    """

    label: str
    form: str
    colour: int
    items: tuple[Shown, ...]
    level: str = ""
    row: str = ""


@dataclass(frozen=True, slots=True)
class FigureGroup:
    """The lines of one picture. `common`: what all lines share; `is_sized`: the lines are curves
    over sizes.
    """

    name: str
    common: str
    sizes: tuple[int, ...]
    lines: tuple[FigureLine, ...]
    is_sized: bool

    @property
    def items(self) -> tuple[Shown, ...]:
        """The rows of all lines."""
        return tuple(item for line in self.lines for item in line.items)

    @property
    def title(self) -> str:
        """The op of all forms, a few ops, or the common part of many names, `npb.*`.

        Skipped items count only if there is nothing else.
        """
        rows = [item.row for item in self.items]
        told = [row for row in rows if row.status != SKIPPED] or rows
        ops = list(dict.fromkeys(row.op for row in told))
        if len({row.base for row in told}) == 1:
            return ops[0] if len(ops) == 1 else told[0].base
        return ", ".join(ops) if len(ops) <= MOST_NAMED else f"{self.name}.*"


def group_items(items: Iterable[Shown]) -> tuple[FigureGroup, ...]:
    """Group items: MPI first, the instrument last, else in the order of their first rows.

    Forms of a collective are one group. Ops with a single size are grouped by the first word of their name
    (`pthread`, `omp`) if they differ in the same parameters: a curve needs two points.
    """
    by_base: dict[str, list[Shown]] = {}
    for item in items:
        by_base.setdefault(item.row.base, []).append(item)
    chosen: dict[tuple[object, ...], list[Shown]] = {}
    for base, members in by_base.items():
        sized = len({item.row.bytes for item in members}) > 1
        key = (base, True) if sized else (base.partition(".")[0], False, *_kind(members))
        chosen.setdefault(key, []).extend(members)
    ordered = sorted(chosen.items(), key=lambda one: _PLACES.get(one[1][0].row.op.partition(".")[0], 1))
    return tuple(_group(str(name), members, sized is True) for (name, sized, *_), members in ordered)


def _kind(items: Sequence[Shown]) -> tuple[str, ...]:
    """Say what rows of a table must have in common: what it is about, and the parameters in which they
    differ.
    """
    rows = [item.row for item in items if item.row.median is not None] or [item.row for item in items]
    keys = (axis.key for axis in row_labels(rows).varying)
    return (rows[0].headline, *(key for key in keys if key.startswith(PARAMETERS)))


def layer_group(items: Iterable[Shown], role: str) -> FigureGroup | None:
    """Group messages there and back (`LATENCY`) or streams (`BANDWIDTH`) over MPI and the layers below it.

    The lowest layer comes first. None unless two ops have several sizes. A size means the same in each:
    bytes of a message. If all were measured at the default placement, other placements are left out.
    """
    found = [item for item in items if item.row.layer in LAYERS and item.row.role == role]
    usual = [item for item in found if item.row.placed is None]
    found = usual if {item.row.op for item in usual} == {item.row.op for item in found} else found
    found.sort(key=lambda item: LAYERS.index(item.row.layer or ""))
    if len({item.row.op for item in found}) < 2 or len({item.row.bytes for item in found}) < 2:
        return None
    group = _group("layers", found, sized=True)
    short = [" ".join(filter(None, (line.items[0].row.op, line.items[0].row.mpi))) for line in group.lines]
    lines = (
        replace(line, label=name) if short.count(name) == 1 else line
        for line, name in zip(group.lines, short, strict=True)
    )
    return replace(group, lines=tuple(lines))


def _group(name: str, items: list[Shown], sized: bool) -> FigureGroup:
    """Make the lines of one picture: labels hold the facts that vary among them, `common` the others."""
    rows = [item.row for item in items]
    labels = row_labels(rows, [item.folder for item in items], sizes=not sized)
    lines: dict[tuple[str, ...], list[Shown]] = {}
    for i, item in enumerate(items):
        lines.setdefault(tuple(axis.facts[i].said for axis in labels.varying), []).append(item)
    sizes = tuple(sorted({row.bytes for row in rows}))
    names = [axis.key for axis in labels.varying]
    return FigureGroup(name, ", ".join(labels.common.values()), sizes, _lines(names, lines, sized), sized)


def _lines(
    names: list[str], lines: dict[tuple[str, ...], list[Shown]], sized: bool
) -> tuple[FigureLine, ...]:
    """Make lines with their colours, in the order of the items."""
    families = {key: _family(names, key, members[0].row.base) for key, members in lines.items()}
    is_one_picture = sized and len(set(families.values())) <= MOST_COLOURS
    rival = None if is_one_picture else _rival(names, lines)
    colours: dict[tuple[str, ...], int] = {}
    result = []
    for number, (key, members) in enumerate(lines.items()):
        op = members[0].row.op
        label = _label(key) or op
        if is_one_picture:
            colour, level, row = colours.setdefault(families[key], len(colours)), label, ""
        elif rival is not None:
            colour, level = colours.setdefault(key[rival : rival + 1], len(colours)), key[rival]
            row = _label(key[:rival] + key[rival + 1 :]) or op
        else:  # no value shared by many lines: each picture gets as many lines as there are colours
            first = number - number % MOST_COLOURS
            colour, level, row = (
                (number - first, label, f"from {_label([*lines][first])}") if sized else (0, "", label)
            )
        ordered = tuple(sorted(members, key=lambda item: item.row.bytes))
        result.append(FigureLine(label, members[0].row.form, colour, ordered, level, row))
    return tuple(result)


def _label(key: Iterable[str]) -> str:
    return ", ".join(part for part in key if part)


def _family(names: list[str], key: tuple[str, ...], base: str) -> tuple[str, ...]:
    """Replace the op by its collective: the part that all its forms share."""
    return tuple(base if name == "op" else part for name, part in zip(names, key, strict=True))


def _rival(names: list[str], keys: Collection[tuple[str, ...]]) -> int | None:
    """Choose the part of the keys that colours stand for: the first of `RIVALS` with few values.

    None if no two lines differ in it alone.
    """
    for rival in RIVALS:
        for place in [i for i, name in enumerate(names) if f"{name} ".startswith(f"{rival} ")]:
            levels = {key[place] for key in keys}
            rest = {key[:place] + key[place + 1 :] for key in keys}
            if all(levels) and 1 < len(levels) <= MOST_COLOURS and len(rest) < len(keys):
                return place
    return None
