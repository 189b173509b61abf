"""The files that were loaded in the processes of a launch, as sentences and tables know them."""

from __future__ import annotations

from steelyard.records.schema import Launch

PROGRAM = ""  # the name of the engine itself
_ID_LETTERS = 12  # letters of an id in a table


def known_libraries(launch: Launch) -> dict[str, str]:
    """Map the name of each file to its build id, or else its hash; leave files out that have neither."""
    ids = {
        library.path.rpartition("/")[2] if library.path else PROGRAM: library.build_id or library.hash
        for library in launch.libraries
    }
    return {name: known[:_ID_LETTERS] for name, known in ids.items() if known}
