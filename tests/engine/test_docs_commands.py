"""Each `steelyard ...` in a sentence of the pages is a command: it is taken as far as the first launch.

What stands in fences is typed one after the other in test_docs_scripts.py.
"""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from commands import Steelyard, steelyard_of
from make_records import BEGAN_NS, FakePoint, steady, write_folder
from page_machine import at_a_site, instead, missing_mpi, on_eight_cores
from page_scripts import scripts
from pages import ROOT, Snippet, commands, snippets, words_of
from steelyard import validate
from steelyard.base.errors import InputError, MeasurementError
from steelyard.campaign.folder import open_folder
from steelyard.engines.build import describe, mpi_engine
from steelyard.engines.mpi import choose_mpi
from steelyard.engines.shmem import choose_shmem
from steelyard.judges.accept import read_limits

_TYPED = {step for steps in scripts().values() for step in steps}
_COMMANDS = [command for command in commands("steelyard") if command not in _TYPED]

_FILES = [one for one in snippets() if one.kind == "toml"]  # plans, and the limits of a site
_LIMIT = "[[limit]]"


def _would_measure(folder: Path, plan: Any, points: tuple[Any, ...], *_: object) -> None:
    raise MeasurementError(f"would measure {len(points)} points")


def _would_simulate(*_: object) -> None:
    raise MeasurementError("would simulate")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the nights that the pages speak of: they are the same but for what a night adds."""
    root = tmp_path_factory.mktemp("made")
    for night in range(1, 14):
        points = [FakePoint("mpi.allreduce", steady(1e3 + 10 * (night % 3), count=60, between=0.001))]
        began = BEGAN_NS + night * 86_400 * 10**9
        write_folder(root / "nights" / f"2026-11-{10 + night}", points, 3, night, began_ns=began)
    return root


@pytest.fixture
def here(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of that folder, to be in."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    at_a_site(monkeypatch, tmp_path / "site")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    call = steelyard_of(capsys, monkeypatch)
    _measure_nothing(monkeypatch)
    return call


def _measure_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command ends where it would measure; the machine is the one that the pages are written for."""
    on_eight_cores(monkeypatch)
    instead(monkeypatch, open_folder, _would_measure)
    instead(monkeypatch, validate.validate, _would_simulate)


def test_a_command_that_is_imported_meanwhile_measures_again_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Modules of commands are imported when they are called: nothing may stay in them for other tests."""
    monkeypatch.setattr(importlib.import_module("steelyard.session"), "measure", None, raising=False)
    monkeypatch.delitem(sys.modules, "steelyard.session.measure", raising=False)
    with pytest.MonkeyPatch.context() as patch:
        _measure_nothing(patch)
        module = importlib.import_module("steelyard.session.measure")
        assert _would_measure in vars(module).values()
    assert _would_measure not in vars(module).values()
    assert open_folder in vars(module).values()


def test_there_are_commands() -> None:
    """In sentences or in scripts."""
    assert {words_of(command)[0] for command in commands("steelyard")} >= {
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
    if name := missing_mpi(words):
        pytest.skip(f"no {name} MPI was found")
    if len(words) == 1:  # its name, in a sentence
        words += ["--help"]
    said = steelyard(*words)
    ends = {"run": (3, "would measure"), "validate": (3, "would simulate")}
    goes_no_further = {"--help", "--dry-run"} & set(words)
    if words[:2] == ["check", "guidelines"] or words[0] in ("tune", "accept"):  # they measure
        words[0] = "run"
    code, words_on_stderr = (0, "") if goes_no_further else ends.get(words[0], (0, ""))
    assert said.code == code, f"{command.text}: {said.err}"
    assert words_on_stderr in said.err


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("plan", [one for one in _FILES if _LIMIT not in one.text], ids=str)
def test_a_plan_of_a_page_is_one(plan: Snippet, steelyard: Steelyard) -> None:
    Path("a.toml").write_text(plan.text)
    said = steelyard("run", "a.toml")
    assert said.code == 3, said.err
    assert "would measure" in said.err


@pytest.mark.parametrize("limits", [one for one in _FILES if _LIMIT in one.text], ids=str)
def test_limits_of_a_page_are_read(limits: Snippet, tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text(limits.text)
    assert read_limits(path)


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
        engines = [mpi_engine(library) for library in (choose_mpi("embedded"), choose_shmem("oshmem"))]
    except InputError as error:
        pytest.skip(str(error))
    said = generate.merged([describe(engine) for engine in engines])
    assert generate.PAGE.read_text(encoding="utf-8") == generate.page(said)
