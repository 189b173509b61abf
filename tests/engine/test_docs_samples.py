"""What pages show of the program's output has the tables and the words of today.

`docs/samples.py` takes the samples anew.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from made_campaigns import MadeCampaigns
from page_machine import instead, missing_mpi
from page_samples import Sample, Vocabulary, headings, prose, samples, shape, texts_of_the_program
from page_scripts import reader, words_typed
from pages import ROOT
from points import describe
from steelyard.base.errors import InputError
from steelyard.cli import console
from steelyard.engines.build import mpi_engine
from steelyard.engines.mpi import choose_mpi
from steelyard.render.terminal import Paper

_TERMINAL = Paper(width=80, is_pipe=False)
_TERM = re.compile(r"^- \*\*(.*?)\*\*", re.MULTILINE | re.DOTALL)  # that the README explains


@functools.cache
def vocabulary() -> Vocabulary:
    """That of the package, and what its engine says of its ops."""
    try:
        said = describe(mpi_engine(choose_mpi("embedded")))
    except InputError as error:
        pytest.skip(str(error))
    return Vocabulary((*texts_of_the_program(), *(op.summary for op in said.ops)))


def test_there_are_samples() -> None:
    found = samples()
    assert {sample.command.page for sample in found} >= {"README.md", "docs/tutorial.md", "docs/howto.md"}
    assert {one.command.page for one in found if headings(one.lines)} == {"README.md", "docs/tutorial.md"}


@pytest.mark.parametrize("sample", [one for one in samples() if not one.is_of_the_machine], ids=str)
def test_a_sample_has_the_words_of_today(sample: Sample) -> None:
    assert [strange for words in prose(sample.lines) for strange in vocabulary().strange(words)] == []


@pytest.mark.parametrize(
    "sample", [one for one in samples() if headings(one.lines) and not one.is_of_the_machine], ids=str
)
def test_a_sample_has_the_tables_of_today(
    sample: Sample, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words, _ = words_typed(sample.command)
    if name := missing_mpi(words):
        pytest.skip(f"no {name} MPI was found")
    steelyard = reader(tmp_path, capsys, monkeypatch, MadeCampaigns())
    instead(monkeypatch, console.paper, lambda: _TERMINAL)
    said = steelyard(*words)
    assert headings(sample.lines) - headings(said.out.splitlines()) == set()


def test_a_sample_of_the_machine_has_the_lines_of_today(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (sample,) = (one for one in samples() if one.is_of_the_machine)
    said = reader(tmp_path, capsys, monkeypatch, MadeCampaigns())(*words_typed(sample.command)[0])
    keys = {line.split()[0] for line in sample.lines if re.match(r"\w+  +\S", line)}
    assert keys >= {"host", "cpu", "clock", "mpi"}
    assert keys - {line.split()[0] for line in said.out.splitlines() if line.strip()} == set()


def test_the_readme_explains_words_that_tables_have() -> None:
    terms = [
        words
        for term in _TERM.findall((ROOT / "README.md").read_text())
        for words in prose(term.splitlines())
    ]
    assert ["drifts"] in terms
    assert [strange for words in terms for strange in vocabulary().strange(words)] == []


def test_a_word_that_is_not_said_any_more_is_seen() -> None:
    knows = Vocabulary(["the time limit ended", "in ", " of ", " launches", "a row of tables"])
    assert knows.strange(shape("the time limit ended 3 of 6 launches")) == []
    assert knows.strange(shape("the time bound ended")) == ["bound", "time bound", "bound ended"]
    assert knows.strange(shape("limit row")) == ["limit row"]


def test_headings_are_those_of_tables() -> None:
    lines = [
        "a sentence of words",
        " bytes    time      ±",
        "   8 B  354 ns  2.5 %",
        "Open MPI 4.1.4, 2 ranks",
    ]
    assert headings(lines) == {"bytes time ±"}
