"""Assemble a report, in the order of the page."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

import jinja2

from steelyard import __version__
from steelyard.analyses.analysis import PagePlace
from steelyard.analyses.overview import (
    ReadFolder,
    as_shown,
    folder_names,
    group_table,
    op_summaries,
    read_rows,
    shown_items,
)
from steelyard.analyses.placement_pairs.model import pair_tables
from steelyard.base.diagnostic import NOTE, SEVERITIES, Diagnostic
from steelyard.base.errors import InputError
from steelyard.base.files import write_given, write_whole
from steelyard.base.plural import counted
from steelyard.base.printable import visible
from steelyard.base.serial_map import Mapper, serially
from steelyard.diagnostics.results import diagnostics_of
from steelyard.judges.accept import Acceptance
from steelyard.judges.compare.default_comparisons import Comparisons
from steelyard.judges.compare.verdicts import Verdicts
from steelyard.render.chart import Chart
from steelyard.render.phone import is_crowded, phone_chart, phone_columns
from steelyard.render.sections import MOST_OPEN, MOST_SECTIONS, shown_lines
from steelyard.render.svg import svg, swatch
from steelyard.report.acceptance_page import REST, acceptance_answers, acceptance_of, acceptance_sections
from steelyard.report.analysis_sections import (
    analysis_sections,
    layer_sections,
    sections_across,
    sentence,
    skipped_section,
)
from steelyard.report.comparison import comparison_section
from steelyard.report.environment import HostSetting, settings_of
from steelyard.report.guidelines import guideline_section
from steelyard.report.opening_sentences import interval_level, place_words, title_words
from steelyard.report.section import group_section, rows_in
from steelyard.rows.figure_groups import FigureGroup, group_items
from steelyard.rows.pictures.ratios import overview_chart
from steelyard.rows.ratios import Ratio


@dataclass(frozen=True, slots=True)
class Folder(ReadFolder):
    """A results folder in the report, with its findings and its machine."""

    diagnostics: tuple[Diagnostic, ...]
    setting: HostSetting

    @property
    def place(self) -> str:
        """CPU, cores, kernel, MPIs, ranks and launches in a line."""
        return place_words(self.measured, self.rows)

    @property
    def command(self) -> str:
        """The shell command that measures the same again; empty for an old folder without one."""
        return shlex.join(self.measured.campaign.command)


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings of checks of one severity or more, and their folder."""

    title: str  # `3 warnings`
    severity: str  # the gravest
    found: tuple[tuple[str, Diagnostic], ...]


def write_report(folders: Sequence[Path], out: Path, mapped: Mapper = serially) -> Path:
    """Write one self-contained HTML file about one or several results folders, and return its path.

    `mapped` may read records and make rows in parallel. Raises InputError if a folder holds no records, or
    `out` is a folder.
    """
    names = folder_names(folders)
    read = [folder_of(read_rows(path, name, mapped)) for path, name in zip(folders, names, strict=True)]
    return _write(read, out)


def report_measured(
    read: ReadFolder, found: Sequence[Diagnostic], accepted: Acceptance | None = None
) -> Path:
    """Write report.html into a folder that was just measured and read, and return its path.

    `found` holds its findings, `accepted` what was said of it, if it is of the plan `acceptance`. Raises
    InputError if report.html is a folder.
    """
    folder = read.measured.folder
    (name,) = folder_names([folder])
    return _write([folder_of(replace(read, name=name), found)], folder / "report.html", accepted)


def _write(folders: Sequence[Folder], out: Path, accepted: Acceptance | None = None) -> Path:
    if out.is_dir():
        raise InputError(f"{out} is a folder; give the name of a file, such as {out / 'report.html'}")
    is_ours = out in [folder.measured.folder / "report.html" for folder in folders]
    write = write_whole if is_ours else write_given
    write(out, render_report(folders, accepted).encode())
    return out


