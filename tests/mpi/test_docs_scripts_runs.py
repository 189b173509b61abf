"""Each page is a script that measures: one launch, for a second, of what two cores can.

The rest of the pages is in tests/engine/test_docs_scripts.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from made_campaigns import MadeCampaigns, is_small
from page_scripts import reader, scripts, what_failed

pytestmark = pytest.mark.further


@pytest.mark.parametrize("page", scripts())
def test_a_page_is_a_script_that_measures(
    page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steelyard = reader(tmp_path, capsys, monkeypatch, MadeCampaigns(is_small))
    assert what_failed(page, steelyard, monkeypatch) == []
