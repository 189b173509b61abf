"""The machine that the pages are written for, of eight cores, where nothing is measured."""

from __future__ import annotations

import functools
import importlib
import itertools
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

import steelyard as steelyard_package
from pages import Snippet, snippets, words_of
from points import describe as describe_once
from scripts import script
from steelyard.engines.build import Engine, describe
from steelyard.engines.description import Description
from steelyard.engines.mpi import find_mpis
from steelyard.system.machine import Machine, read_machine
from steelyard.system.topology import Cpu, Topology, read_topology

CORES = 8


def import_all() -> None:
    """All of the package: a module that a command imports later would take, and keep, what stands instead."""
    for name in _module_names():
        importlib.import_module(name)


@functools.cache
def _module_names() -> tuple[str, ...]:
    prefix = f"{steelyard_package.__name__}."
    found = (module.name for module in pkgutil.walk_packages(steelyard_package.__path__, prefix))
    # No command imports an adapter, whose framework may be missing.
    return tuple(name for name in found if not name.startswith(f"{prefix}adapters."))


def instead(monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], other: Callable[..., Any]) -> None:
    """Another function in every module that has this one, by whatever name."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("steelyard"):
            for name, value in list(vars(module).items()):
                if value is function:
                    monkeypatch.setattr(module, name, other)


def _describe(engine: Engine, libraries: Sequence[str] = ()) -> Description:
    return describe(engine, libraries=libraries) if libraries else describe_once(engine)


def on_eight_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all commands of this process see that machine; an engine describes itself once for all of them."""
    import_all()
    instead(monkeypatch, describe, _describe)
    instead(monkeypatch, read_topology, _topology)
    instead(monkeypatch, read_machine, _machine)


def at_a_site(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let there be what the pages speak of and not each machine has: modules, containers."""
    script(folder / "apptainer", "exit 1")
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("BASH_FUNC_module%%", '() { export LOADEDMODULES="$*"; }')


def allocation(nodes: int) -> tuple[str, str]:
    """The variable by which a process knows so many hosts, and its value: of the one batch system that needs
    no file.
    """
    return "LSB_MCPU_HOSTS", " ".join(f"n{number + 1} {CORES}" for number in range(nodes))


_READ_HERE = read_machine


def _machine(*_: object) -> Machine:
    cpus = tuple(range(CORES))
    return msgspec.structs.replace(_READ_HERE(), cores=tuple((i,) for i in cpus), cpus=cpus, online=cpus)


def _topology(*_: object) -> Topology:
    """Two to an L3, four to a package."""
    return Topology(
        tuple(Cpu(i, core=i, l3=i // 2, package=i // 4) for i in range(CORES)), tuple(range(CORES))
    )


def missing_mpi(words: list[str]) -> str | None:
    """An MPI that a command asks for and that is not here."""
    here = {word for mpi in find_mpis() for word in (mpi.family, mpi.origin, mpi.name)}
    asked = [word for flag, word in itertools.pairwise(words) if flag == "--mpi"]
    arms = [word for flag, word in itertools.pairwise(words) if flag == "--arms"]
    asked += [word.removeprefix("mpi=") for word in arms if word.startswith("mpi=")]
    asked += words[2:] if words[:2] == ["mpi", "build"] else []
    return next((name for one in asked for name in one.split(",") if name not in here), None)


def added_by_the_page(command: Snippet) -> str | None:
    """A word of the command that code on the same page gives a name to: `.name = "spaced"`."""
    return next((word for word in words_of(command) if word in _names_added(command.page)), None)


@functools.cache
def _names_added(page: str) -> frozenset[str]:
    code = (one.text for one in snippets() if one.page == page and one.kind in ("c", "diff"))
    return frozenset(name for text in code for name in re.findall(r'\.name = "([\w.-]+)"', text))