def render_report(folders: Sequence[Folder], accepted: Acceptance | None = None) -> str:
    """Render the page as text; without `accepted` it judges a folder of the plan `acceptance` itself."""
    folders = as_shown(folders)
    several = len(folders) > 1
    rows = [row for folder in folders for row in folder.rows]
    items = shown_items(folders)
    groups = group_items(items)
    compared = Comparisons(folders)
    tables = [table for folder in folders for table in pair_tables(folder.rows)]
    summaries = op_summaries(folders)
    sections = [
        group_section(
            group,
            main,
            group_table(group, summaries, is_wide=True, ratios_by=compared.ratios_by),
            tables,
            compared.ratios,
        )
        for group in groups
        if (main := group_table(group, summaries, ratios_by=compared.ratios_by)) is not None
    ]
    sections += skipped_section(folders, items)
    guidelines = [
        one for folder in folders for one in guideline_section(folder.rows, folder.name if several else "")
    ]
    for folder in folders:
        sections += analysis_sections(folder.made, folder.name if several else "", PagePlace.AFTER_ROWS)
    if several:
        sections += sections_across({folder.name: folder.made for folder in folders})
    pictures = [
        section
        for folder in folders
        for section in analysis_sections(folder.made, folder.name if several else "", PagePlace.BEFORE_ROWS)
    ]
    verdicts = compared.told
    # A page begins with a picture: what has but tables stands behind the rows.
    first = [section for section in pictures if section.charts]
    last = [section for section in pictures if not section.charts]
    sections = [*comparison_section(verdicts), *guidelines, *layer_sections(items), *first, *sections, *last]
    found = acceptance_of(folders, accepted)
    accepted_sections = list(acceptance_sections(found, sections))
    return _TEMPLATE.render(
        title=title_words({folder.name: folder.measured for folder in folders}, rows),
        version=__version__,
        folders=folders,
        places=_places(folders),
        several=several,
        answers=[*acceptance_answers(found), *compared.headline],
        overview=None if isinstance(verdicts, Verdicts) else _overview(groups, compared.ratios),
        findings=_findings(folders),
        sections=[*accepted_sections, *sections],
        folded_from=len(accepted_sections),
        rest=REST,
        level=interval_level(rows),
        methods=_methods(folders),
        most_open=MOST_OPEN,
        most_sections=MOST_SECTIONS,
    )


def _template() -> jinja2.Template:
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {
        "svg": svg,
        "phone": phone_chart,
        "phone_columns": phone_columns,
        "is_crowded": is_crowded,
        "swatch": swatch,
        "shown_lines": shown_lines,
        "visible": visible,
    }
    return environment.from_string(resources.files(__package__).joinpath("page.html.j2").read_text("utf-8"))


_TEMPLATE = _template()  # compiled at import, while ranks start


def _overview(groups: Sequence[FigureGroup], ratios: Mapping[int, Ratio]) -> Chart | None:
    """Make one picture of all ratios, if there are several operations."""
    named = [
        (group.title, ratios[id(row)]) for group in groups for row in rows_in(group) if id(row) in ratios
    ]
    return overview_chart(named) if len({name for name, _ in named}) > 1 else None


def _places(folders: Sequence[Folder]) -> list[tuple[str, str]]:
    """Pair each folder with its place; a place that all share stands once, without a name."""
    places = [(folder.name, folder.place) for folder in folders]
    return [("", places[0][1])] if len({place for _, place in places}) == 1 else places


def _methods(folders: Sequence[Folder]) -> list[tuple[str, str]]:
    """List the methods of the folders and their descriptions; older folders have none."""
    campaigns = [folder.measured.campaign for folder in folders]
    known = {name: one.summary for campaign in campaigns for name, one in campaign.methods.items()}
    used = dict.fromkeys(row.method for folder in folders for row in folder.rows)
    return [(name, sentence(known[name])) for name in used if known.get(name)]


def _findings(folders: Sequence[Folder]) -> Iterator[Findings]:
    """Group what is wrong, the gravest first, and separately the notes."""
    several = len(folders) > 1
    found = [
        (folder.name if several else "", diagnostic)
        for folder in folders
        for diagnostic in folder.diagnostics
    ]
    found.sort(key=lambda one: SEVERITIES.index(one[1].severity))
    for own in (
        [one for one in found if one[1].severity != NOTE],
        [one for one in found if one[1].severity == NOTE],
    ):
        if own:
            kinds = [one.severity for _, one in own]
            title = " and ".join(counted(kinds.count(kind), kind) for kind in dict.fromkeys(kinds))
            yield Findings(title, kinds[0], tuple(own))


def folder_of(read: ReadFolder, found: Sequence[Diagnostic] | None = None) -> Folder:
    """Add what the report says of a folder; its diagnostics are made unless they were `found`."""
    diagnostics = diagnostics_of(read.measured, read.rows) if found is None else tuple(found)
    return Folder(read.name, read.measured, read.made, diagnostics, settings_of(read.measured))
