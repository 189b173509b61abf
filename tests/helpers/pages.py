"""What the tests of the pages share: what stands in fences and between backticks, with its page and line."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from steelyard.engines.build import engine_folder

ROOT = engine_folder().parent
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_PLACEHOLDER = re.compile(r"\b[A-Z]{2,}\b|\.\.\.$")  # `report DIR...` is no command


@dataclass(frozen=True, slots=True)
class Snippet:
    """A text on a page: from a fence, with its kind (`toml`, `diff`, none), or between backticks (`span`)."""

    page: str
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def page_files() -> list[Path]:
    """The pages beside the sources; none where the package is installed without them."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(path for path in found if path.name != "CHANGELOG.md")  # which tells of what was


@functools.cache
def snippets() -> tuple[Snippet, ...]:
    """All of all pages."""
    return tuple(
        snippet
        for path in page_files()
        for snippet in snippets_of(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
    )


def snippets_of(page: str, text: str) -> Iterator[Snippet]:
    """Those of one page, first the fences."""
    for match in _FENCE.finditer(text):
        yield Snippet(page, text.count("\n", 0, match.start(2)) + 1, match[1], match[2])
    prose = _FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    for number, line in enumerate(prose.splitlines(), 1):
        for match in _SPAN.finditer(line):
            yield Snippet(page, number, "span", match[1].replace("\\|", "|"))


@functools.cache
def commands(program: str) -> tuple[Snippet, ...]:
    """The command lines of all pages that start with this word."""
    return tuple(line for snippet in snippets() for line in command_lines(snippet, program))


def command_lines(snippet: Snippet, program: str) -> Iterator[Snippet]:
    """Those of a snippet; what a command printed is none.

    In a fence with lines that start with `$ `, those are the commands; in one without, each line may be one.
    """
    lines = snippet.text.splitlines() if snippet.kind in ("", "span", "sh", "console") else []
    prompted = any(line.startswith("$ ") for line in lines)
    for number, line in enumerate(lines, snippet.line):
        text = re.split(r"  +| # ", line.removeprefix("$ "))[0]  # what comes after is said of it
        if (
            (line.startswith("$ ") or not prompted)
            and text.startswith(f"{program} ")
            and not _PLACEHOLDER.search(text)
        ):
            yield Snippet(snippet.page, number, snippet.kind, text)


def words_of(command: Snippet) -> list[str]:
    """As a shell splits them, without the program."""
    return shlex.split(command.text)[1:]
