"""A check as one HTML file: its text, and a picture of the history of each test case that changed."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources

import jinja2

from steelyard import __version__
from steelyard.judges.compare.scale import SAME
from steelyard.judges.history.pictures import nights_chart
from steelyard.judges.history.tables import check_sentences, check_table
from steelyard.judges.history.verdicts import Checked, Series
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.render.chart import Chart
from steelyard.render.svg import svg

_MOST = 60  # pictures of a kind: nobody looks at more


def check_page(checked: Checked, series: Sequence[Series], margin: float) -> str:
    """Write the page; it loads nothing and runs no script."""
    changed = [one for one in series if one.changes or one.verdict not in (SAME, CANNOT_TELL)]
    others = [one for one in series if one not in changed]
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"svg": svg}
    source = resources.files(__package__).joinpath("page.html.j2").read_text("utf-8")
    return environment.from_string(source).render(
        version=__version__,
        found=checked,
        table=check_table(checked, margin),
        sentences=check_sentences(checked),
        changed=_charts(checked, changed),
        others=_charts(checked, others),
        unseen=max(0, len(changed) - _MOST) + max(0, len(others) - _MOST),
    )


def _charts(checked: Checked, series: Sequence[Series]) -> list[Chart]:
    nights = [night.name for night in checked.nights]
    return [nights_chart(one.name, one.values, one.changes, nights) for one in series[:_MOST]]
