"""A reader who types a page from its top gets to its end: in a clean folder each page is one script.

Nothing is measured: records are written as engines would have. The machine is the one that the pages are
written for. All else is done: folders that exist are refused or resumed, tables, reports and files are made.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Steelyard, steelyard_of
from page_machine import added_by_the_page, allocation, at_a_site, instead, missing_mpi, on_eight_cores
from page_scripts import PLATFORM, MadeCampaigns, is_code, is_file, script_of, scripts, went_well, words_typed
from pages import Snippet
from steelyard import validate
from steelyard.base.errors import MeasurementError
from steelyard.campaign.run import run_campaign

_SCRIPTS = scripts()
_EXTRAS = {"parquet": "polars", "png": "matplotlib", "pdf": "matplotlib"}  # formats that need a module


def _would_simulate(*_: object) -> None:
    raise MeasurementError("would simulate")


@pytest.fixture
def steelyard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Steelyard:
    """A command line under which nothing is measured, in a folder that has but what a site has."""
    call = steelyard_of(capsys, monkeypatch)
    on_eight_cores(monkeypatch)
    instead(monkeypatch, run_campaign, MadeCampaigns())
    instead(monkeypatch, validate.validate, _would_simulate)
    at_a_site(monkeypatch, tmp_path / "site")
    here = tmp_path / "here"
    here.mkdir()
    (here / "my-cluster.xml").write_text(PLATFORM)
    monkeypatch.chdir(here)
    return call


def _type(step: Snippet, steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """Do a step; returns what went wrong."""
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
    if name := missing_mpi(words):
        pytest.skip(f"no {name} MPI was found")
    for word in {word.rpartition(".")[2] for word in words} & _EXTRAS.keys():
        pytest.importorskip(_EXTRAS[word])
    with monkeypatch.context() as patch:
        if nodes:
            patch.setenv(*allocation(nodes))
        said = steelyard(*words)
    return None if went_well(words, said) else f"{step}: {step.text}: {said.code}: {said.err}"


@pytest.mark.parametrize("page", _SCRIPTS)
def test_a_page_is_a_script(page: str, steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = [_type(step, steelyard, monkeypatch) for step in _SCRIPTS[page]]
    assert [one for one in failed if one] == []


_PAGE = """# A page
`steelyard show results/a`, and `steelyard list`. Write this as `my.toml`:

```toml
name = "a"
```

```
$ steelyard run my.toml
steelyard is what it prints
$ for night in 1 2; do steelyard run quick --out nights/$night; done
```

```toml
name = "no file"
```
"""


def test_a_script_has_its_steps_in_order() -> None:
    found = [(step.line, step.kind, step.text) for step in script_of("page.md", _PAGE)]
    assert found == [
        (2, "span", "steelyard show results/a"),
        (5, "my.toml", 'name = "a"\n'),
        (9, "", "steelyard run my.toml"),
        (11, "", "steelyard run quick --out nights/1"),
        (11, "", "steelyard run quick --out nights/2"),
    ]


def test_a_step_that_needs_what_no_step_made_is_seen(
    steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch
) -> None:
    shows, _, runs, *_ = script_of("page.md", _PAGE)
    assert "there is no results folder 'results/a'" in (_type(shows, steelyard, monkeypatch) or "")
    assert "my.toml" in (_type(runs, steelyard, monkeypatch) or "")
