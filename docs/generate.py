"""Writes reference/ops.md, like.md, the options of cli.md, the manual page and the completions of shells.

`{ steelyard-mpi describe; steelyard-shmem describe; } | .venv/bin/python docs/generate.py`
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

import steelyard
from steelyard.base.footnotes import with_notes
from steelyard.base.product import MOST_LAUNCHES, MOST_STARTS, MOST_TEST_CASES
from steelyard.campaign.jobs import MOST_MEASUREMENTS
from steelyard.cli.manual import shared_files
from steelyard.cli.option_tables import with_options
from steelyard.engines.description import Description, Method, Op, Param, Rule
from steelyard.export.schemas import SCHEMAS
from steelyard.export.table import TABLE_COLUMNS, key_of_column, unit_of
from steelyard.plan.like import like_page

PAGE = Path(__file__).parent / "reference" / "ops.md"
SHARE = Path(__file__).parents[1] / "packaging" / "share"
HEAD = """# Ops, methods, stop rules, clocks

These are all ops, methods, stop rules and clocks with their parameters, as the engine tells them. Values are
in ns per operation. The size of an op is that of one message; the size of a collective is that of one block.
A name in a column *for* stands for all forms of that op in the family. A letter in a table stands for a text
below it. `steelyard list` says which ops your MPI cannot run, and why.

`docs/generate.py` makes this page. Do not edit it: change the row in the engine and run

```
($(.venv/bin/steelyard mpi build embedded) describe; $(.venv/bin/steelyard mpi build oshmem) describe) |
    .venv/bin/python docs/generate.py
```
"""
COLUMNS_HEAD = """# Columns of steelyard.load

`steelyard.load(folders, rows=...)` always has these columns. Each parameter that a plan sets or in which
rows of an op differ is a further column, `param_NAME`. A type is one of polars; null is a number that is not
there. What is nested in results.json is words, as in results.csv. What a column means stands in
[results](results.md) under its name, there without a unit. `docs/generate.py` makes this page."""
OWN_MEANINGS = {
    "folder": "the results folder, as it was given",
    "sample": "number of the sample in the launch, from 0, in the order taken",
    "value_ns": "the sample: time per operation, the cost of the clock subtracted",
}
SCHEMA_FOLDER = Path(steelyard.__file__).parent / "schemas"
LIMITS_HEAD = f"""What an engine can hold on any machine: `limits` of `describe`. More is refused before
anything starts, wherever it comes from. Parameters have limits of their own, above. A plan has at most
{MOST_LAUNCHES} launches and {MOST_TEST_CASES} test cases, a launch {MOST_STARTS} starts of an
engine, and a campaign {MOST_MEASUREMENTS} measurements, which are test cases times launches.
"""
LIMITS = {
    "ranks": "ranks of a launch",
    "threads": "threads of a rank",
    "bytes": "bytes of a size",
    "seed": "seed of a launch: that of the campaign and the number of the launch",
}
COLUMNS = ("op", "what is timed", "class", "value", "sizes", "threads", "methods, the default first")
PARAMS = ("parameter", "meaning", "unit", "default", "values", "for")
FEW = 4  # names that "all but ..." may have
Owner = Op | Method | Rule  # what has parameters


def page(description: Description) -> str:
    """The page of an engine's description."""
    lines = [HEAD]
    families: dict[str, list[Op]] = {}
    for op in description.ops:
        families.setdefault(op.family, []).append(op)
    for family, ops in families.items():
        lines += [f"## {family}\n", *op_tables(ops), *params(ops)]
    tables: dict[str, tuple[Method, ...] | tuple[Rule, ...]] = {
        "Methods": description.methods,
        "Stop rules": description.stop_rules,
    }
    for title, rows in tables.items():
        names = [(f"`{row.name}`", row.summary) for row in rows]
        lines += [f"## {title}\n", *table((title.lower()[:-1], "what it does"), names), "", *params(rows)]
    clocks = [(f"`{clock.name}`", clock.summary) for clock in description.clocks]
    lines += ["## Clocks\n", *table(("clock", "what it is"), clocks)]
    syncs = [(f"`{row.name}`", row.summary) for row in description.sync_algorithms]
    lines += ["", "## Clock synchronisation\n", *table(("name", "how"), syncs)]
    limits = [(f"`{name}`", words, str(getattr(description.limits, name))) for name, words in LIMITS.items()]
    lines += ["", "## Limits\n", LIMITS_HEAD, *table(("limit", "the most", "value"), limits)]
    return "\n".join(lines) + "\n"


def op_tables(ops: Sequence[Op]) -> Iterator[str]:
    """The table of a family. What all its ops have in common stands above, long texts that repeat below."""
    rows = op_rows(ops)
    common = [i for i in range(2, len(COLUMNS)) if len(rows) > 1 and len({row[i] for row in rows}) == 1]
    if common:
        yield f"All: {'; '.join(f'{COLUMNS[i]}: {rows[0][i]}' for i in common)}.\n"
    own = [i for i in range(len(COLUMNS)) if i not in common]
    lines, notes = with_notes([[row[i] for i in own] for row in rows])
    yield from table(tuple(COLUMNS[i] for i in own), list(map(tuple, lines)))
    yield from ("", *(f"- {letter}: {text}" for letter, text in notes), *([""] if notes else []))


