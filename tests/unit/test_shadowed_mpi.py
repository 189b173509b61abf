"""An activated environment before the user's MPI on PATH."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scripts import script
from steelyard.engines.shadowed_mpi import hidden_mpi


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    for name in ("venv/mpirun", "venv/mpicc", "user/mpirun", "other/mpicc"):
        script(tmp_path / name, "#!/bin/sh\n")
    return {name: tmp_path / name for name in ("venv", "user", "other", "empty")}


@pytest.mark.parametrize(
    ("order", "hidden"),
    [
        (("venv", "user"), ("mpirun", "user")),
        (("venv", "other"), ("mpicc", "other")),
        (("user", "venv"), None),  # the user's comes first
        (("venv", "empty"), None),  # there is no other
        (("user", "other"), None),  # it is not activated
    ],
)
def test_what_is_hidden_is_named(
    places: dict[str, Path], order: tuple[str, ...], hidden: tuple[str, str] | None
) -> None:
    said = hidden_mpi(os.pathsep.join(str(places[name]) for name in order), places["venv"])
    if hidden is None:
        assert said is None
        return
    name, place = hidden
    own, first = places[place] / name, places["venv"] / name
    assert said == f"{name} is {first} while this environment is activated, and hides {own}"
