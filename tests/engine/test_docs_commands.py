"""Each `steelyard ...` on the pages is a command: it is taken as far as the first launch, and no further."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import os
import pkgutil
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import steelyard as steelyard_package
from commands import Steelyard, steelyard_of
from make_records import BEGAN_NS, FakePoint, steady, write_folder
from pages import ROOT, Snippet, commands, snippets, words_of
from points import describe as describe_once
from steelyard import validate
from steelyard.base.errors import InputError, MeasurementError
from steelyard.campaign.folder import open_folder
from steelyard.engines.build import describe, mpi_engine
from steelyard.engines.mpi import choose_mpi, find_mpis
from steelyard.system.machine import Machine, read_machine
from steelyard.system.topology import Cpu, Topology, read_topology

_COMMANDS = commands("steelyard")
_IN_ALLOCATIONS = commands("salloc")
_CORES = 8  # of the machine that the pages are written for
_POINTS = [FakePoint("mpi.pingpong", steady(1e3), mpi=mpi) for mpi in ("openmpi-4.1.4", "mpich-4.0.2")]
_SIDES = [FakePoint(op, steady(1e3), mpi="openmpi-4.1.4") for op in ("mpi.gather", "mpi.gatherv")]
_READ = ("show", "report", "compare", "export", "plot", "accept")  # commands that read results
_EXTRAS = {"parquet": "polars", "png": "matplotlib", "pdf": "matplotlib"}  # formats that need a module
_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-15" speed="1Gf" bw="10GBps" lat="1us"/>
</platform>
"""


def _import_all() -> None:
    """All of the package: a module that a command imports later would take, and keep, what stands instead."""
    for module in pkgutil.walk_packages(steelyard_package.__path__, f"{steelyard_package.__name__}."):
        importlib.import_module(module.name)


def _instead(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], other: Callable[..., Any]
) -> None:
    """Another function in every module that has this one, by whatever name."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("steelyard"):
            for name, value in list(vars(module).items()):
                if value is function:
                    monkeypatch.setattr(module, name, other)


def _machine(*_: object) -> Machine:
    cpus = tuple(range(_CORES))
    return msgspec.structs.replace(read_machine(), cores=tuple((i,) for i in cpus), cpus=cpus, online=cpus)


def _topology(*_: object) -> Topology:
    """Two to an L3, four to a package."""
    return Topology(
        tuple(Cpu(i, core=i, l3=i // 2, package=i // 4) for i in range(_CORES)), tuple(range(_CORES))
    )


def _would_measure(folder: Path, plan: Any, points: tuple[Any, ...], *_: object) -> None:
    raise MeasurementError(f"would measure {len(points)} points")


def _would_simulate(*_: object) -> None:
    raise MeasurementError("would simulate")


def _missing_mpi(words: list[str]) -> str | None:
    """An MPI that a command asks for and that is not here."""
    here = {word for mpi in find_mpis() for word in (mpi.family, mpi.origin, mpi.name)}
    asked = [word for flag, word in itertools.pairwise(words) if flag == "--mpi"]
    arms = [word for flag, word in itertools.pairwise(words) if flag == "--arms"]
    asked += [word.removeprefix("mpi=") for word in arms if word.startswith("mpi=")]
    asked += words[2:] if words[:2] == ["mpi", "build"] else []
    return next((name for one in asked for name in one.split(",") if name not in here), None)


def _added_by_the_page(command: Snippet) -> str | None:
    """A word of the command that code on the same page gives a name to: `.name = "spaced"`."""
    code = (snippet.text for snippet in snippets() if (snippet.page, snippet.kind) == (command.page, "c"))
    names = {name for text in code for name in re.findall(r'\.name = "([\w-]+)"', text)}
    return next((word for word in words_of(command) if word in names), None)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the pages speak of: results of earlier steps, a plan, a platform."""
    root = tmp_path_factory.mktemp("made")
    lines = [words_of(command) for command in _COMMANDS]
    read = [words for words in lines if words[0] in _READ or "--retry" in words]
    named = {word for words in read for word in words if word.startswith("results/")}
    for seed, folder in enumerate(sorted(named), 1):
        write_folder(root / folder, _POINTS, 3, seed)
    write_folder(root / "results/guidelines", _SIDES, launches=8)
    for seed, folder in enumerate(("results/before", "results/now"), 1):
        write_folder(root / folder, _SIDES, 3, seed)
    for night in range(1, 14):  # that are the same but for what a night adds
        points = [FakePoint("mpi.allreduce", steady(1e3 + 10 * (night % 3), count=60, between=0.001))]
        began = BEGAN_NS + night * 86_400 * 10**9
        write_folder(root / "nights" / f"2026-11-{10 + night}", points, 3, night, began_ns=began)
    (root / "my-cluster.xml").write_text(_PLATFORM)
    (root / "my.toml").write_text('[[measure]]\nops = ["self.empty"]\n')
    return root


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of that folder, to be in."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BASH_FUNC_module%%", '() { export LOADEDMODULES="$*"; }')
    container = tmp_path / "bin" / "apptainer"
    container.parent.mkdir()
    container.touch(0o755)
    monkeypatch.setenv("PATH", str(container.parent), prepend=os.pathsep)


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    call = steelyard_of(capsys, monkeypatch)
    _measure_nothing(monkeypatch)
    return call


