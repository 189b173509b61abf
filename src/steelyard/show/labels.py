"""What things that stand together have in common, and what tells them apart: for tables, pictures, sentences.

A thing is described by its facts, such as its ranks, its MPI or a parameter. A fact that all share is said
once, above; one that differs is a column of a table, or a word of the label of a line.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from msgspec import Struct

from steelyard.base.plural import counted, plural
from steelyard.base.units import format_bytes
from steelyard.records.campaign_file import MODULES, UNSET, WRAPPER
from steelyard.records.fields import Params
from steelyard.results.row import Row
from steelyard.show.sheet import NUMBER, WORDS, Column


class Fact(Struct, frozen=True):
    """What is so: bare under a heading, `2` under `ranks`, and `said` by itself, `2 ranks`.

    One that is `usual` goes without saying where all have it.
    """

    heading: str
    value: str
    said: str
    is_usual: bool = False


Facts = Mapping[str, Fact]  # by a key that means the same in all that are compared
_WITHOUT = {MODULES: "no modules", WRAPPER: "no wrapper"}  # what stands for them where they are unset
NO_FACT = Fact("", "", "", is_usual=True)


@dataclass(frozen=True, slots=True)
class VaryingFact:
    """A fact that differs: of each thing in turn, one without a value where a thing has no such fact."""

    key: str
    facts: tuple[Fact, ...]

    @property
    def column(self) -> Column:
        """The heading, and words unless all values are numbers."""
        heading = next(fact.heading for fact in self.facts if fact.heading)
        is_number = all(_is_number(fact.value) for fact in self.facts if fact.value)
        return Column(heading, NUMBER if is_number else WORDS)

    @property
    def values(self) -> tuple[str, ...]:
        """What differs, in the order in which it comes."""
        return tuple(dict.fromkeys(fact.value for fact in self.facts))


@dataclass(frozen=True, slots=True)
class Labels:
    """`common`: the facts that all things share, by key, the usual ones left out; `varying`: all others."""

    common: Mapping[str, str]
    varying: tuple[VaryingFact, ...]

    def label(self, i: int) -> str:
        """What tells thing `i` from the others: `mpich-5.0.2, 4 ranks`."""
        return ", ".join(axis.facts[i].said for axis in self.varying if axis.facts[i].said)

    def cells(self, i: int) -> tuple[str, ...]:
        """The same, a cell for each of `varying`."""
        return tuple(axis.facts[i].value for axis in self.varying)


def labels_of(things: Sequence[Facts]) -> Labels:
    """What things have in common and what tells them apart, in the order in which they name their facts."""
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
    """Labels of rows; `folders` are those that they are from, where there are several.

    A parameter counts that the plan sets, or in which rows of an op differ; one of a rule, which says how
    long to measure and not what, only in the latter case. Facts `without` are left out, and the sizes unless
    they are asked for.
    """
    return labels_of(rows_facts(rows, folders, without if sizes else (*without, "bytes")))


def told_by_op(rows: Sequence[Row]) -> tuple[str, ...]:
    """The op, and the method where each op has one that nobody asked for: labels below an op need neither."""
    methods = {(row.op, row.method) for row in rows}
    is_own = len(methods) == len({op for op, _ in methods}) and not any("method" in row.asked for row in rows)
    return ("op", "method") if is_own else ("op",)


def rows_facts(
    rows: Sequence[Row], folders: Sequence[str] = (), without: Collection[str] = ()
) -> list[dict[str, Fact]]:
    """The facts of each row that a reader is told."""
    told = _told_params(rows) | _differing(rows, lambda row: row.rule_params)
    return [
        {key: fact for key, fact in _row_facts(row, told, folder).items() if key not in without}
        for row, folder in zip(rows, folders or [""] * len(rows), strict=True)
    ]


def told_params(row: Row, among: Sequence[Row]) -> Params:
    """The parameters of a row that a reader is told: the plan sets them, or rows of an op differ in them."""
    told = _told_params([row, *among])
    return {key: value for key, value in row.params.items() if key in told}


def _told_params(rows: Sequence[Row]) -> set[str]:
    asked = {key for row in rows for key in row.asked}
    return asked | _differing([row for row in rows if row.median is not None], lambda row: row.params)


def _differing(rows: Sequence[Row], params_of: Callable[[Row], Params]) -> set[str]:
    """The parameters in which rows of an op differ."""
    return differing((row.op, params_of(row)) for row in rows)


def differing(things: Iterable[tuple[str, Params]]) -> set[str]:
    """The parameters in which things differ that are of one op, which is named before them."""
    values: dict[tuple[str, str], set[float | str]] = {}
    for op, params in things:
        for key, value in params.items():
            values.setdefault((op, key), set()).add(value)
    return {key for (_, key), each in values.items() if len(each) > 1}


def _row_facts(row: Row, told: Collection[str], folder: str) -> dict[str, Fact]:
    """The facts of a row, in the order in which a table names them."""
    size = format_bytes(row.bytes) if row.sized else ""
    placed = row.placed.text if row.placed else "default"
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
        "placement": Fact("placement", placed, f"placement {placed}", is_usual=row.placed is None),
        **param_facts({key: value for key, value in row.params.items() if key in told}),
        "method": Fact("method", row.method, f"method {row.method}", is_usual="method" not in row.asked),
        **param_facts(row.method_params),
        **param_facts({key: value for key, value in row.rule_params.items() if key in told}),
        "rule": Fact("rule", row.rule, f"rule {row.rule}", is_usual="rule" not in row.asked),
    }


def count_fact(noun: str, count: int) -> Fact:
    """`2` under `ranks`, `2 ranks`; one goes without saying."""
    return Fact(plural(noun, 0), str(count), counted(count, noun), is_usual=count == 1)


def param_facts(params: Params, is_usual: bool = False) -> dict[str, Fact]:
    """A fact for each parameter: `64` under `window`, `window=64`."""
    texts = {key: value if isinstance(value, str) else f"{value:g}" for key, value in params.items()}
    return {f"param {key}": Fact(key, text, f"{key}={text}", is_usual) for key, text in texts.items()}


def set_facts(what: str, values: Mapping[str, str]) -> dict[str, Fact]:
    """A fact for each setting that a launch makes: `tcp` under `UCX_TLS`, `UCX_TLS=tcp`; `-` unsets it."""
    texts = {name: "unset" if value == UNSET else value for name, value in values.items()}
    return {
        f"{what} {name}": Fact(
            name, text, _WITHOUT.get(name, f"{name} unset") if text == "unset" else f"{name}={text}"
        )
        for name, text in texts.items()
    }


def _given(heading: str, value: str, before: str = "") -> Fact:
    return Fact(heading, value, f"{before}{value}" if value else "")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
