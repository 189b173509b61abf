"""Reports as a browser lays them out: nothing sideways, every number in sight, nothing endless.

Headless Chromium opens one page that holds the reports of all shipped plans in frames, which are wide and
then made narrow. The script that measures them is the test's; reports run none.
"""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from made_plans import PAGES, Report, made_arms
from steelyard.report import write_report

BROWSERS = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)
ARMS = "arms"  # a comparison, with names as long as they come
LAID_OUT = [*PAGES, ARMS]
PHONE, NARROW, WIDE = 390, 800, 1280
LEAST_SCALE = 0.9  # of a picture: with letters of 11 pixels, smaller ones are not read
LONGEST = 16_000  # CSS pixels: what is beyond the first screens is looked up, not read
FIRST_SCREEN = 800
BROWSER_SECONDS = 1800  # it takes half a minute, and ten where others want the cores

_MEASURE = """<script>onload = () => {
  const seen = width => Object.fromEntries([...document.querySelectorAll('iframe')].map(frame => {
    frame.style.width = width + 'px';
    const page = frame.contentDocument, inner = frame.contentWindow.innerWidth;
    const numbers = [...page.querySelectorAll('td.number')].filter(one => one.getClientRects().length);
    return [frame.id + '-' + width, {inner, scroll: page.documentElement.scrollWidth,
      height: page.body.scrollHeight,
      outside: numbers.filter(one => one.getBoundingClientRect().right > inner).map(one => one.textContent),
      cut: numbers.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent),
      strong: [...page.querySelectorAll('td.strong')].filter(one => one.getClientRects().length
        && one.getBoundingClientRect().right > inner).map(one => one.textContent),
      said: [...page.querySelectorAll('td.remark, td[colspan], td:first-child')].filter(one =>
        one.getClientRects().length && one.getBoundingClientRect().right > inner).map(one => one.textContent),
      scale: Math.min(...[...page.querySelectorAll('figure > svg')].filter(one => one.getClientRects().length)
        .map(one => one.getBoundingClientRect().width / one.viewBox.baseVal.width)),
      behind: [...page.querySelectorAll('figure > svg > svg')].filter(one => one.getClientRects().length
        && one.ownerSVGElement.getBoundingClientRect().left + one.x.baseVal.value > inner / 2).length,
      first: page.querySelector('main svg').getBoundingClientRect().top}];
  }));
  document.title = JSON.stringify({...seen(%d), ...seen(%d), ...seen(%d)});
  document.body.remove();
}</script>"""
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium-headless-shell"),
    pytest.mark.xdist_group("reports"),
]


@pytest.fixture(scope="module")
def seen(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    report_of: Callable[[str], Report],
) -> dict[str, dict[str, Any]]:
    """What each frame measures, by plan and width: `quick-1280`; of the pages that are asked for."""
    folder = tmp_path_factory.mktemp("browser")
    arms = write_report([made_arms(folder / ARMS)], folder / ARMS / "report.html")
    frames = []
    own = [item for item in request.session.items if item.path == request.path]
    for name in sorted(
        {str(item.callspec.params["name"]) for item in own if isinstance(item, pytest.Function)}
    ):
        page = _POLICY.sub("", arms.read_text("utf-8") if name == ARMS else report_of(name).page)
        frames.append(
            f'<iframe id="{name}" style="border:0;width:{WIDE}px;height:900px" '
            f'srcdoc="{html.escape(page)}"></iframe>'
        )
    script = _MEASURE % (WIDE, NARROW, PHONE)
    (folder / "all.html").write_text(f"<!DOCTYPE html><body>{script}{''.join(frames)}", "utf-8")
    return opened(folder / "all.html", folder / "browser")


def opened(page: Path, data: Path) -> dict[str, dict[str, Any]]:
    """The title that the page has given itself."""
    assert CHROMIUM is not None
    switches = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars")
    command = [CHROMIUM, *switches, f"--user-data-dir={data}", "--dump-dom", page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BROWSER_SECONDS, check=True)
    title = re.search(r"<title>(.*?)</title>", done.stdout, re.DOTALL)
    assert title is not None, done.stdout[:500]
    found: dict[str, dict[str, Any]] = msgspec.json.decode(html.unescape(title[1]))
    return found


@pytest.mark.parametrize("width", [WIDE, NARROW, PHONE])
@pytest.mark.parametrize("name", LAID_OUT)
def test_no_page_scrolls_sideways(seen: dict[str, dict[str, Any]], name: str, width: int) -> None:
    page = seen[f"{name}-{width}"]
    assert page["scroll"] <= page["inner"] == width


@pytest.mark.parametrize("name", LAID_OUT)
def test_every_number_is_in_sight(seen: dict[str, dict[str, Any]], name: str) -> None:
    page = seen[f"{name}-{WIDE}"]
    assert (page["outside"], page["cut"]) == ([], [])


@pytest.mark.parametrize("name", LAID_OUT)
def test_a_phone_shows_the_subject_of_each_table_and_pictures_that_can_be_read(
    seen: dict[str, dict[str, Any]], name: str
) -> None:
    page = seen[f"{name}-{PHONE}"]
    assert page["strong"] == []
    assert page["said"] == []  # what is wrong with a line, or the line's name
    assert page["behind"] == 0  # no picture begins with names alone
    assert page["scale"] is None or page["scale"] >= LEAST_SCALE


@pytest.mark.parametrize("name", LAID_OUT)
def test_a_page_has_an_end_and_a_picture_on_its_first_screen(
    seen: dict[str, dict[str, Any]], name: str
) -> None:
    page = seen[f"{name}-{WIDE}"]
    assert page["height"] <= LONGEST
    assert page["first"] < FIRST_SCREEN
