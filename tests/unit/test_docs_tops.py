"""How pages begin: with what they answer, long ones with their contents; and how to cite, from one file."""

from __future__ import annotations

import re

import pytest

import steelyard
from pages import ROOT, page_files

# What opens no answer: a table, a list, a command, a question.
_NO_ANSWER = ("```", "|", "- ", "> ", "#", "    ", "**Question", "**The problem")
_LONG = ("docs/howto.md", "CONTRIBUTING.md")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    found = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in page_files()}
    if not found:
        pytest.skip("no docs beside this package")
    return found


def test_each_page_begins_with_what_it_answers(pages: dict[str, str]) -> None:
    tops = {page: text.partition("\n\n")[2].partition("\n\n")[0] for page, text in pages.items()}
    assert {page for page, top in tops.items() if top.startswith(_NO_ANSWER) or top.endswith("?")} == set()


@pytest.mark.parametrize("page", _LONG)
def test_a_long_page_begins_with_its_contents(pages: dict[str, str], page: str) -> None:
    """That each link leads to a heading is in test_docs.py."""
    top, *sections = re.split(r"^## ", pages[page], flags=re.MULTILINE)
    listed = re.findall(r"\]\(#([\w-]+)\)", top)
    assert len(listed) == len(set(listed)) == len(sections)


def test_the_entry_to_cite_is_that_of_the_citation_file(pages: dict[str, str]) -> None:
    entry = re.search(r"^```bibtex\n@software\{(.*?)^```", pages["README.md"], re.MULTILINE | re.DOTALL)
    assert entry is not None
    told = dict(re.findall(r"^  (\w+) += \{(.*)\},?$", entry[1], re.MULTILINE))
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    file = {
        key.strip(" -"): value.strip(' "') for key, colon, value in (line.partition(":") for line in lines)
    }
    assert told == {
        "author": f"{{{file['name']}}}",
        "title": file["title"],
        "version": file["version"],
        "year": file["date-released"][:4],
        "license": file["license"],
    }
    assert file["version"] == steelyard.__version__