def merged(engines: Sequence[Description]) -> Description:
    """The first engine's description, followed by the ops that only later ones have."""
    ops: dict[str, Op] = {}
    for one in engines:
        ops |= {op.name: op for op in one.ops if op.name not in ops}
    return msgspec.structs.replace(engines[0], ops=tuple(ops.values()))


def columns_page() -> str:
    """The page of the columns of `steelyard.load`. Raises ValueError for one that results.md lacks."""
    keys = described_keys((PAGE.with_name("results.md")).read_text(encoding="utf-8"))
    lines = [COLUMNS_HEAD]
    for rows, columns in TABLE_COLUMNS.items():
        lines.append(f'\n## rows="{rows}"\n')
        if missing := [name for name in columns() if key_of_column(name) not in {*keys, *OWN_MEANINGS}]:
            raise ValueError(f"results.md says nothing of {', '.join(missing)}; describe it there")
        alike: dict[tuple[str, str], list[str]] = {}
        for name, type_ in columns().items():
            said = f" ({OWN_MEANINGS[name]})" if name in OWN_MEANINGS else ""
            alike.setdefault((type_, unit_of(name)), []).append(f"`{name}`{said}")
        lines += table(
            ("type", "unit", "columns"), [(*said, ", ".join(names)) for said, names in alike.items()]
        )
    return "\n".join(lines) + "\n"


def described_keys(page: str) -> set[str]:
    """The keys that a page has in the first cell of a line."""
    lines = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| .* \|$", page, re.MULTILINE)
    return {key for line in lines for key in re.findall(r"\w+", line)}


def op_rows(ops: Sequence[Op]) -> list[tuple[str, ...]]:
    """The ops of a family as the rows of its table; forms of an op that differ in nothing share a row."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for op in ops:
        alike.setdefault((op.base, *op_cells(op)), []).append(f"`{op.name}`")
    return [(", ".join(names), *cells) for (_, *cells), names in alike.items()]


def op_cells(op: Op) -> tuple[str, ...]:
    """One op as the columns after its name."""
    value = {"root": "rank 0's time", "slowest": "the slowest rank's time"}[op.report]
    value += f" / {op.parts}" if op.parts > 1 else ""
    methods = sorted(op.methods, key=lambda name: name != op.default_method)
    threads = "any" if op.max_threads == 0 else str(op.max_threads)
    sizes = f"`{op.default_bytes}`" if op.sized else "none"
    return op.summary, op.class_, value, sizes, threads, ", ".join(methods)


def params(owners: Sequence[Owner]) -> Iterator[str]:
    """The parameters of a family of ops, of the methods or the rules: each once, with those that have it."""
    having: dict[tuple[str, ...], list[Owner]] = {}
    for owner in owners:
        for p in owner.params:
            having.setdefault((f"`{p.name}`", p.summary, p.unit, *values(p)), []).append(owner)
    if having:
        yield from table(PARAMS, [(*cells, owned_by(those, owners)) for cells, those in having.items()])
        yield ""


def owned_by(those: Sequence[Owner], owners: Sequence[Owner]) -> str:
    """Which of the owners these are, in as few names as say it."""
    names = [row.name for row in those]
    others = [row for row in owners if row.name not in names]
    if not others:
        return "all"
    but = forms_as_one(others, owners)
    if len(but) <= FEW and len(others) < len(those):
        return f"all but {', '.join(but)}"
    return ", ".join(forms_as_one(those, owners))


def forms_as_one(those: Sequence[Owner], owners: Sequence[Owner]) -> list[str]:
    """Names of owners; one name for all forms of an op where all are there."""

    def base(row: Owner) -> str:
        return row.base if isinstance(row, Op) else row.name

    whole, there = Counter(map(base, owners)), Counter(map(base, those))
    first: dict[str, str] = {}
    for row in those:
        is_whole = there[base(row)] == whole[base(row)]
        first.setdefault(base(row) if is_whole else row.name, f"`{row.name}`")
    return list(first.values())


def values(param: Param) -> tuple[str, str]:
    """The default, and what else there is."""
    if param.words:
        return f"`{param.default}`", ", ".join(f"`{word}`" for word in param.words)
    return f"{param.default:g}", f"{param.least:g} to {param.most:g}"


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """A Markdown table, line by line."""
    for cells in (head, ("---",) * len(head), *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    description = merged(msgspec.json.Decoder(Description).decode_lines(sys.stdin.buffer.read()))
    PAGE.write_text(page(description), encoding="utf-8")
    PAGE.with_name("like.md").write_text(like_page(), encoding="utf-8")
    PAGE.with_name("columns.md").write_text(columns_page(), encoding="utf-8")
    for name, schema in SCHEMAS.items():
        text = json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"
        (SCHEMA_FOLDER / f"{name}.schema.json").write_text(text, encoding="utf-8")
    cli = PAGE.with_name("cli.md")
    cli.write_text(with_options(cli.read_text(encoding="utf-8")), encoding="utf-8")
    for name, text in shared_files().items():
        (SHARE / name).write_text(text, encoding="utf-8")
