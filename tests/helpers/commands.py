"""What the tests of the command line share: a command in this process, and what it said."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from steelyard.cli.main import main

TWO_SAMPLES = ("--rule", "fixed", "--param", "count=2")
FIXED = (*TWO_SAMPLES, "--launches", "1")


@dataclass(frozen=True, slots=True)
class Said:
    """What a command said, and its exit code."""

    code: object
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Stdout, which is one JSON document and nothing else."""
        return json.loads(self.out)


Steelyard = Callable[..., Said]


def steelyard_of(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    """Run a command line in this process."""

    def call(*words: str | Path) -> Said:
        monkeypatch.setattr(sys, "argv", ["steelyard", *map(str, words)])
        with pytest.raises(SystemExit) as raised:
            main()
        return Said(raised.value.code or 0, *capsys.readouterr())

    return call
