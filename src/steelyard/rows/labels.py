"""What things in one table or picture have in common, and what distinguishes them.

Facts describe a thing: its ranks, its MPI, a parameter. A fact that all things share is written once, above.
A fact that differs is a column of a table, or a word in the label of a line.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct

from steelyard.base.plural import counted, plural
from steelyard.base.units import format_bytes, format_value
from steelyard.records.campaign_file import MODULES, OTHER_HOST, UNSET, WRAPPER
from steelyard.records.fields import Params
from steelyard.render.table import NUMBER, WORDS, Column
from steelyard.results.row import Row


class Fact(Struct, frozen=True):
    """A fact: `value` for a column, `2` under `ranks`; `said` for a sentence, `2 ranks`.

    A fact that `is_usual` is left out if all things have it.
    """

    heading: str
    value: str
    said: str
    is_usual: bool = False


Facts = Mapping[str, Fact]  # by a key with the same meaning in all things
_WITHOUT = {MODULES: "no modules", WRAPPER: "no wrapper"}  # the words for an unset value
NO_FACT = Fact("", "", "", is_usual=True)


@dataclass(frozen=True, slots=True)
class VaryingFact:
    """A fact that differs: its value for each thing in turn, empty for a thing without it."""

    key: str
    facts: tuple[Fact, ...]

    @property
    def column(self) -> Column:
        """Its column: a heading, and words unless all values are numbers."""
        heading = next(fact.heading for fact in self.facts if fact.heading)
        is_number = all(_is_number(fact.value) for fact in self.facts if fact.value)
        return Column(heading, NUMBER if is_number else WORDS)

    @property
    def values(self) -> tuple[str, ...]:
        """Its different values, in their order."""
        return tuple(dict.fromkeys(fact.value for fact in self.facts))


@dataclass(frozen=True, slots=True)
class Labels:
    """`common`: the facts that all things share, by key, without usual ones; `varying`: all others."""

    common: Mapping[str, str]
    varying: tuple[VaryingFact, ...]

    def label(self, i: int) -> str:
        """Name thing `i` by what distinguishes it: `mpich-5.0.2, 4 ranks`."""
        return ", ".join(axis.facts[i].said for axis in self.varying if axis.facts[i].said)

    def cells(self, i: int) -> tuple[str, ...]:
        """Do the same with a cell for each of `varying`."""
        return tuple(axis.facts[i].value for axis in self.varying)


def labels_of(things: Sequence[Facts]) -> Labels:
    """Split facts into common and varying ones, in the order in which things name them."""
    common, varying = {}, []
    for key in dict.fromkeys(key for thing in things for key in thing):
        facts = tuple(thing.get(key, NO_FACT) for thing in things)
        if len({fact.value for fact in facts}) > 1:
            varying.append(VaryingFact(key, facts))
        elif facts[0].said and not facts[0].is_usual:
            common[key] = facts[0].said
    return Labels(common, tuple(varying))


def row_labels(
    rows: Sequence[Row], folders: Sequence[str] = (), without: Collection[str] = (), sizes: bool = False
) -> Labels:
    """Label rows; `folders` has each row's folder if there are several.

    Parameters count if the plan sets them or rows of an op differ in them. Parameters of a rule, which say
    how long and not what to measure, count only if rows differ. Facts `without` are left out, and sizes by
    default.
    """
    return labels_of(rows_facts(rows, folders, without if sizes else (*without, "bytes")))


def told_by_op(rows: Sequence[Row]) -> tuple[str, ...]:
    """Name the facts that an op implies: itself, and the method if each op has one and nobody chose it."""
    methods = {(row.op, row.method) for row in rows}
    is_own = len(methods) == len({op for op, _ in methods}) and not any("method" in row.asked for row in rows)
    return ("op", "method") if is_own else ("op",)


def rows_facts(
    rows: Sequence[Row], folders: Sequence[str] = (), without: Collection[str] = ()
) -> list[dict[str, Fact]]:
    """List the facts of each row that tables and pictures show."""
    told = _told_params(rows) | _differing(rows, lambda row: row.rule_params)
    return [
        {key: fact for key, fact in _row_facts(row, told, folder).items() if key not in without}
        for row, folder in zip(rows, folders or [""] * len(rows), strict=True)
    ]


def told_params(row: Row, among: Sequence[Row]) -> Params:
    """Choose the parameters of a row to show: the plan sets them, or rows of an op differ in them."""
    told = _told_params([row, *among])
    return {key: value for key, value in row.params.items() if key in told}


def _told_params(rows: Sequence[Row]) -> set[str]:
    asked = {key for row in rows for key in row.asked}
    return asked | _differing([row for row in rows if row.median is not None], lambda row: row.params)


def _differing(rows: Sequence[Row], params_of: Callable[[Row], Params]) -> set[str]:
    """Find the parameters in which rows of an op differ."""
    return differing((row.op, params_of(row)) for row in rows)


def differing(things: Iterable[tuple[str, Params]]) -> set[str]:
    """Find the parameters in which things of the same op differ; each thing is an op and its parameters."""
    values: dict[tuple[str, str], set[float | str]] = {}
    for op, params in things:
        for key, value in params.items():
            values.setdefault((op, key), set()).add(value)
    return {key for (_, key), each in values.items() if len(each) > 1}


def _row_facts(row: Row, told: Collection[str], folder: str) -> dict[str, Fact]:
    """List the facts of a row, in the order of a table's columns."""
    size = format_bytes(row.bytes) if row.sized else ""
    is_only_apart = row.hosts and row.placed and row.placed.kind == OTHER_HOST and not row.placed.hosts
    placed = row.placed.text if row.placed and not is_only_apart else "default"
    return {
        "op": Fact("op", row.op, row.op, is_usual=True),
        "bytes": Fact("bytes", size, size),
        "folder": Fact("folder", folder, folder),
        "mpi": Fact("MPI", row.mpi or "none", row.mpi or "no MPI", is_usual=row.mpi is None),
        "ranks": count_fact("rank", row.ranks),
        "hosts": Fact("hosts", str(row.hosts or ""), counted(row.hosts, "host") if row.hosts else ""),
        "threads": count_fact("thread", row.threads),
        "thread level": _given("thread level", row.thread_level or "", "thread level "),
        **set_facts("omp", row.omp),
        **set_facts("env", row.env),
        "placement": Fact("placement", placed, f"placement {placed}", is_usual=placed == "default"),
        **param_facts({key: value for key, value in row.params.items() if key in told}),
        "method": Fact("method", row.method, f"method {row.method}", is_usual="method" not in row.asked),
        **param_facts(row.method_params),
        **param_facts({key: value for key, value in row.rule_params.items() if key in told}),
        "rule": Fact("rule", row.rule, f"rule {row.rule}", is_usual="rule" not in row.asked),
    }


