"""Libraries that an engine uses if their headers are found: libfabric, UCX.

An engine that was built before a library came is built anew.
"""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from steelyard.system.process import run

_SECONDS = 60.0
_SEARCHED = ("CPATH", "C_INCLUDE_PATH")  # variables with folders in which compilers look
_USUAL = ("/usr/local/include", "/usr/include")
_ASKED = (*_SEARCHED, "PATH", "PKG_CONFIG_PATH", "PKG_CONFIG_LIBDIR")


class Header(msgspec.Struct, frozen=True):
    """A header that was found; `folder`: an option of the compiler, None if it looks there anyway."""

    path: Path
    folder: str | None


def headers_found(libraries: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, Header]:
    """Find the libraries that are there, by names of pkg-config and a header of each."""
    asked = frozenset((name, environment.get(name, "")) for name in _ASKED)
    found = {name: _find(name, header, asked) for name, header in libraries.items()}
    return {name: header for name, header in found.items() if header is not None}


@functools.cache
def _find(library: str, header: str, asked: frozenset[tuple[str, str]]) -> Header | None:
    variables = dict(asked)
    searched = [folder for name in _SEARCHED for folder in variables[name].split(os.pathsep) if folder]
    for folder in (*searched, *_USUAL):
        if (path := Path(folder, header)).is_file():
            return Header(path, None)
    for folder in _told_folders(library, variables):
        if (path := Path(folder, header)).is_file():
            return Header(path, folder)
    return None


def _told_folders(library: str, variables: Mapping[str, str]) -> list[str]:
    """Find the folders of headers that pkg-config names, as modules of a cluster need."""
    program = shutil.which("pkg-config", path=variables["PATH"] or None)
    if program is None:
        return []
    set_ones = {name: value for name, value in variables.items() if value}
    done = run([program, "--cflags-only-I", library], env=os.environ | set_ones, timeout=_SECONDS)
    return [word[2:] for word in done.out.split() if word.startswith("-I")] if done.code == 0 else []
