"""`steelyard op-header`: the folder of steelyard/op.h, for a compiler's -I."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.cli.console import say
from steelyard.engines.build import header_folder


@dataclass(frozen=True)
class NoOptions:
    """There are none."""


def say_header(options: NoOptions) -> None:
    """Print the folder of steelyard/op.h, for a compiler's -I."""
    del options
    say(str(header_folder()))
