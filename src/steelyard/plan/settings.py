"""Variables of the environment as axes of a plan; among them MPI's own settings, each for its MPI alone."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from steelyard.base.errors import InputError
from steelyard.base.foreign import visible

Settings = Mapping[str, str | tuple[str, ...]]  # a variable -> a value or several

# How variables begin that are settings of one library -> the families of MPI that read them.
_READ_BY: Mapping[str, tuple[str, ...]] = {
    "OMPI_": ("openmpi",),
    "PRTE_MCA_": ("openmpi",),
    "PMIX_MCA_": ("openmpi",),
    "MPICH_": ("mpich",),
    "MPIR_CVAR_": ("mpich", "intel"),
    "I_MPI_": ("intel",),
}
_FAMILIES = frozenset(family for families in _READ_BY.values() for family in families)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_OURS = "STEELYARD_"  # variables by which the package speaks to its engines


def check_variable(name: str, values: Sequence[str]) -> None:
    """Raises ValueError, in a sentence, for what is no variable or no value that a program can be given."""
    if not _NAME.fullmatch(name) or name.startswith(_OURS):
        raise ValueError(f"env '{visible(name)}' is no variable that a launch can be given")
    for value in values:
        if visible(value) != value:
            raise ValueError(f"env {name} has control characters in '{visible(value)}'; leave them out")


def settings_axis(given: Settings, mpi: str | None) -> tuple[dict[str, str], ...]:
    """Every combination of those variables that an MPI (by name; None: no MPI) may read, each once.

    A setting of Open MPI is none of MPICH, which would be measured with each of its values for nothing.
    """
    family = None if mpi is None else mpi.partition("-")[0]
    read = {name: (value,) if isinstance(value, str) else value for name, value in given.items()}
    read = {name: values for name, values in read.items() if _is_read(name, family)}
    return tuple(
        dict(zip(read, combination, strict=True)) for combination in itertools.product(*read.values())
    )


def _is_read(name: str, family: str | None) -> bool:
    """May an MPI of a family (None: no MPI) read a variable? One of which we know nothing may read any."""
    for start, families in _READ_BY.items():
        if name.startswith(start):
            return family in families or (family is not None and family not in _FAMILIES)
    return True


def read_env_words(words: Sequence[str]) -> dict[str, str | tuple[str, ...]]:
    """Variables as the command line gives them, `UCX_TLS=tcp,self`. Raises InputError.

    Values of MPI's settings have commas, so that another value is given by another word.
    """
    settings: dict[str, tuple[str, ...]] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise InputError(
                f"--env {visible(word)} is not of the form NAME=VALUE, as in --env UCX_TLS=tcp,self"
            )
        try:
            check_variable(name, (value,))
        except ValueError as error:
            raise InputError(str(error).replace("env ", "--env ", 1)) from None
        settings[name] = tuple(dict.fromkeys((*settings.get(name, ()), value)))
    return {name: values[0] if len(values) == 1 else values for name, values in settings.items()}
