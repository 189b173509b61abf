"""The site: pages are read without a warning, nothing is loaded from elsewhere, and it can be searched."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.further

_ROOT = Path(__file__).parents[2]
_BUILDER = _ROOT / "build" / "site-tools" / "bin" / "sphinx-build"
# What a browser loads by itself; links that somebody follows may lead elsewhere.
_LOADED = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=["']((?:https?:)?//[^"']*)""")


def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    assert _BUILDER.exists(), f"{_BUILDER} is missing; type: make build/site-tools/installed"
    site = tmp_path / "site"
    words = ["--quiet", "--fail-on-warning", "-c", "docs/site", "-d", str(tmp_path / "read"), ".", str(site)]
    done = subprocess.run([str(_BUILDER), *words], cwd=_ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    pages = {page.relative_to(site).as_posix(): page.read_text() for page in site.rglob("*.html")}
    ours = [*(_ROOT / "docs").rglob("*.md"), *_ROOT.glob("*.md")]
    assert {page.relative_to(_ROOT).with_suffix(".html").as_posix() for page in ours} <= pages.keys()
    assert {url for text in pages.values() for url in _LOADED.findall(text)} == set()
    landing = pages["index.html"]
    assert landing.count("steelyard run") + landing.count("make run") + landing.count("steelyard accept") == 3
    (picture,) = re.findall(r'<img src="(_static/report[^"]*)"', landing)
    assert (site / picture.partition("?")[0]).stat().st_size > 0
    assert "mpi.reduce_scatter_block" in pages["docs/reference/ops.html"]
    assert "guideline" in (site / "searchindex.js").read_text()
