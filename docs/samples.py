"""Takes the samples of output on the pages anew, from runs on this machine.

`.venv/bin/python docs/samples.py [PAGE...]`; without pages, all that have samples.

A sample is a command with `$ ` before it and what it prints below it. The command is run in an empty folder
and an empty home, in a terminal of 80 columns. What it prints on standard output, or else on standard error,
takes the place of what stood below it. `tests/engine/test_docs_samples.py` holds the words of samples against
the program.
"""

import itertools
import os
import pty
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/tutorial.md", "docs/howto.md")
STEELYARD = ROOT / ".venv" / "bin" / "steelyard"
PROMPT, FENCE = "$ steelyard ", "```"
TERMINAL = {"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}


def page_with(text: str, printed: dict[str, list[str]]) -> str:
    """The page with what its commands have printed."""
    lines: list[str] = []
    replaced = is_open = False
    for line in text.splitlines():
        if line.startswith(FENCE):
            is_open, replaced = not is_open, False
        elif is_open and line.startswith("$ "):
            replaced = line in printed
            lines += [line, *printed.get(line, [])]
            continue
        if not replaced:
            lines.append(line)
    return "\n".join(lines) + "\n"


def sampled(text: str) -> list[str]:
    """The lines of commands below which their output stands."""
    found, is_open = [], False
    lines = text.splitlines()
    for line, below in itertools.pairwise(lines):
        is_open ^= line.startswith(FENCE)
        if is_open and line.startswith(PROMPT) and not below.startswith(("$ ", FENCE)):
            found.append(line)
    return found


def output(words: list[str], folder: str) -> list[str]:
    """What a command prints for a reader, line by line; paths of this machine are shortened."""
    master, slave = pty.openpty()
    with subprocess.Popen(
        [STEELYARD, *words],
        cwd=folder,
        stdout=slave,
        stderr=subprocess.PIPE,
        env=os.environ | TERMINAL | {"HOME": folder},
    ) as child:
        os.close(slave)
        said = b""
        while piece := _piece(master):
            said += piece
        assert child.stderr is not None
        aside = child.stderr.read()
    os.close(master)
    text = (said or aside).decode().replace("\r\n", "\n")
    return text.replace(f"{ROOT}/", "").replace(folder, "~").rstrip("\n").splitlines()


def _piece(descriptor: int) -> bytes:
    """A piece of what a terminal is told; empty at its end."""
    try:
        return os.read(descriptor, 65536)
    except OSError:  # nobody has the other side
        return b""


def main() -> None:
    """Rewrite the pages that are named."""
    for name in sys.argv[1:] or PAGES:
        page = ROOT / name
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            printed = {line: output(shlex.split(line)[2:], folder) for line in sampled(text)}
        page.write_text(page_with(text, printed), encoding="utf-8")


if __name__ == "__main__":
    main()
