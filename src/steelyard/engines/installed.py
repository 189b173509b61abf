"""Where this package is installed: in an environment, below another prefix (PYTHONPATH), or in place."""

from __future__ import annotations

import functools
import re
import sysconfig
from pathlib import Path

from steelyard.base.files import real_path

_PACKAGE = real_path(Path(__file__)).parent.parent
_BELOW_PREFIX = re.compile(r"lib(32|64)?|py(thon|py)[\w.]*|(site|dist)-packages")  # between it and packages


def installed_engine(package: Path = _PACKAGE) -> Path:
    """Find the folder with the sources of the engines that were built at installation.

    It is in the package, but for an installation in place, whose package is the checkout.
    """
    own = package / "_engine"
    return own if own.is_dir() else Path(sysconfig.get_path("platlib"), "steelyard", "_engine")


@functools.cache
def scripts_folder(package: Path = _PACKAGE) -> Path:
    """Find the folder of the commands that came with this package, with its engines.

    Module systems, Spack and EasyBuild install below a prefix that is not Python's.
    """
    if (package / "_engine").is_dir():
        for folder in package.parents:
            if (folder / "bin" / "steelyard-solo").is_file():
                return folder / "bin"
            if _BELOW_PREFIX.fullmatch(folder.name) is None:  # above it may be anybody's, as in /tmp
                break
    return Path(sysconfig.get_path("scripts"))
