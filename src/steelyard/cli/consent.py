"""What is not done unasked, such as to start what a results folder names."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.printable import visible
from steelyard.campaign.started_programs import unknown
from steelyard.cli.console import tell


def ask_to_start(folder: Path, lines: Iterable[str], yes: bool) -> None:
    """Show what a plan out of a folder would start that this user never started here, and ask; `yes` shows
    it only. The lines are whole: who wrote the folder could hide a command behind what reads like a secret.

    Raises InputError if that is declined, or nobody can be asked.
    """
    new = unknown(lines)
    if not new:
        return
    name = visible(str(folder))
    tell(f"'{name}' names what you have not started on this machine before:")
    for line in new:
        tell(f"  {line}")
    if yes:
        return
    if not can_be_asked():
        raise InputError(f"nothing of '{name}' was started; if you trust these lines, add --yes")
    if not agrees("Start it?"):
        raise InputError("nothing was started")


def can_be_asked() -> bool:
    """Is there a terminal to ask?"""
    return sys.stdin.isatty() and sys.stderr.isatty()


def agrees(question: str) -> bool:
    """Ask on the terminal; only a yes is one."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
