"""Writes reference/ops.md and like.md: `steelyard-mpi describe | .venv/bin/python docs/generate.py`."""

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from steelyard.like import like_page

PAGE = Path(__file__).parent / "reference" / "ops.md"
HEAD = """# Ops, methods, stop rules, clocks

Made by `docs/generate.py` from what the engine says of itself. Do not edit it: change the row in the engine
and run

```
$(.venv/bin/steelyard mpi build embedded) describe | .venv/bin/python docs/generate.py
```

The size of an op is that of one message; of a collective it is that of one block. Values are in ns per
operation. The words are explained in the [glossary](../glossary.md). `steelyard list` says which ops your MPI
cannot run, and why.
"""
COLUMNS = ("op", "what is timed", "class", "value", "sizes", "threads", "methods, the default first")


def page(description: dict[str, Any]) -> str:
    """The page of an engine's description."""
    lines = [HEAD]
    for family, ops in groupby(description["ops"], key=lambda op: op["family"]):
        rows = list(ops)
        lines += [f"## {family}\n", *table(COLUMNS, [op_cells(op) for op in rows]), ""]
        for op in rows:
            lines += params(op)
    for title, key in (("Methods", "methods"), ("Stop rules", "stop_rules")):
        lines.append(f"## {title}\n")
        for entry in description[key]:
            lines += [f"`{entry['name']}`: {entry['summary']}.\n", *params(entry)]
    clocks = [(f"`{clock['name']}`", clock["summary"]) for clock in description["clocks"]]
    lines += ["## Clocks\n", *table(("clock", "what it is"), clocks)]
    syncs = [(f"`{row['name']}`", row["summary"]) for row in description["sync_algorithms"]]
    lines += ["", "## Clock synchronisation\n", *table(("name", "how"), syncs)]
    return "\n".join(lines) + "\n"


def op_cells(op: dict[str, Any]) -> tuple[str, ...]:
    """One op as the columns of its family's table."""
    value = {"root": "rank 0's time", "slowest": "the slowest rank's time"}[op["report"]]
    value += f" / {op['parts']}" if op["parts"] > 1 else ""
    methods = sorted(op["methods"], key=lambda name: name != op["default_method"])
    threads = "any" if op["max_threads"] == 0 else str(op["max_threads"])
    sizes = f"`{op['default_bytes']}`" if op["sized"] else "none"
    return f"`{op['name']}`", op["summary"], op["class"], value, sizes, threads, ", ".join(methods)


def params(owner: dict[str, Any]) -> Iterator[str]:
    """The parameters of an op, a method or a rule; nothing where it has none."""
    rows = [(f"`{p['name']}`", p["summary"], p["unit"], *values(p)) for p in owner["params"]]
    if rows:
        yield f"Parameters of `{owner['name']}`:\n"
        yield from table(("name", "meaning", "unit", "default", "values"), rows)
        yield ""


def values(param: dict[str, Any]) -> tuple[str, str]:
    """The default, and what else there is."""
    if "words" in param:
        return f"`{param['default']}`", ", ".join(f"`{word}`" for word in param["words"])
    return f"{param['default']:g}", f"{param['least']:g} to {param['most']:g}"


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """A Markdown table, line by line."""
    for cells in (head, ("---",) * len(head), *rows):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(json.load(sys.stdin)), encoding="utf-8")
    PAGE.with_name("like.md").write_text(like_page(), encoding="utf-8")
