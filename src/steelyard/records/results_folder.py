"""Is a path a results folder; if not, what it is instead."""

from __future__ import annotations

from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.files import open_regular

_HEAD_BYTES = 4096  # of a file that are looked at
_LOAD = "'steelyard load' shows it, and 'steelyard run --like NAME' measures the same test"
_OWN = "steelyard reads its own results only; give a folder that 'steelyard run' wrote"

# Files that may be taken for results: texts that all stand at their beginning, what they are, and what to do.
_KNOWN: tuple[tuple[tuple[bytes, ...], str, str], ...] = (
    ((b"# OSU ",), "a file that OSU Micro-Benchmarks wrote", _LOAD),
    ((b"Intel(R) MPI Benchmark",), "a file that Intel MPI Benchmarks wrote", _LOAD),
    (
        (b'"context"', b'"benchmarks"'),
        "a file that Google Benchmark wrote",
        "'steelyard load' shows it beside others",
    ),
    (
        (b'"context"', b'"num_cpus"'),
        "a file that Google Benchmark wrote",
        "'steelyard load' shows it beside others",
    ),
    ((b'"results"', b'"command"', b'"times"'), "a file that hyperfine wrote", _OWN),
    ((b'"results"', b'"command"', b'"stddev"'), "a file that hyperfine wrote", _OWN),
    ((b"[[measure]]",), "a plan", "'steelyard run' measures it, and writes a results folder"),
    ((b"<!DOCTYPE html",), "a page", "give the results folder that it is of"),
)


def check_results_folder(folder: Path) -> None:
    """Raise InputError, in a sentence that says what the path is, if it is no folder."""
    if folder.is_dir():
        return
    if not folder.exists():
        raise InputError(f"there is no results folder '{folder}'; give one that 'steelyard run' wrote")
    if (folder.parent / "campaign.json").is_file():
        raise InputError(f"'{folder}' is a file of a results folder; give the folder: {folder.parent}")
    head = _head(folder)
    for texts, what, remedy in _KNOWN:
        if all(text in head for text in texts):
            raise InputError(f"'{folder}' is {what}, and no results folder; {remedy}")
    raise InputError(
        f"'{folder}' is a file and no results folder; give one that 'steelyard run' wrote, or "
        "'steelyard load' for what another suite printed"
    )


def _head(path: Path) -> bytes:
    """Read the beginning of a file; nothing of one that cannot be read."""
    try:
        with open_regular(path) as file:
            return file.read(_HEAD_BYTES)
    except (OSError, InputError):
        return b""
