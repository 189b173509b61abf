"""Text from others: names of processes, words of launchers, records of unknown origin."""

from __future__ import annotations

import re
from typing import Any

_MOST_LETTERS = 300  # of a word in a sentence: the name of a file has 255
_LONG = re.compile(rf"[^\s/]{{{_MOST_LETTERS + 1},}}")


def visible(text: str) -> str:
    r"""The text with its control characters shown and not obeyed: ESC as `\x1b`.

    Escapes what a terminal or a reader could be led astray by: control and format characters, which change
    colours, titles and directions, and what UTF-8 cannot carry. Line breaks count among them.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in _SPACES else _escaped(one) for one in text)


_SPACES = "\u00a0\u2009\u202f"  # not printable to Python, harmless, and used by us


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode()


def is_plain(document: bytes) -> bool:
    """Are the texts of a document of JSON visible as they are: no escape, only ASCII?"""
    return document.isascii() and b"\\" not in document and b"\x7f" not in document


def all_visible(document: Any) -> Any:
    """Make the texts of a document of JSON `visible`, keys included."""
    if isinstance(document, str):
        return visible(document)
    if isinstance(document, list):
        return [all_visible(item) for item in document]
    if isinstance(document, dict):
        return {visible(str(key)): all_visible(item) for key, item in document.items()}
    return document


def longest_text(document: Any) -> int:
    """Count the letters of the longest text in a document of JSON, keys included."""
    if isinstance(document, str):
        return len(document)
    if isinstance(document, dict):
        return max(map(longest_text, (*document, *document.values())), default=0)
    return max(map(longest_text, document), default=0) if isinstance(document, list) else 0


def executable_name(command: str) -> str:
    """Keep only the name of a command whose arguments, which may be secrets, an earlier version kept."""
    return command if command.startswith("[") else command.split(" ")[0].rpartition("/")[2] or command[:1]


def one_line(text: str) -> str:
    """Make a text visible on one line, with words of a length that somebody reads.

    What has a slash may be a path, which a printed command needs whole.
    """
    return _LONG.sub(lambda word: shortened(word[0], _MOST_LETTERS), visible(text))


def shortened(text: str, most: int) -> str:
    """Make a text visible, and cut it to `most` letters, its `...` included: no more dots than three."""
    text = visible(text)
    return text if len(text) <= most else text[: most - 3].rstrip(". ") + "..."


def ended(text: str) -> str:
    """Give a sentence a full stop, unless it ends with one, or was cut."""
    return text if text.endswith(".") else f"{text}."
