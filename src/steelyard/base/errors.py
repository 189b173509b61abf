"""The exception tree. Each message is one sentence: what, where, what to do."""

from __future__ import annotations


class SteelyardError(Exception):
    """Base of all errors that a user can cause or meet; `exit_code` is that of the command line."""

    exit_code = 3


class InputError(SteelyardError):
    """Bad input or usage: an unknown op, an invalid size, a folder that is a file, a missing compiler."""

    exit_code = 2


class MeasurementError(SteelyardError):
    """The measurement could not be carried out; what was finished is kept."""

    exit_code = 3


class ExhaustedError(MeasurementError):
    """The system refuses this user more of something: processes, open files, memory."""
