"""Environment modules: the changes that `module load` makes, for any of its implementations.

`module` is a function of the shell, so a shell has to call it. Its script is the constant below. Names come
to it as arguments, which it never reads as code. Only names of `_NAME` are passed, because old versions of
the function split and expand their arguments.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from steelyard.base.errors import InputError, MeasurementError
from steelyard.base.printable import visible
from steelyard.system.process import Done, run

_SECONDS = 120.0
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+/@:=-]*")
_NO_MODULES, _NOT_LOADED = 87, 88  # exit codes of the script
_MARK = "\0steelyard\0"  # before the environment: modules may print before it
# Variables that are the shell's own, or ours to know our children by.
_NOT_THEIRS = re.compile(r"_|SHLVL|PWD|OLDPWD|BASH_FUNC_.*|STEELYARD_.*", re.DOTALL)
# A shell that has the function by its own start-up files, or exported, needs no other.
_SCRIPT = f"""
for start in "$MODULESHOME/init/bash" "$LMOD_PKG/init/bash" /etc/profile.d/modules.sh \\
    /etc/profile.d/lmod.sh /usr/share/lmod/lmod/init/bash /usr/share/modules/init/bash
do
    type module >/dev/null 2>&1 && break
    [ -r "$start" ] && . "$start" >/dev/null 2>&1
done
type module >/dev/null 2>&1 || exit {_NO_MODULES}
module load "$@" || exit {_NOT_LOADED}
printf '\\0steelyard\\0'
exec env -0
"""


class Loaded(Struct, frozen=True):
    """The changes of modules: variables with values, and those that are removed."""

    environment: Mapping[str, str] = {}
    unset: tuple[str, ...] = ()


def module_names(text: str) -> tuple[str, ...]:
    """List the modules in a text such as `gcc/12 ucx/1.16`. Raises ValueError for an invalid name."""
    names = tuple(text.split())
    for name in names if names and visible(text) == text else (text,):
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"has '{visible(name)}', which is no name of a module; give names such as gcc/12"
            )
    return names


def load_modules(names: Sequence[str]) -> Loaded:
    """Find what `module load` of these, in this order, changes in our environment.

    Raises InputError, with the message of modules, if there are none here, or one cannot be loaded.
    """
    return _load(tuple(names), tuple(sorted(os.environ.items()))) if names else Loaded()


@functools.lru_cache
def _load(names: tuple[str, ...], environ: tuple[tuple[str, str], ...]) -> Loaded:
    """Ask once for each environment, because a campaign has many launches."""
    told = "module load " + " ".join(names)
    try:
        done = run(["bash", "-c", _SCRIPT, "steelyard", *names], timeout=_SECONDS)
    except (InputError, MeasurementError) as error:
        raise InputError(f"'{told}' cannot be run: {error}") from None
    if done.code == _NO_MODULES:
        raise InputError(
            f"no shell here has the function module, which '{told}' needs; install Environment Modules or "
            "Lmod, or leave modules out"
        )
    noise, mark, text = done.out.rpartition(_MARK)
    if done.code != 0 or not mark:
        raise InputError(f"'{told}' failed: {_reason(done, noise)}")
    before = dict(environ)
    after = dict(entry.partition("=")[::2] for entry in text.split("\0") if "=" in entry)
    changed = {
        name: value
        for name, value in after.items()
        if before.get(name) != value and not _NOT_THEIRS.fullmatch(name)
    }
    gone = tuple(name for name in before if name not in after and not _NOT_THEIRS.fullmatch(name))
    if not changed and not gone and done.err.strip():
        raise InputError(f"'{told}' changed nothing: {_reason(done, noise)}")  # old ones fail without a code
    return Loaded(changed, gone)


def _reason(done: Done, noise: str) -> str:
    """Quote the first lines of its output."""
    lines = (visible(line.strip()) for line in (done.err + noise).splitlines())
    return " ".join(line for line in lines if line)[:300] or "it does not say why"
