"""A command that starts ranks is not one of them: `mpirun -n 2 steelyard run ...` is answered once."""

from __future__ import annotations

import functools
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from steelyard.base.errors import InputError
from steelyard.records.command_line import retyped
from steelyard.system.started_as import StartedAs, started_as

_PAUSE_S = 2.0  # of those who say nothing: a launcher ends all ranks with the first that fails


def started_alone(work: Callable[[Any], None]) -> Callable[[Any], None]:
    """Make the work of a command refuse to be one of several ranks; one of them says so, by InputError."""

    @functools.wraps(work)
    def checked(options: Any) -> None:
        rank = started_as(os.environ)
        if rank is None:
            work(options)
        else:
            end_unless_first(InputError.exit_code)
            raise InputError(_sentence(rank, options))

    return checked


def end_unless_first(code: int) -> None:
    """Exit without a word if another of several ranks says what there is to say."""
    rank = started_as(os.environ)
    if rank is not None and not rank.is_speaker:
        time.sleep(_PAUSE_S)
        sys.exit(code)


def _sentence(rank: StartedAs, options: Any) -> str:
    several = "several ranks" if rank.ranks is None else f"{rank.ranks} ranks"
    return (
        f"{rank.launcher} started steelyard itself as {several}, and steelyard starts the ranks that it "
        f"measures; type: {retyped(sys.argv[1:], **{'-n': _ranks(rank, options)})}"
    )


def _ranks(rank: StartedAs, options: Any) -> int | None:
    """The number of ranks for an option, if the command takes one and none was given."""
    given = [getattr(options, name, None) for name in ("ranks", "hosts", "ranks_per_host")]
    has_option = hasattr(options, "ranks") and not any(given)
    return rank.ranks if has_option else None