def _measure_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command ends where it would measure; the machine is the one that the pages are written for."""
    _import_all()
    _instead(monkeypatch, open_folder, _would_measure)
    _instead(monkeypatch, validate.validate, _would_simulate)
    _instead(monkeypatch, describe, describe_once)
    _instead(monkeypatch, read_topology, _topology)
    _instead(monkeypatch, read_machine, lambda *_: _machine())


def test_a_command_that_is_imported_meanwhile_measures_again_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Modules of commands are imported when they are called: nothing may stay in them for other tests."""
    monkeypatch.setattr(importlib.import_module("steelyard.cli"), "run", None, raising=False)
    monkeypatch.delitem(sys.modules, "steelyard.cli.run", raising=False)
    with pytest.MonkeyPatch.context() as patch:
        _measure_nothing(patch)
        module = importlib.import_module("steelyard.cli.run")
        assert _would_measure in vars(module).values()
    assert _would_measure not in vars(module).values()
    assert open_folder in vars(module).values()


def test_there_are_commands() -> None:
    assert {words_of(command)[0] for command in _COMMANDS} >= {
        "run",
        "list",
        "show",
        "report",
        "validate",
        "mpi",
    }


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("command", _COMMANDS, ids=str)
def test_a_command_of_a_page_is_one(command: Snippet, steelyard: Steelyard) -> None:
    words = words_of(command)
    if name := _added_by_the_page(command):
        pytest.skip(f"{name} is what the page shows how to add: see test_docs_contributing.py")
    if name := _missing_mpi(words):
        pytest.skip(f"no {name} MPI was found")
    for word in {word.rpartition(".")[2] for word in words} & _EXTRAS.keys():
        pytest.importorskip(_EXTRAS[word])
    if command.kind == "span" and len(words) == 1:  # its name, in a sentence
        words += ["--help"]
    said = steelyard(*words)
    ends = {"run": (3, "would measure"), "validate": (3, "would simulate")}
    goes_no_further = {"--help", "--dry-run"} & set(words)
    if words[:2] == ["check", "guidelines"] or words[0] == "accept":
        of_one = (word.startswith("results/") for one, word in itertools.pairwise(words) if one[:2] != "--")
        words[0] = words[0] if any(of_one) else "run"  # it measures
    if "--tonight" in words:  # both folders are of the same MPI, so that there is nothing to measure
        words[0], ends["tonight"] = "tonight", (2, "was measured with tonight's MPI")
    code, words_on_stderr = (0, "") if goes_no_further else ends.get(words[0], (0, ""))
    assert said.code == code, f"{command.text}: {said.err}"
    assert words_on_stderr in said.err


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("command", _IN_ALLOCATIONS, ids=str)
def test_a_command_in_an_allocation_is_one(
    command: Snippet, steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes, *_, words = command.text.partition("--nodes=")[2].partition(" --exclusive steelyard ")
    hosts = [f"n{number + 1} {_CORES}" for number in range(int(nodes))]
    monkeypatch.setenv("LSB_MCPU_HOSTS", " ".join(hosts))  # of the batch systems the one that needs no file
    said = steelyard(*shlex.split(words))
    assert said.code == 3, f"{command.text}: {said.err}"
    assert "would measure" in said.err


def test_there_are_commands_in_allocations() -> None:
    assert any("run hosts" in command.text for command in _IN_ALLOCATIONS)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("plan", [one for one in snippets() if one.kind == "toml"], ids=str)
def test_a_plan_of_a_page_is_one(plan: Snippet, steelyard: Steelyard) -> None:
    Path("a.toml").write_text(plan.text)
    said = steelyard("run", "a.toml")
    assert said.code == 3, said.err
    assert "would measure" in said.err


def test_the_page_of_ops_is_what_the_engine_says() -> None:
    """docs/generate.py was run after the last change of a row, a method, a rule or a parameter."""
    script = ROOT / "docs" / "generate.py"
    if not script.is_file():
        pytest.skip("no docs beside this package")
    spec = importlib.util.spec_from_file_location("generate", script)
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    try:
        engine = mpi_engine(choose_mpi("embedded"))
    except InputError as error:
        pytest.skip(str(error))
    assert generate.PAGE.read_text(encoding="utf-8") == generate.page(describe(engine))
