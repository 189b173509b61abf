"""Where the program begins: what is said where memory is too small to load what it needs."""

from __future__ import annotations

import pytest

from steelyard.cli.start import _lacks_memory

_LOADER = "libx.so: failed to map segment from shared object"


def _wrapped(message: str) -> ImportError:
    """As numpy says it: an error of its own, from the loader's."""
    try:
        try:
            raise ImportError(message)
        except ImportError as error:
            raise ImportError("Importing the C-extensions failed") from error
    except ImportError as error:
        return error


@pytest.mark.parametrize(
    ("error", "lacks"),
    [
        (ImportError(_LOADER), True),
        (_wrapped(_LOADER), True),
        (_wrapped("libx.so: cannot open shared object file"), False),
        (ImportError("No module named 'x'"), False),
    ],
)
def test_a_library_without_room_is_told_from_a_missing_one(error: ImportError, lacks: bool) -> None:
    assert _lacks_memory(error) == lacks
