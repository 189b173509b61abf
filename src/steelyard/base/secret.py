"""Mask secrets in what is kept and shown, because records are passed on.

The rule is that of the engine (engine/base/secret.c). tests/data/secret_cases.h holds both to the same cases.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

MASK = "***"
# Words of names that tell of a secret: anywhere; between letters of other kinds; so at the end.
_ANYWHERE = (
    "SECRET|TOKEN|PASSW|PASSPHRASE|PWD|CREDENTIAL|COOKIE|APIKEY|ACCESSKEY|PRIVATEKEY|SIGNATURE|AUTHORIZATION"
)
_ALONE = "KEY|PW|JWT|CRED|CREDS|SIG"
_LAST = "PASS"
_BEFORE, _BEHIND = "(?<![A-Za-z0-9])", "(?![A-Za-z0-9])"
_SECRET = re.compile(
    rf"{_ANYWHERE}|{_BEFORE}(?:(?:{_ALONE}){_BEHIND}|(?:{_LAST})\Z)", re.IGNORECASE | re.ASCII
)
_ORDINARY = ("PWD", "OLDPWD", "TOKENIZERS_PARALLELISM")
_SWITCHES = ("", "-", "0", "1", "-1", "true", "false", "yes", "no", "on", "off")
_KNOWN_NAMES = 4096  # scripts of thousands of jobs have the same paths
_WORD = r"""[^&;, \t\n"']*"""
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_ADDRESS = re.compile(r"""://([^/?#&;, \t\n"']*)@""")
_BY_SHELL = re.compile(r"""(?<![A-Za-z0-9_.-])([A-Za-z_][A-Za-z0-9_]*)="\$\1\"""")
_SIGN = re.compile(r"""["']? *[=:] *["']?""")
_GAP = re.compile(r""" +(?=[^- ])["']?""")
# In a text with none of these there is no secret to look for, word by word.
_MAY_BE = re.compile(rf"{_ANYWHERE}|{_ALONE}|{_LAST}|Bearer|://", re.IGNORECASE)
_BEARER = re.compile(rf"Bearer +(?=[^ ])({_WORD})", re.IGNORECASE)
_VALUE = re.compile(rf"(?:Bearer|Basic) +{_WORD}|{_WORD}", re.IGNORECASE)


def masked(name: str, value: str) -> str:
    """Write the value of a variable with `***` in place of secrets: all of it if the name says so and it is
    no switch, else the user and password of an address, and what follows such a name or `Bearer`.
    """
    if _is_secret(name) and value.lower() not in _SWITCHES:
        return MASK
    if _MAY_BE.search(value) is None:
        return value
    parts: list[str] = []
    at = 0
    while at < len(value):
        begin, end = _secret_at(value, at)
        parts += [value[at:begin], MASK if end > begin else ""]
        at = end
    return "".join(parts)


def masked_text(text: str) -> str:
    """Mask secrets in a sentence or a command; what a shell is to fill in, `NAME="$NAME"`, is none."""
    parts: list[str] = []
    at = 0
    for found in _BY_SHELL.finditer(text):
        parts += [masked("", text[at : found.start()]), found[0]]
        at = found.end()
    return "".join((*parts, masked("", text[at:])))


def masked_words(words: Iterable[str]) -> tuple[str, ...]:
    """Mask secrets in the words of a command: in each, and the one behind an option such as `--token`."""
    found: list[str] = []
    before = ""
    for word in words:
        is_value = before.startswith("-") and _NAME.fullmatch(before) is not None and not word.startswith("-")
        found.append(masked(before if is_value else "", word))
        before = word
    return tuple(found)


def masked_document(document: Any, name: str = "") -> Any:
    """Mask secrets in the values of a document, each by its key."""
    if isinstance(document, dict):
        return {key: masked_document(value, key) for key, value in document.items()}
    if isinstance(document, list | tuple):
        return [masked_document(value, name) for value in document]
    return masked(name, document) if isinstance(document, str) else document


def masked_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Mask secrets in variables and their values."""
    return {name: masked(name, value) for name, value in settings.items()}


@functools.lru_cache(_KNOWN_NAMES)
def _is_secret(name: str) -> bool:
    return name.upper() not in _ORDINARY and _SECRET.search(name) is not None


def _secret_at(value: str, at: int) -> tuple[int, int]:
    """Find where the secret of the word that begins here begins and ends; equal where it has none."""
    name = _NAME.match(value, at)
    behind = name.end() if name else at + 1
    if value.startswith("://", behind):
        address = _ADDRESS.match(value, behind)
        return address.span(1) if address else (behind + 3, behind + 3)
    if name is None:
        return behind, behind
    if _is_secret(name[0]):
        sign = _SIGN.match(value, behind) or (_GAP.match(value, behind) if name[0].startswith("-") else None)
        if sign is not None:
            return sign.end(), _value_end(value, sign.end())
    if bearer := _BEARER.match(value, at):
        return bearer.span(1)
    return behind, behind


def _value_end(value: str, begin: int) -> int:
    """Find the end of a value: its quote, if it has one, else that of a word, or of two behind a scheme."""
    if value[begin - 1] in "\"'":
        end = value.find(value[begin - 1], begin)
        return len(value) if end < 0 else end
    found = _VALUE.match(value, begin)
    assert found is not None
    return begin if found[0].lower() in _SWITCHES else found.end()
