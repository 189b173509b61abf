"""The page of each shipped plan: every number is in a table, and nothing is wider than the page."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest

from made_plans import PAGES, Report
from steelyard.rows.row_words import value_words

PAGE_WIDTH = 1040  # CSS pixels between the margins of a window of 1280


pytestmark = pytest.mark.xdist_group("reports")


@pytest.fixture(params=PAGES)
def report(request: pytest.FixtureRequest, report_of: Callable[[str], Report]) -> Report:
    return report_of(request.param)


def test_each_median_is_in_a_table(report: Report) -> None:
    cells = {html.unescape(cell) for cell in re.findall(r"<td[^>]*>([^<]*)</td>", report.page)}
    missing = [row.op for row in report.rows if value_words(row) not in cells]
    assert missing == []


def test_no_width_is_wider_than_the_page(report: Report) -> None:
    widths = [int(width) for width in re.findall(r'width[:=]"?(\d+)', report.page)]
    assert max(widths) <= PAGE_WIDTH
