"""The first page of the report of an acceptance: the verdict, what to do, its pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from steelyard.analyses.overview import ReadFolder
from steelyard.judges.accept import PLAN, Acceptance, Weighed, accept
from steelyard.judges.accept.tables import acceptance_page_table, count_words, head_facts
from steelyard.render.chart import Chart, Key
from steelyard.render.sections import Section
from steelyard.report.section import MATRICES

REST = "All that was measured"  # folded below this page
# The sections whose first picture is on this page, beside the one of links.
_SECTIONS = ("Layers under MPI", "mem.stream.triad", "noise.fwq", "mpi.allreduce")
_MOST_PICTURES = 5


def acceptance_of(folders: Sequence[ReadFolder], accepted: Acceptance | None = None) -> Acceptance | None:
    """Judge a folder of the plan `acceptance`, unless that was done; None for other plans, and for several
    folders.
    """
    (first, *others) = folders
    if others or first.measured.campaign.name != PLAN:
        return None
    return accepted or accept(Weighed(first.measured, first.rows, first.name))


def acceptance_answers(acceptance: Acceptance | None) -> Iterator[str]:
    """Write the verdict and why, of which machine, from how much, and the command that goes on; the table
    below has what was seen and what to do.
    """
    if acceptance is None:
        return
    yield f"{acceptance.verdict[0].upper()}{acceptance.verdict[1:]}: {acceptance.why}."
    yield from head_facts(acceptance)
    yield f"{count_words(acceptance)}."


def acceptance_sections(acceptance: Acceptance | None, sections: Sequence[Section]) -> Iterator[Section]:
    """Make a line for each topic, what was seen and what to do, and collect the main pictures of all
    sections.
    """
    if acceptance is None:
        return
    yield Section(
        "What was found, and what to do",
        "Well: nothing speaks against it. Not well: a fault was found. Cannot tell: too little was measured, "
        "or it differs too much.",
        tables=(acceptance_page_table(acceptance),),
    )
    if charts := tuple(_main_pictures(sections))[:_MOST_PICTURES]:
        yield Section("What the verdicts rest on", "", charts=charts)


def _main_pictures(sections: Sequence[Section]) -> Iterator[Chart]:
    """Choose the first picture of some sections, and the first one of links, whose colours have their own
    scale.
    """
    for section in sections:
        if section.title in _SECTIONS:
            yield from (_titled(section, chart, section.legend) for chart in section.charts[:1])
        links = [chart for chart in section.charts if chart.title.startswith(MATRICES)]
        yield from (_titled(section, chart, ()) for chart in links[:1])


def _titled(section: Section, chart: Chart, legend: tuple[Key, ...]) -> Chart:
    """Give a picture its section's title, because it stands without the section."""
    title = ", ".join(part for part in (section.title, chart.title) if part)
    return replace(chart, title=title, legend=chart.legend or legend)
