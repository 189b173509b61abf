"""A reader who types a page from its top gets to its end: in a clean folder each page is one script.

Nothing is measured: records are written as engines would have. All else is done: folders that exist are
refused or resumed, tables, reports and files are made.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Steelyard
from further import further
from made_campaigns import MadeCampaigns
from page_scripts import reader, script_of, scripts, type_step, what_failed


@pytest.fixture
def steelyard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Steelyard:
    return reader(tmp_path, capsys, monkeypatch, MadeCampaigns())


# They measure or judge many test cases: each takes 4 to 30 s.
_LONG = (
    "docs/analysis/acceptance.md",
    "docs/analysis/guidelines.md",
    "docs/analysis/tuning.md",
    "docs/howto.md",
)


@pytest.mark.parametrize("page", [further(page) if page in _LONG else page for page in scripts()])
def test_a_page_is_a_script(page: str, steelyard: Steelyard, monkeypatch: pytest.MonkeyPatch) -> None:
    assert what_failed(page, steelyard, monkeypatch) == []


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
    assert "there is no results folder 'results/a'" in (type_step(shows, steelyard, monkeypatch) or "")
    assert "my.toml" in (type_step(runs, steelyard, monkeypatch) or "")
