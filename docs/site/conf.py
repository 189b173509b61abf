"""Makes the site: `make site`. Its pages are those that a forge shows, too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

project = "Steelyard"
author = "Steelyard contributors"
copyright = author  # noqa: A001 (the name that Sphinx reads)
version = release = re.findall(
    r'^__version__ = "(.*)"', (ROOT / "src/steelyard/__init__.py").read_text(encoding="utf-8"), re.MULTILINE
)[0]

extensions = ["myst_parser"]
include_patterns = ["docs/**", "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
exclude_patterns = ["docs/site/**"]
root_doc = "docs/index"
myst_heading_anchors = 4  # as deep as pages link
nitpicky = True

html_theme = "furo"
html_title = f"Steelyard {version}"
html_static_path = ["report.png"]
templates_path = ["."]
html_additional_pages = {"index": "landing.html"}
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None  # the same sources make the same bytes

# The sections of the first page's tree: heading, and its pages or their folder.
_TREE = (
    ("Begin", ("/README", "/docs/tutorial", "/docs/install", "/docs/howto")),
    ("Know", ("/docs/comparison", "/docs/glossary")),
    ("Reference", "reference"),
    ("Methods", "methods"),
    ("Stop rules", "rules"),
    ("Operations", "ops"),
    ("Analyses", "analysis"),
    ("What was measured", "results"),
    ("Inside", "internals"),
    (
        "The project",
        ("/docs/security", "/docs/policy", "/docs/release-notes", "/CONTRIBUTING", "/SECURITY", "/CHANGELOG"),
    ),
)


def _tree() -> str:
    """Write the tree of all pages, which a forge would show as code."""
    trees = []
    for title, pages in _TREE:
        if isinstance(pages, str):
            pages = tuple(
                f"/docs/{pages}/{file.stem}" for file in sorted((ROOT / "docs" / pages).glob("*.md"))
            )
        trees.append("\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *pages, "```"]))
    return "\n\n".join(trees)


def _add_tree(_app: Any, name: str, source: list[str]) -> None:
    if name == root_doc:
        source[0] += f"\n\n{_tree()}\n"


def setup(app: Any) -> None:
    """Connect to Sphinx."""
    app.connect("source-read", _add_tree)
