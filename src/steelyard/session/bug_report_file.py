"""Where the report of a bug is kept: in the results folder into which it was measured."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

_FOLDER = "results_folder"  # attribute of an exception that passed `bugs_kept_in`


@contextlib.contextmanager
def bugs_kept_in(folder: Path) -> Iterator[None]:
    """Keep the report of a bug that is met inside in a results folder."""
    try:
        yield
    except Exception as error:
        setattr(error, _FOLDER, folder)
        raise


def results_folder_of(error: BaseException) -> Path | None:
    """Find the results folder into which it was measured when the error was met; None outside of a
    measurement.
    """
    found = getattr(error, _FOLDER, None)
    return found if isinstance(found, Path) else None
