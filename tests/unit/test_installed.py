"""Where an installation has its engines: below whatever prefix, and never those of another installation."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from steelyard.engines.installed import installed_engine, scripts_folder

_THIS = Path(sysconfig.get_path("scripts"))


def _package(folder: Path, is_whole: bool) -> Path:
    """A package there; a whole one brought its sources of the engines."""
    (folder / ("_engine" if is_whole else "empty")).mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    "below", ["lib/python3.11/site-packages", "lib64/python3/dist-packages", "lib/python"]
)
def test_engines_are_found_below_a_prefix(tmp_path: Path, below: str) -> None:
    package = _package(tmp_path / below / "steelyard", is_whole=True)
    assert scripts_folder(package) == _THIS  # has no engines
    scripts_folder.cache_clear()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "steelyard-solo").touch()
    assert scripts_folder(package) == tmp_path / "bin"
    assert installed_engine(package) == package / "_engine"


def test_no_engine_above_an_unpacked_package_is_its_own(tmp_path: Path) -> None:
    """Anybody may have laid it in /tmp, and it would be started."""
    package = _package(tmp_path / "mine" / "steelyard", is_whole=True)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "steelyard-solo").touch()
    scripts_folder.cache_clear()
    assert scripts_folder(package) == _THIS


def test_a_checkout_has_those_of_its_environment(tmp_path: Path) -> None:
    package = _package(tmp_path / "src" / "steelyard", is_whole=False)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "steelyard-solo").touch()
    assert scripts_folder(package) == _THIS
    assert installed_engine(package) == Path(sysconfig.get_path("platlib"), "steelyard", "_engine")
