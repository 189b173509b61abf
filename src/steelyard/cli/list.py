"""`steelyard list`: every op, method, stop rule and plan, or one of them with its parameters."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from steelyard.base.errors import InputError, SteelyardError
from steelyard.base.units import format_values
from steelyard.cli.console import say, say_json, tell, width
from steelyard.cli.families import in_order, index_rows
from steelyard.cli.options import JsonFlag, listed
from steelyard.engines.build import Engine, describe, mpi_engine, ready_mpi_engine, solo_engine
from steelyard.engines.cached_descriptions import description_before
from steelyard.engines.description import Description, NotLoaded, Op, Param
from steelyard.engines.mpi import choose_mpi, find_mpis
from steelyard.engines.shmem import find_shmems
from steelyard.plan.like import known_as
from steelyard.plan.own_ops import select_own
from steelyard.plan.own_words import libraries_in, own_words
from steelyard.plan.plan import nearest, read_plan
from steelyard.plan.shipped import shipped_plans, summary_of
from steelyard.plan.suites import SUITES, Like, groups
from steelyard.records.command_line import command
from steelyard.render.terminal import GLUE, with_whole_commands

PLANS = "plans"
_NAME_WIDTH, _NAME_MOST = 22, 28  # columns
_MOST_IN_FULL = 10_000_000  # longer numbers are hard to read: 1e8
_VALUES = {"root": "the time of rank 0", "slowest": "the time of the slowest rank"}
EXAMPLES = {
    "list_what_there_is": (
        "steelyard list                   families of ops, plans, methods",
        "steelyard list coll              the collectives; or p2p, omp., ...",
        "steelyard list reduce            every op with 'reduce' in its name",
        "steelyard list mpi.reduce        its sizes, parameters and methods",
        "steelyard list 'osu_*'           what tests of other suites are here",
        "steelyard list 'mpi.i*' --mpi mpich",
        "steelyard list ./libmine.so      operations of your own: docs/ops/own.md",
        "steelyard list epoch             a method and its parameters",
    )
}


@dataclass(frozen=True)
class ListOptions:
    """The options of `steelyard list`."""

    patterns: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME|PATTERN", help="a name, a part of names, or a pattern such as 'mpi.i*'"),
    ] = None
    mpi: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME|PATH,...", help="MPIs to ask; default: the first, and the embedded one"),
    ] = None
    json: JsonFlag = False


class Entry(msgspec.Struct, frozen=True):
    """A method, a stop rule, a synchronisation or a plan."""

    name: str
    summary: str
    document: Any  # its value for --json
    params: tuple[Param, ...] = ()
    why_not: str | None = None
    plan: Path | None = None  # read when it is the one that is told of: all 38 take a fifth of `list`


@dataclass(frozen=True)
class Catalogue:
    """Everything that can be listed. `lacks`: op -> MPI -> why not, for the MPIs that were asked."""

    ops: Mapping[str, Op]
    tables: Mapping[str, tuple[Entry, ...]]
    mpis: tuple[str, ...]
    lacks: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    refused: tuple[NotLoaded, ...] = ()

    def lacking(self, op: Op) -> Mapping[str, str]:
        """The MPIs without an op, with the reason; for an op without MPI, "" stands for our engine."""
        return self.lacks.get(op.name, {})


def list_what_there_is(options: ListOptions) -> None:
    """List ops, methods, stop rules and plans; of a single one, all parameters."""
    patterns = own_words(listed(options.patterns), Path())
    libraries = libraries_in(patterns)
    catalogue, problem = read_catalogue(listed(options.mpi), libraries)
    ops, tables = _chosen(catalogue, patterns)
    theirs = _theirs(patterns)
    if options.json:
        say_json(_document(catalogue, ops, tables))
        return
    entries = [entry for rows in tables.values() for entry in rows]
    if patterns and len(ops) + len(entries) == 1 and not theirs:
        for row in filter(None, map(known_as, patterns)):
            for line in _wrapped(
                f"{row.name}: {_op_here(row)}; to run it: {command('run', like=row.name)}", 2
            ):
                say(line)
        for line in op_lines(catalogue, ops[0]) if ops else entry_lines(entries[0]):
            say(line)
        return
    for line in _op_table(catalogue, ops) if patterns else _index(ops):
        say(line)
    titles = [*tables] if patterns else sorted(tables, key=lambda title: title != PLANS)
    for title, rows in ((title, tables[title]) for title in titles):
        if rows:
            say(title)
            for entry in rows:
                why = f"  (not here: {entry.why_not})" if entry.why_not else ""
                for line in _named(entry.name, entry.summary + why, _NAME_WIDTH):
                    say(line)
    if theirs:
        say("tests of other suites (steelyard run --like NAME)")
        for row in theirs:
            for line in _named(row.name, _op_here(row), _NAME_MOST):
                say(line)
    if problem:
        tell(f"no mpi.* ops: {problem}")


def read_catalogue(mpis: Sequence[str], libraries: Sequence[str] = ()) -> tuple[Catalogue, str | None]:
    """Ask the engines of those MPIs, or of the usual ones, with the user's libraries; note why no MPI was
    asked.
    """

    def described_by(engine: Engine) -> Description:
        return describe(engine, libraries=libraries) if libraries else description_before(engine)

    solo = described_by(solo_engine(tell))
    described: dict[str, Description] = {}
    problem = None
    try:
        chosen = [choose_mpi(choice, tell) for choice in mpis or _usual()]
        ready = [] if mpis else [engine for mpi in chosen if (engine := ready_mpi_engine(mpi)) is not None]
        built = (mpi_engine(mpi, tell) for mpi in (chosen if mpis else chosen[:1]))
        for engine in ready or built:  # one is built at most where none is ready
            described[engine.mpi.name if engine.mpi else ""] = described_by(engine)
    except SteelyardError as error:
        if mpis:
            raise
        problem = str(error)
    for shmem in () if mpis else find_shmems()[:1]:
        if (engine := ready_mpi_engine(shmem)) is not None:
            described[shmem.name] = description_before(engine)
    all_ops = {op.name: op for one in (*described.values(), solo) for op in one.ops}
    ops = {op.name: op for one in (*described.values(), solo) for op in one.ops if op.available}
    lacks: dict[str, dict[str, str]] = {}
    for name, one in described.items() or {"": solo}.items():
        for op in (op for op in one.ops if not op.available):
            lacks.setdefault(op.name, {})[name] = op.why_not or ""
    tables = {
        "methods": tuple(Entry(row.name, row.summary, row, row.params, row.why_not) for row in solo.methods),
        "stop rules": tuple(Entry(row.name, row.summary, row, row.params) for row in solo.stop_rules),
        "clock synchronisation": tuple(Entry(row.name, row.summary, row) for row in solo.sync_algorithms),
        PLANS: tuple(_plan_entry(name, path) for name, path in shipped_plans().items()),
    }
    known = {name: ops.get(name, op) for name, op in all_ops.items()}
    refused = tuple(no for one in (*described.values(), solo) for no in one.not_loaded)
    return Catalogue(known, tables, tuple(described), lacks, refused), problem


def _plan_entry(name: str, path: Path) -> Entry:
    summary = summary_of(path)
    return Entry(name, summary, {"name": name, "summary": summary}, plan=path)


def _plan_details(name: str, path: Path) -> tuple[tuple[str, str], ...]:
    plan = read_plan(path)
    ops = dict.fromkeys(op for measure in plan.measure for op in measure.ops)
    return (
        ("run", command("run", name)),
        ("ops", ", ".join(ops)),
        ("launches", f"{plan.most_launches}" + (f", at most {plan.time_budget}" if plan.time_budget else "")),
        ("file", f"{path}, to copy and change"),
    )


def _usual() -> tuple[str | None, ...]:
    """Choose the default MPI, and the one in this environment, which can do what older ones lack."""
    return (None, *(mpi.name for mpi in find_mpis()[1:] if mpi.origin == "embedded"))


def _chosen(
    catalogue: Catalogue, patterns: Sequence[str]
) -> tuple[list[Op], Mapping[str, tuple[Entry, ...]]]:
    """Match the patterns: the exact name if there is one, else all names that contain them."""
    if not patterns:
        return list(catalogue.ops.values()), catalogue.tables
    names = [*catalogue.ops, *(entry.name for rows in catalogue.tables.values() for entry in rows)]
    wanted: set[str] = set()
    for pattern in patterns:
        found = select_own(pattern, catalogue.ops, catalogue.refused) or []
        found = found or [name for name in names if name == pattern]
        found = found or [op.name for op in catalogue.ops.values() if pattern in (op.family, "ops")]
        titled = [rows for title, rows in catalogue.tables.items() if pattern in (title, title.split()[-1])]
        found = found or [entry.name for rows in titled for entry in rows]
        found = found or [name for name in names if fnmatchcase(name, pattern) or pattern in name]
        found = found or [row.op for row in (known_as(pattern),) if row is not None]
        if not found and not _theirs([pattern]):
            is_start = bool(_theirs([f"{pattern}*"]))
            hint = f"; write '{pattern}*';" if is_start else nearest(pattern, names) or ";"
            raise InputError(f"nothing here is called '{pattern}'{hint} 'steelyard list' names all")
        wanted.update(found)
    ops = in_order([op for op in catalogue.ops.values() if op.name in wanted])
    kept = {
        title: tuple(row for row in rows if row.name in wanted) for title, rows in catalogue.tables.items()
    }
    return ops, kept


def _theirs(patterns: Sequence[str]) -> list[Like]:
    """Find the tests of other suites that patterns such as `osu_*` match, and those of a suite or program of
    it, such as IMB-MPI1; another plain name means one of ours.
    """
    rows = [row for suite in SUITES.values() for row in suite]
    wild = [pattern for pattern in patterns if any(letter in pattern for letter in "*?[")]
    whole = [row for pattern in patterns for row in groups().get(pattern.lower(), ())]
    return [row for row in rows if row in whole or any(fnmatchcase(row.name, pattern) for pattern in wild)]


def _index(ops: Sequence[Op]) -> Iterator[str]:
    """List the families of ops, and what to ask for each."""
    yield "ops, by families (steelyard list NAME lists those of one, '*' all)"
    for word, text in index_rows(ops):
        yield from _named(word, text, _NAME_WIDTH)


def _op_table(catalogue: Catalogue, ops: Sequence[Op]) -> Iterator[str]:
    """List ops by line, the forms of one together; a star if an MPI lacks one, with the reason below."""
    groups: dict[str, list[Op]] = {}
    for op in ops:
        groups.setdefault(op.base or op.name, []).append(op)
    if groups:
        yield "ops"
    columns = min(_NAME_MOST, max((len(first.name) for first, *_ in groups.values()), default=0) + 1)
    for first, *others in groups.values():
        forms = ", ".join(_starred(catalogue, op, op.name.rpartition(".")[2]) for op in others)
        text = f"{first.summary}   [{forms}]" if forms else first.summary
        yield from _named(_starred(catalogue, first, first.name), text, columns)
    reasons: dict[tuple[str, str], None] = {}
    for op in ops:
        reasons |= dict.fromkeys(catalogue.lacking(op).items())
    able = [mpi for mpi in catalogue.mpis if all(mpi not in catalogue.lacking(op) for op in ops)]
    hint = f"; --mpi {able[0]} has it" if able else ""
    for mpi, why in reasons:
        yield from _wrapped(f"* not in {mpi or 'the engine without MPI'}: {why}{hint}", 2)


def _starred(catalogue: Catalogue, op: Op, name: str) -> str:
    return f"{name}*" if catalogue.lacking(op) else name


def op_lines(catalogue: Catalogue, op: Op) -> Iterator[str]:
    """Describe an op before it is measured."""
    yield from _wrapped(f"{op.name}: {op.summary}", 2)
    forms = [f"{one.name} ({one.form})" for one in catalogue.ops.values() if one.base == op.base != ""]
    rows: list[tuple[str, str]] = []
    if len(forms) > 1:
        rows.append(("forms", ", ".join(forms)))
    rows += [("like", ", ".join(names))] if (names := _other_names(op)) else []
    sizes = f"{op.default_bytes} where --bytes does not say others" if op.sized else "none"
    rows += [("sizes", sizes), ("ranks", f"{op.min_ranks} or more")]
    most = {0: "any number", op.min_threads: f"{op.min_threads}"}.get(op.max_threads, f"to {op.max_threads}")
    rows.append(("threads", most))
    methods = sorted(op.methods, key=lambda name: name != op.default_method)
    rows.append(("methods", f"{methods[0]} (default), {', '.join(methods[1:])}".rstrip(", ")))
    rows.append(("value", _VALUES.get(op.report, op.report)))
    ours = ("page", f"docs/reference/ops.md#{op.family}")
    rows.append(ours if op.library is None else ("library", op.library))
    rows += [(f"not in {mpi or 'our engine'}", why) for mpi, why in catalogue.lacking(op).items()]
    for name, text in rows:
        yield from _wrapped(f"  {name:<9} {text}", 12)
    yield from _param_lines(op.params)


def entry_lines(entry: Entry) -> Iterator[str]:
    """Describe a method, a stop rule, a synchronisation or a plan, with its parameters."""
    yield from _wrapped(f"{entry.name}: {entry.summary}", 2)
    if entry.why_not:
        yield from _wrapped(f"  not here  {entry.why_not}", 12)
    for name, text in _plan_details(entry.name, entry.plan) if entry.plan else ():
        yield from _wrapped(f"  {name:<9} {text}", 12)
    yield from _param_lines(entry.params)


def _param_lines(params: Sequence[Param]) -> Iterator[str]:
    if params:
        yield "  parameters, with their defaults (--param NAME=VALUE):"
    for param in params:
        usual = param.default if isinstance(param.default, str) else _number(param.default)
        limits = f"{_number(param.least)} to {_number(param.most)} {param.unit}".rstrip()
        text = f"{param.summary} [{', '.join(param.words) or limits}]"
        yield from _wrapped(f"{f'    {param.name}={usual}':<24} {text}", 25)


def _number(value: float) -> str:
    """Write a number as one would type it: 1000000, 1e12, 0.02."""
    if value == round(value) and abs(value) <= _MOST_IN_FULL:
        return f"{value:.0f}"
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{value:g}")


def _op_here(row: Like) -> str:
    """Name the op for a test of another suite, and the differences."""
    here = f"{row.op} {format_values(row.params)}".rstrip()
    return "; ".join(part for part in (here, row.differs) if part)


def _other_names(op: Op) -> list[str]:
    """List the names of an op in other suites, those without parameters first."""
    rows = [row for rows in SUITES.values() for row in rows if row.op == op.name]
    rows.sort(key=lambda row: bool(row.params))
    return [row.name for row in rows]


def _wrapped(text: str, indent: int) -> list[str]:
    """Wrap a line for the terminal; in a pipe it stays one."""
    columns = width()
    if columns is None or len(text) <= columns:
        return [text]
    lines = textwrap.wrap(
        with_whole_commands(text),
        columns,
        subsequent_indent=" " * indent,
        break_long_words=False,
        drop_whitespace=True,
    )
    return [line.replace(GLUE, " ") for line in lines]


def _named(name: str, text: str, columns: int) -> list[str]:
    """Write a name and its text in two columns; on a terminal a long name has a line of its own."""
    if len(name) > columns and width() is not None:
        return [f"  {name}", *_wrapped(" " * (columns + 3) + text, columns + 3)]
    return _wrapped(f"  {name:<{columns}} {text}", columns + 3)


def _document(
    catalogue: Catalogue, ops: Iterable[Op], tables: Mapping[str, tuple[Entry, ...]]
) -> dict[str, Any]:
    """Make the JSON document: `available` with the first MPI, `available_with` for each that was asked."""
    found = []
    for op in ops:
        lacking = catalogue.lacking(op)
        why = next(iter(lacking.values()), None) if not op.available or _first(catalogue) in lacking else None
        row = msgspec.to_builtins(op) | {"available": why is None, "why_not": why}
        row["available_with"] = [mpi for mpi in catalogue.mpis if mpi not in lacking]
        found.append(row | {"like": _other_names(op)})
    return {"ops": found} | {_KEYS[title]: [row.document for row in rows] for title, rows in tables.items()}


def _first(catalogue: Catalogue) -> str:
    return catalogue.mpis[0] if catalogue.mpis else ""


_KEYS = {
    "methods": "methods",
    "stop rules": "stop_rules",
    "clock synchronisation": "sync_algorithms",
    PLANS: "plans",
}
