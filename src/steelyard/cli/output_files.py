"""Files that an option names."""

from __future__ import annotations

from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.files import write_given


def write_asked(path: Path, data: bytes, option: str) -> None:
    """Write the file that `option` names. Raises InputError, which names both, if it cannot be written."""
    try:
        write_given(path, data)
    except OSError as error:
        raise InputError(
            f"'{path}' cannot be written: {error.strerror}; give {option} another place"
        ) from None
