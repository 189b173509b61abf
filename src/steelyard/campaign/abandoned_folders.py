"""Folders that this user measures into, kept in the cache: the next command clears up after a kill.

There is a file for each, named as the mark of its launches. A steelyard that ends by itself removes it: what
is there belongs to one that measures, or to one that was killed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.files import read_regular, write_whole
from steelyard.engines.cache import cache_folder, kept_folder

_FOLDER = "measuring"  # of the cache
_KEPT_SECONDS = 30 * 86400  # of another host's: longer than any job lasts


@contextmanager
def remembered(folder: Path, mark: str) -> Iterator[None]:
    """Keep the name of a folder while launches with that mark measure into it.

    A cache that cannot be written remembers nothing.
    """
    entry: Path | None = None
    with suppress(InputError, OSError):
        entry = cache_folder(_FOLDER) / mark
        write_whole(entry, os.fsencode(folder.absolute()))
    try:
        yield
    finally:
        if entry is not None:
            with suppress(OSError):
                entry.unlink()


def clear_abandoned() -> tuple[str, ...]:
    """End and remove what killed steelyards of this user have left on this host. Returns notes on it."""
    notes = list[str]()
    with suppress(InputError, OSError):
        if (folder := kept_folder(_FOLDER)) is not None:
            for entry in sorted(folder.iterdir()):
                notes += _cleared(entry)
    return tuple(notes)


def _cleared(entry: Path) -> tuple[str, ...]:
    from steelyard.campaign.lock import clear_after_kill

    with suppress(InputError, OSError):
        folder = Path(os.fsdecode(read_regular(entry)))
        notes = clear_after_kill(folder, entry.name)
        if notes is not None or entry.stat().st_mtime < time.time() - _KEPT_SECONDS:
            entry.unlink()
        return tuple(f"'{folder}': {note}" for note in notes or ())
    return ()
