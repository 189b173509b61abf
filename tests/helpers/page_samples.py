"""The samples of output on the pages: what stands below a command that has `$ ` before it."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pages import ROOT, Snippet, snippets

_PROMPT = "$ steelyard "
# A number with its sign and unit, the version of an MPI, a name with digits in it.
_NUMBER = re.compile(r"\S*\d\S*(?: (?:[KMG]iB|B|[num]?s|[MG]B/s|%)(?=[ ,.;)]|$))?")


_VALUE = re.compile(r"\d (?:[num]?s|%|[KMG]?i?B)\b|\d %")


@dataclass(frozen=True)
class Sample:
    """A command, and the lines that it prints according to its page."""

    command: Snippet
    lines: tuple[str, ...]

    @property
    def is_of_the_machine(self) -> bool:
        """Are its words those of a machine?"""
        return self.command.text == "steelyard doctor"

    def __str__(self) -> str:
        return str(self.command)


def samples() -> list[Sample]:
    """All of all pages."""
    found = []
    for snippet in snippets():
        if snippet.kind == "":
            lines = snippet.text.splitlines()
            prompts = [i for i, line in enumerate(lines) if line.startswith("$ ")]
            for first, last in zip(prompts, [*prompts[1:], len(lines)], strict=False):
                if last > first + 1 and lines[first].startswith(_PROMPT):
                    command = Snippet(snippet.page, snippet.line + first, "", lines[first].removeprefix("$ "))
                    found.append(Sample(command, tuple(lines[first + 1 : last])))
    return found


def shape(text: str) -> list[str]:
    """The words of a text; numbers with their units, versions and names with digits are `#`."""
    return _NUMBER.sub("#", " ".join(text.split())).split()


def headings(lines: Sequence[str]) -> set[str]:
    """The headings of tables: columns of words, with numbers in the line below."""
    found = set()
    for above, row in itertools.pairwise(lines):
        if re.search(r"\S  +\S", above.strip()) and not _VALUE.search(above) and _VALUE.search(row):
            columns = [word for word in above.split() if word != "p99"]  # which 1000 samples have
            found.add(" ".join(shape(" ".join(columns))))
    return found


def prose(lines: Sequence[str]) -> Iterator[list[str]]:
    """The words of each sentence, or remark on a row; tables have none but these."""
    for line in " \n".join(lines).split("\n"):
        for part in re.split(r"  +|[.:;,] |[.:;,]$", line.strip() + " "):
            yield shape(part)


class Vocabulary:
    """The words that the program has, and which of them follow each other."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._words, self._pairs = set[str](), set[tuple[str, str]]()
        self._first, self._last = set[str](), set[str]()
        for text in texts:
            for part in re.split(r"[.:;,] |[.:;,]$|\n", text):
                words = shape(part)
                self._words |= set(words)
                self._pairs |= set(itertools.pairwise(words))
                if words:
                    self._first.add(words[0])
                    self._last.add(words[-1])

    def strange(self, words: Sequence[str]) -> list[str]:
        """Words that the program never says, and pairs of words that it never says one after the other."""
        alone = [word for word in words if not self._knows(word)]
        return alone + [
            f"{one} {next_}" for one, next_ in itertools.pairwise(words) if not self._follow(one, next_)
        ]

    def _knows(self, word: str) -> bool:
        return word in self._words or not re.fullmatch(r"[A-Za-z]{3,}", word)

    def _follow(self, one: str, next_: str) -> bool:
        """Do they stand so in a text, or may one text end and the next begin between them?"""
        is_plain = all(re.fullmatch(r"[a-z]{2,}", word) for word in (one, next_))
        return not is_plain or (one, next_) in self._pairs or one in self._last or next_ in self._first


def texts_of_the_program() -> Iterator[str]:
    """The texts in its sources; what stands between braces in them ends one and begins another."""
    for file in (ROOT / "src" / "steelyard").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
