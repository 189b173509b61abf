"""Engines in the cache that are damaged, or left by a build that was killed, are built again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from further import further
from scripts import script
from steelyard.engines.build import (
    describe,
    solo_engine,
)


def _cut(engine: Path) -> None:
    engine.write_bytes(engine.read_bytes()[:1000])


def _replace_by_a_folder(engine: Path) -> None:
    engine.unlink()
    engine.mkdir()


def _say_nothing(engine: Path) -> None:
    script(engine, "echo '{}'")


@pytest.mark.parametrize("damage", [_cut, _replace_by_a_folder, _say_nothing, Path.unlink])
@pytest.mark.parametrize("of_common", [False, further(True)])
def test_a_damaged_engine_is_built_again(
    toy: Path, own_cache: Path, compiler: str, damage: Callable[[Path], object], of_common: bool
) -> None:
    path = Path(solo_engine().path)
    whole = path.read_bytes()
    damage(path)
    if of_common:
        (common,) = own_cache.glob("engines/*/common.o")
        damage(common)
    assert solo_engine().path == str(path)
    assert path.read_bytes() == whole
    assert describe(solo_engine()).engine == "solo"


def test_what_a_killed_build_left_is_removed(toy: Path, compiler: str) -> None:
    path = Path(solo_engine().path)
    (path.parent / ".new-killed").mkdir()
    (path.parent / ".new-killed" / "half.o").write_bytes(b"half")
    path.unlink()
    solo_engine()
    assert {file.name for file in path.parent.iterdir()} == {"steelyard-solo", "build.log", "sha256", ".lock"}
