"""The pages: links lead somewhere, each page is reached from the first, and no sentence opens with "Of"."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from steelyard.engines.build import engine_folder

ROOT = engine_folder().parent
FIRST = "docs/index.md"
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(\s*([^)\s]+)\s*\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
_OPENS_WITH_OF = re.compile(r"(?:^|[.:;!?] |[|*>-] )Of\b.*$", re.MULTILINE)
_OP = re.compile(r"`((?:file|mem|mpi|ofi|omp|pthread|shm|shmem|sock|ucx)\.[a-z0-9_.]*[a-z0-9_])`")
_PAGE_IN_TEXT = re.compile(r"docs/[\w/-]+\.(?:md|jsonl?)\b")

Pages = Mapping[str, str]


def _prose(text: str) -> str:
    return _FENCE.sub("", text)


def _links(page: str, text: str) -> Iterator[tuple[str, str]]:
    """The targets of a page's relative links: path from the root, and fragment."""
    for target in _LINK.findall(_prose(text)):
        if "://" in target or target.startswith("mailto:"):
            continue
        path, _, fragment = target.partition("#")
        yield (posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page), fragment


def _anchors(text: str) -> set[str]:
    """The headings of a page, as GitHub names them."""
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
        for heading in _HEADING.findall(_prose(text))
    }


def broken_links(pages: Pages, exists: Callable[[str], bool]) -> list[str]:
    """Links to a file that is not there, or to a heading that its page does not have."""
    return [
        f"{page}: {path}{'#' + fragment if fragment else ''}"
        for page, text in pages.items()
        for path, fragment in _links(page, text)
        if not exists(path) or (fragment and path in pages and fragment not in _anchors(pages[path]))
    ]


def unreachable(pages: Pages, first: str) -> set[str]:
    """Pages that no chain of links from the first one leads to."""
    seen, ahead = set[str](), {first}
    while ahead:
        page = ahead.pop()
        seen.add(page)
        ahead |= {path for path, _ in _links(page, pages[page]) if path in pages} - seen
    return set(pages) - seen


def opening_with_of(pages: Pages) -> list[str]:
    """Sentences that say what they are about only after their verb."""
    return [
        f"{page}: {found.group()}"
        for page, text in pages.items()
        for found in _OPENS_WITH_OF.finditer(_prose(text))
    ]


@pytest.fixture(scope="module")
def pages() -> Pages:
    if not (ROOT / FIRST).is_file():
        pytest.skip("no docs beside this package")
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}


def test_every_link_leads_somewhere(pages: Pages) -> None:
    assert not broken_links(pages, lambda path: (ROOT / path).exists())


def test_every_page_is_reached_from_the_first(pages: Pages) -> None:
    assert unreachable(pages, FIRST) <= {"CHANGELOG.md"}


def test_no_sentence_opens_with_of(pages: Pages) -> None:
    assert not opening_with_of(pages)


def test_no_sentence_of_the_code_opens_with_of() -> None:
    """Comments, docstrings, messages and the engine's summaries."""
    opens = re.compile(r"(?:[.:;!?] |\"|# |/\* )Of [a-z`].*$", re.MULTILINE)
    texts = {file: file.read_text(encoding="utf-8") for name in ("src", "engine") for file in _files(name)}
    assert not {(file.name, found.group()) for file, text in texts.items() for found in opens.finditer(text)}


def _files(name: str) -> list[Path]:
    return [file for file in (ROOT / name).rglob("*") if file.suffix in {".py", ".c", ".h", ".j2"}]


def _sources() -> list[Path]:
    names = ("src/steelyard", "engine", "plans", "tests", "benchmarks")
    kinds = {".py", ".c", ".h", ".toml", ".j2", ".cpp", ".json"}
    return [file for name in names for file in (ROOT / name).rglob("*") if file.suffix in kinds]


def test_ops_that_their_pages_name_exist(pages: Pages) -> None:
    """Or begin the names of some, as mpi.pattern does."""
    known = set(_OP.findall(pages["docs/reference/ops.md"]))
    known |= {name.rpartition(".")[0] for name in known}
    texts = {page: text for page, text in pages.items() if page.startswith("docs/ops/")}
    assert len(texts) > 10
    assert [
        (page, name) for page, text in texts.items() for name in _OP.findall(text) if name not in known
    ] == []


def test_pages_that_the_code_names_exist(pages: Pages) -> None:
    named = {
        (file.name, page)
        for file in _sources()
        if file.name != Path(__file__).name
        for page in _PAGE_IN_TEXT.findall(file.read_text(encoding="utf-8"))
    }
    assert named  # a plan names the page of its analysis
    assert not {(file, page) for file, page in named if not (ROOT / page).is_file()}


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("[a](b.md)", []),
        ("[a](c.md)", ["docs/a.md: docs/c.md"]),
        ("[a](../docs/b.md#two-words)", []),
        ("[a](b.md#three)", ["docs/a.md: docs/b.md#three"]),
        ("[a](https://example.org/c.md)", []),
        ("```\n[a](c.md)\n```", []),
        ("[a\nb](c.md)", ["docs/a.md: docs/c.md"]),
    ],
)
def test_a_planted_link_is_seen(text: str, broken: list[str]) -> None:
    made = {"docs/a.md": text, "docs/b.md": "# Two words\n"}
    assert broken_links(made, made.__contains__) == broken


def test_a_planted_page_without_a_link_is_seen() -> None:
    made = {"docs/a.md": "[b](b.md)", "docs/b.md": "", "docs/c.md": "[a](a.md)"}
    assert unreachable(made, "docs/a.md") == {"docs/c.md"}


@pytest.mark.parametrize("text", ["Of these two one.", "It is. Of these", "| a | Of these |", "- Of these"])
def test_a_planted_sentence_is_seen(text: str) -> None:
    assert opening_with_of({"docs/a.md": text})
    assert not opening_with_of({"docs/a.md": text.replace("Of", "One of")})
