"""The exception tree. Each message is one sentence: what, where, what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class SteelyardError(Exception):
    """Base of all errors that a user can cause or meet; `exit_code` is that of the command line."""

    exit_code = 3


class InputError(SteelyardError):
    """Bad input or usage: an unknown op, an invalid size, a folder that is a file, a missing compiler."""

    exit_code = 2


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Put where it is before the sentence of an InputError: an option, a key, a table."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


class MeasurementError(SteelyardError):
    """The measurement could not be carried out; what was finished is kept."""

    exit_code = 3


class StoppedError(SteelyardError):
    """Ctrl-C ended it; what was finished is kept. Shells show such an end by 128 and the signal's number."""

    exit_code = 130


class ExhaustedError(MeasurementError):
    """The system refuses this user more of something: processes, open files, memory."""
