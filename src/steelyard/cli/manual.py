"""The manual page and the completions of shells, from the program itself; packages install them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import typer.main
from typer.completion import get_completion_script  # type: ignore[attr-defined]

from steelyard import __version__
from steelyard.cli.main import app
from steelyard.cli.option_tables import meaning, walk

# Below share/ of a prefix -> the shell that finds it there.
_COMPLETIONS = {
    "bash-completion/completions/steelyard": "bash",
    "zsh/site-functions/_steelyard": "zsh",
    "fish/vendor_completions.d/steelyard.fish": "fish",
}
_COMPLETED = {"prog_name": "steelyard", "complete_var": "_STEELYARD_COMPLETE"}
# zsh runs the file at the first Tab as the completion itself: made known alone, that Tab would do nothing.
_ZSH_KNOWN = (
    "compdef _steelyard_completion steelyard",
    """if [[ $funcstack[1] == _steelyard ]]; then
  _steelyard_completion "$@"
else
  compdef _steelyard_completion steelyard
fi""",
)
_EXITS = (
    ("0", "All is well: measured, or nothing is slower."),
    ("1", "A verdict: slower, violated, or not well."),
    ("2", "An input that cannot be used; nothing was measured."),
    ("3", "Something failed; what was finished is kept."),
    ("4", "With --strict: it cannot be told."),
    ("70", "A bug; the sentence names a file for its authors."),
    ("130", "Stopped by Ctrl-C."),
)


def shared_files() -> Mapping[str, str]:
    """Make the files below share/ of a prefix, by their paths there."""
    scripts = {
        path: get_completion_script(**(_COMPLETED | {"shell": name})).replace(*_ZSH_KNOWN)
        for path, name in _COMPLETIONS.items()
    }
    return {"man/man1/steelyard.1": manual_page(), **{path: f"{text}\n" for path, text in scripts.items()}}


def manual_page() -> str:
    """Write the manual page of all commands, in the macros of man(7)."""
    root = typer.main.get_command(app)
    return "\n".join([*_head(root), *_commands(root), *_exits(), ""])


def _head(root: Any) -> Iterator[str]:
    yield f'.TH STEELYARD 1 "" "steelyard {__version__}" "User Commands"'
    yield ".SH NAME"
    yield f"steelyard \\- {_roff(root.help)}"
    yield ".SH SYNOPSIS"
    yield ".B steelyard"
    yield ".I COMMAND"
    yield "[\\fIOPTION\\fR]..."
    yield ".SH COMMANDS"


def _commands(root: Any) -> Iterator[str]:
    for name, command in walk(root, ""):
        yield f".SS steelyard {_roff(name)}"
        yield _roff(" ".join((command.help or command.short_help or "").split()))
        for param in command.params:
            names = [word for word in param.opts if word.startswith("-")]
            value = f" {param.metavar}" if param.metavar else ""
            yield ".TP"
            yield f".B {_roff(', '.join(names) + value if names else param.metavar or param.name)}"
            yield _roff(meaning(param))


def _exits() -> Iterator[str]:
    yield ".SH EXIT STATUS"
    for code, what in _EXITS:
        yield ".TP"
        yield f".B {code}"
        yield _roff(what)


def _roff(text: str) -> str:
    r"""Write a text that roff takes as it is: `-` is `\-`, a backslash `\e`; no line is a request."""
    text = re.sub(r"\s+", " ", text.replace("\\", "\\e").replace("-", "\\-"))
    return re.sub(r"^([.'])", r"\\&\1", text) or "\\&"
