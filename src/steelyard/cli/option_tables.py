"""Write the tables of options in docs/reference/cli.md, from the program itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer.main

from steelyard.cli.main import app

# A table stands between two such lines; the rest of the page is prose and stays.
_MARKED = re.compile(r"<!-- options of steelyard ([a-z ]+) -->\n.*?<!-- end -->\n", re.DOTALL)


def with_options(page: str) -> str:
    """Replace each marked table of the page by the program's. Raises KeyError for an unknown command."""
    return _MARKED.sub(lambda match: _table(match[1]), page)


def commands() -> tuple[str, ...]:
    """List all commands, with `mpi list` and the like."""
    return tuple(name for name, _ in walk(typer.main.get_command(app), ""))


def walk(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """List the commands below one, each with its whole name."""
    if not hasattr(command, "list_commands"):
        yield name, command
        return
    for word in command.list_commands(None):
        yield from walk(command.get_command(None, word), f"{name} {word}".strip())


def _table(name: str) -> str:
    command = dict(walk(typer.main.get_command(app), ""))[name]
    lines = [f"<!-- options of steelyard {name} -->", "| option | meaning |", "| --- | --- |"]
    for param in command.params:
        names = [word for word in param.opts if word.startswith("-")]
        value = f" {param.metavar}" if param.metavar else ""
        shown = ", ".join(f"`{word}`" for word in names[:-1]) + (", " if len(names) > 1 else "")
        option = f"{shown}`{names[-1]}{value}`" if names else f"`{param.metavar or param.name}`"
        lines.append(f"| {_cell(option)} | {_cell(meaning(param))} |")
    return "\n".join([*lines, "<!-- end -->", ""])


def meaning(param: Any) -> str:
    """Say what an option means, and its default where that is a word or a number."""
    usual = param.default
    is_told = isinstance(usual, str | int | float) and usual is not False
    return f"{param.help or ''}; default: {usual}" if is_told else param.help or ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")