def count_fact(noun: str, count: int) -> Fact:
    """Make the fact of a count: `2` under `ranks`, `2 ranks`; 1 is usual."""
    return Fact(plural(noun, 0), str(count), counted(count, noun), is_usual=count == 1)


def param_facts(params: Params, is_usual: bool = False) -> dict[str, Fact]:
    """Make a fact for each parameter: `64` under `window`, `window=64`."""
    texts = {key: format_value(value) for key, value in params.items()}
    return {f"param {key}": Fact(key, text, f"{key}={text}", is_usual) for key, text in texts.items()}


def set_facts(what: str, values: Mapping[str, str]) -> dict[str, Fact]:
    """Make a fact for each setting of a launch: `tcp` under `UCX_TLS`, `UCX_TLS=tcp`; `-` unsets it."""
    texts = {name: "unset" if value == UNSET else value for name, value in values.items()}
    return {
        f"{what} {name}": Fact(
            name, text, _WITHOUT.get(name, f"{name} unset") if text == "unset" else f"{name}={text}"
        )
        for name, text in texts.items()
    }


def where_facts(placement: str | None, env: Mapping[str, str]) -> dict[str, Fact]:
    """Make the facts of where and how ranks were started: their placement, and settings of the
    environment.
    """
    placed = placement or ""
    said = f"placement {placed}" if placed else ""
    return {"placement": Fact("placement", placed, said), **set_facts("env", env)}


def _given(heading: str, value: str, before: str = "") -> Fact:
    return Fact(heading, value, f"{before}{value}" if value else "")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def op_with_facts(labels: Labels, i: int, op: str) -> str:
    """`npb.cg, class=S`: an op, with what differs among the labelled ones."""
    told = (axis.facts[i].said for axis in labels.varying if axis.key != "op")
    return ", ".join(word for word in (op, *told) if word)


def method_facts(mpi: str | None, method: str, params: Params) -> Facts:
    """Make the facts of what an MPI did by a method with parameters; method and parameters may be usual."""
    return {
        "mpi": Fact("MPI", mpi or "", mpi or ""),
        "method": Fact("method", method, f"method {method}", is_usual=True),
        **param_facts(params, is_usual=True),
    }
