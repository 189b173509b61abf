"""Where headers of libraries are found, and what the compiler must be told of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scripts import script
from steelyard.engines.headers import Header, headers_found

_LIBRARIES = {"libsome": "some/of_it.h"}


@pytest.fixture
def header(tmp_path: Path) -> Path:
    path = tmp_path / "include" / "some" / "of_it.h"
    path.parent.mkdir(parents=True)
    path.touch()
    return path


def test_a_folder_in_which_the_compiler_looks_need_not_be_told(header: Path, tmp_path: Path) -> None:
    folders = f"/nowhere{os.pathsep}{tmp_path / 'include'}"
    for name in ("CPATH", "C_INCLUDE_PATH"):
        assert headers_found(_LIBRARIES, {name: folders}) == {"libsome": Header(header, None)}


def test_a_folder_that_pkg_config_names_is_told(header: Path, tmp_path: Path) -> None:
    words = f'test "$2" = libsome && echo -I/nowhere -I{tmp_path}/include'
    script(tmp_path / "bin" / "pkg-config", words)
    found = headers_found(_LIBRARIES, {"PATH": str(tmp_path / "bin")})
    assert found == {"libsome": Header(header, f"{tmp_path}/include")}


def test_what_is_nowhere_is_not_found(tmp_path: Path) -> None:
    script(tmp_path / "bin" / "pkg-config", "exit 1")
    for folder in (tmp_path / "bin", tmp_path):  # one that does not know it, and none
        assert headers_found(_LIBRARIES, {"PATH": str(folder)}) == {}
