"""Puts a report together: what the page says, in the order in which it says it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import jinja2
from bokeh import embed
from bokeh import resources as bokeh_resources
from markupsafe import Markup

from steelyard import __version__
from steelyard.checks import Doubt, doubts
from steelyard.errors import InputError
from steelyard.groups import Item, group_items
from steelyard.observations import Measured, load
from steelyard.pairs import pair_tables, pictured
from steelyard.plots import matrix_figures, overlap_figures
from steelyard.report.layers import layers_of, macro_made
from steelyard.report.section import OTHERS, group_section, made_section, range_words
from steelyard.report.setting import STATE_COLUMNS, Setting, settings_of
from steelyard.results import rows_of
from steelyard.results_files import write_whole
from steelyard.row import Row
from steelyard.wording import CORE_COLUMNS, METHODS

MOST_OPEN = 30  # lines of the table of what others would print, above which it is folded


@dataclass(frozen=True, slots=True)
class Folder:
    """A results folder in the report, under the name that tells it from the others."""

    name: str
    created: str
    measured: Measured
    rows: tuple[Row, ...]
    doubts: tuple[Doubt, ...]
    verdict: str
    setting: Setting


@dataclass(frozen=True, slots=True)
class Across:
    """Pictures that points of several groups make together, of one folder."""

    title: str
    meaning: str
    pictures: tuple[Markup, ...]
    script: Markup


def write_report(folders: Sequence[Path], out: Path) -> Path:
    """Writes one self-contained HTML file about one or several results folders and returns its path.

    Raises InputError when a folder holds no records, or `out` is a folder.
    """
    if out.is_dir():
        raise InputError(f"{out} is a folder; give the name of a file, such as {out / 'report.html'}")
    names = _names(folders)
    read = [_read(path, name) for path, name in zip(folders, names, strict=True)]
    write_whole(out, render_report(read).encode())
    return out


def render_report(folders: Sequence[Folder]) -> str:
    """The page as text."""
    shown = [pictured(folder.rows) for folder in folders]
    items = [
        Item(row, point, folder.name if len(folders) > 1 else "")
        for folder, these in zip(folders, shown, strict=True)
        for row, point in zip(folder.rows, folder.measured.points, strict=True)
        if row.point in these
    ]
    tables = [table for folder in folders for table in pair_tables(folder.rows)]
    sections = [group_section(number, group, tables) for number, group in enumerate(group_items(items))]
    made = [
        one for folder in folders for one in macro_made(folder.rows, folder.name if len(folders) > 1 else "")
    ]
    made += layers_of(items)
    sections = [made_section(number, one) for number, one in enumerate(made)] + sections
    used = {item.row.method for item in items}
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(
        resources.files(__package__).joinpath("page.html.j2").read_text("utf-8")
    )
    library = bokeh_resources.Resources(mode="inline", components=["bokeh"]).render_js()
    return template.render(
        title=" and ".join(folder.measured.campaign.name or folder.name for folder in folders),
        version=__version__,
        folders=folders,
        sections=sections,
        across=[one for folder in folders for one in _across(folder, len(folders) > 1)],
        methods=[(name, words.meaning) for name, words in METHODS.items() if name in used],
        others=OTHERS,
        core_columns=CORE_COLUMNS,
        state_columns=STATE_COLUMNS,
        most_open=MOST_OPEN,
        library=Markup(library),  # noqa: S704 - Bokeh's own code
        several=len(folders) > 1,
    )


def _across(folder: Folder, several: bool) -> Iterator[Across]:
    """Overlap over work, and matrices of pairs; nothing where no points make any."""
    for title, meaning, figures in (
        (
            "Overlap",
            "Work and communication one after the other is 0; 1 where the shorter of the two costs nothing.",
            overlap_figures(folder.rows),
        ),
        (
            "Rank by rank",
            "The median time of each rank with the rank that it calls; blank where nobody measured.",
            matrix_figures(folder.rows),
        ),
    ):
        if figures:
            script, divs = embed.components(tuple(figures))
            safe = tuple(Markup(div) for div in divs)  # noqa: S704 - Bokeh's own markup
            name = f"{title}: {folder.name}" if several else title
            yield Across(name, meaning, safe, Markup(script))  # noqa: S704


def _names(folders: Sequence[Path]) -> list[str]:
    """The last part of each path, or the whole path where those are alike."""
    names = [folder.resolve().name for folder in folders]
    return names if len(set(names)) == len(names) else [str(folder) for folder in folders]


def _read(path: Path, name: str) -> Folder:
    measured = load(path)
    rows = rows_of(measured)
    created = measured.campaign.created
    return Folder(
        name=name,
        created=f"{created[:16].replace('T', ' ')} UTC" if created.endswith(("Z", "+00:00")) else created,
        measured=measured,
        rows=rows,
        doubts=doubts(measured, rows),
        verdict=verdict(rows),
        setting=settings_of(measured),
    )


def verdict(rows: Sequence[Row]) -> str:
    """What became of the points, in one sentence or two."""
    count = {status: sum(1 for row in rows if row.status == status) for status in ("ok", "failed", "skipped")}
    settled = sum(1 for row in rows if row.status == "ok" and row.flag == "SETTLED")
    launches = sorted({row.launch_count for row in rows if row.launch_count})
    over = range_words(launches, "launch", "launches")
    points = "point was" if len(rows) == 1 else "points were"
    words = [f"{count['ok']} of {len(rows)} {points} measured over {over}, {settled} of them settled"]
    if count["failed"]:
        words.append(f"{count['failed']} failed")
    if count["skipped"]:
        words.append(f"{count['skipped']} {'was' if count['skipped'] == 1 else 'were'} skipped")
    return "; ".join(words) + "."
