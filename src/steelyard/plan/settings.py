"""The environment of a launch as axes of a plan: variables, MPI's own settings, modules and containers.

A setting of an MPI is for that MPI only.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from steelyard.base.comma_lists import values_in
from steelyard.base.errors import InputError
from steelyard.base.files import home_path
from steelyard.base.mpi_variables import is_read, readers
from steelyard.base.plural import joined
from steelyard.base.printable import shortened, visible
from steelyard.base.product import product_of
from steelyard.base.secret import masked
from steelyard.records.campaign_file import FILES, MODULES, UNSET, WRAPPER
from steelyard.system.modules import module_names

Settings = Mapping[str, str | tuple[str, ...]]  # a variable -> a value or several

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_MOST_TOLD = 2  # variables that a sentence names
_MOST_QUOTED = 60  # letters of what somebody has written, in a sentence
_OURS = "STEELYARD_"  # prefix of variables between the package and its engines


def check_variable(name: str, values: Sequence[str]) -> None:
    """Raise ValueError, in a sentence, for an invalid variable, or a value that no program can get."""
    if not _NAME.fullmatch(name) or name.startswith(_OURS):
        raise ValueError(
            f"env '{visible(name)}' is no variable that a launch can be given; a name has letters, digits "
            f"and _, and does not begin with {_OURS}"
        )
    for value in values:
        if visible(value) != value:
            raise ValueError(
                f"env {name} has control characters in '{shortened(value, _MOST_QUOTED)}'; leave them out"
            )
    if len({masked(name, value) for value in values}) < len(set(values)):
        raise ValueError(
            f"env {name} has values that results could not tell apart, because secrets are masked; give one"
        )


def words_of(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """List a value or several."""
    return (value,) if isinstance(value, str) else value


def check_stage(stage: str) -> None:
    """Raise InputError if it cannot be a folder of a host."""
    if not stage.startswith("/") or visible(stage) != stage:
        raise InputError(
            f"stage '{shortened(stage, _MOST_QUOTED)}' is no absolute path; give a folder of each host's "
            "own, such as /tmp/steelyard"
        )


def check_modules(values: Sequence[str]) -> None:
    """Raise ValueError, in a sentence, for an invalid list of modules."""
    for value in values:
        if value != UNSET:
            try:
                module_names(value)
            except ValueError as error:
                raise ValueError(f"modules {error}") from None


def check_wrappers(values: Sequence[str]) -> None:
    """Raise ValueError, in a sentence, for a command that the engine cannot follow."""
    for value in values:
        if visible(value) != value:
            quoted = shortened(value, _MOST_QUOTED)
            raise ValueError(f"wrapper has control characters in '{quoted}'; leave them out")
        try:
            words = shlex.split(value)
        except ValueError:
            quoted = shortened(value, _MOST_QUOTED)
            raise ValueError(f"wrapper '{quoted}' has a quote without its end; close it") from None
        if not words or not words[0]:
            raise ValueError("wrapper has no words; give a command, or '-' for none")


def check_files(values: Sequence[str]) -> None:
    """Raise ValueError, in a sentence, for what cannot be a folder of a host."""
    for value in values:
        if not value.startswith("/") or visible(value) != value:
            raise ValueError(
                f"files '{shortened(value, _MOST_QUOTED)}' is no absolute path; give a folder of the file "
                "system to measure, such as /scratch"
            )


def read_around(given: Mapping[str, Sequence[str] | None]) -> dict[str, tuple[str, ...]]:
    """Read modules, wrappers and folders for files of the command line, by their keys. Raises InputError."""
    found = {name: tuple(words) for name, words in given.items() if words}
    if "files" in found:
        folders = (one for word in found["files"] for one in values_in(word, "--files"))
        found["files"] = tuple(os.path.normpath(home_path(folder).absolute()) for folder in folders)
    try:
        check_modules(found.get("modules", ()))
        check_wrappers(found.get("wrapper", ()))
        check_files(found.get("files", ()))
    except ValueError as error:
        raise InputError(f"--{error}") from None
    return found


def settings_axis(
    given: Settings,
    modules: Sequence[str],
    wrappers: Sequence[str],
    mpi: str | None,
    files: Sequence[str] = (),
) -> tuple[dict[str, str], ...]:
    """Make every combination of the variables that an MPI (by name; None: no MPI) may read, with modules,
    wrappers and folders for files, each once.

    MPICH reads no settings of Open MPI, so it is not measured with each of their values.
    """
    family = None if mpi is None else mpi.partition("-")[0]
    read = {name: words_of(value) for name, value in given.items() if is_read(name, family)}
    around = {MODULES: tuple(" ".join(text.split()) for text in modules), WRAPPER: tuple(wrappers)}
    around[FILES] = tuple(files)
    read |= {name: tuple(dict.fromkeys(values)) for name, values in around.items() if values}
    return tuple(dict(zip(read, combination, strict=True)) for combination in product_of(*read.values()))


def unread(environments: Iterable[Settings], families: Collection[str]) -> tuple[str, ...]:
    """List the variables of environments that none of these families of MPI reads, and others do."""
    names = dict.fromkeys(name for given in environments for name in given)
    return tuple(name for name in names if not any(is_read(name, one) for one in families or (None,)))


def unread_notes(environments: Iterable[Settings], families: Collection[str]) -> Iterator[str]:
    """Name those of each MPI in a sentence."""
    found: dict[str, list[str]] = {}
    for name in unread(environments, families):
        found.setdefault(readers(name), []).append(name)
    for mpi, names in found.items():
        one = len(names) == 1
        subject, what = ("is", "it is a variable") if one else ("are", "they are variables")
        measured = "are" if " and " in mpi else "is"
        told = joined(names) if len(names) <= _MOST_TOLD else f"{names[0]} and {len(names) - 1} more"
        yield f"{told} {subject} not set: {what} of {mpi}, which {measured} not measured"


def read_env_words(words: Sequence[str]) -> dict[str, str | tuple[str, ...]]:
    """Read variables of the command line, `UCX_TLS=tcp,self`. Raises InputError.

    Values of MPI's settings have commas, so each further value needs another word.
    """
    settings: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise InputError(
                f"--env {visible(word)} is not of the form NAME=VALUE, as in --env UCX_TLS=tcp,self"
            )
        settings[name] = tuple(dict.fromkeys((*settings.get(name, ()), value)))
        try:
            check_variable(name, settings[name])
        except ValueError as error:
            raise InputError(str(error).replace("env ", "--env ", 1)) from None
    return {name: values[0] if len(values) == 1 else values for name, values in settings.items()}
