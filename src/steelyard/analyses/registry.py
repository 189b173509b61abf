"""All analyses, a row each, in the order in which terminal and report tell them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from steelyard.analyses.analysis import Analysis, Made, PagePlace
from steelyard.analyses.broadcast_algorithm.model import algorithms_of
from steelyard.analyses.broadcast_algorithm.pictures import tree_charts
from steelyard.analyses.broadcast_algorithm.tables import tree_tables, unseen_tree_tables
from steelyard.analyses.collective_lines.model import collective_lines_of
from steelyard.analyses.collective_lines.tables import collective_tables
from steelyard.analyses.core_noise.tables import core_tables
from steelyard.analyses.efficiency.model import efficiencies
from steelyard.analyses.efficiency.tables import floor_tables
from steelyard.analyses.files_over_ranks.model import files_over_ranks
from steelyard.analyses.files_over_ranks.pictures import files_over_ranks_charts
from steelyard.analyses.files_over_ranks.tables import files_over_ranks_tables
from steelyard.analyses.growth.model import growths_of
from steelyard.analyses.growth.pictures import growth_charts
from steelyard.analyses.growth.tables import growth_tables, unmodelled_growth_tables
from steelyard.analyses.halo_exchange.model import exchanges_of
from steelyard.analyses.halo_exchange.pictures import exchange_charts
from steelyard.analyses.halo_exchange.tables import exchange_tables
from steelyard.analyses.hangs.tables import hang_tables
from steelyard.analyses.hosts.model import host_matrices
from steelyard.analyses.hosts.tables import host_tables
from steelyard.analyses.loggp.model import log_models
from steelyard.analyses.loggp.tables import message_tables
from steelyard.analyses.max_rate.model import max_rates_of
from steelyard.analyses.max_rate.tables import max_rate_tables, unmodelled_rate_tables
from steelyard.analyses.micro_macro.model import macro_of
from steelyard.analyses.micro_macro.tables import macro_tables
from steelyard.analyses.overheads.model import overheads_of
from steelyard.analyses.overheads.tables import overhead_tables
from steelyard.analyses.overlap.model import curves
from steelyard.analyses.overlap.pictures import overlap_charts
from steelyard.analyses.overlap.tables import overlap_tables
from steelyard.analyses.phases.model import phase_roofs_of
from steelyard.analyses.phases.pictures import roofline_charts
from steelyard.analyses.phases.rooflines import rooflines_of
from steelyard.analyses.phases.tables import phase_tables
from steelyard.analyses.placement_pairs.model import pair_tables
from steelyard.analyses.placement_pairs.tables import pair_table
from steelyard.analyses.rank_matrices.model import matrices
from steelyard.analyses.rank_matrices.pictures import matrix_charts
from steelyard.analyses.ranking.model import choices_of, rankings_of, settings_ranked
from steelyard.analyses.ranking.tables import all_ways, choice_tables, ranking_tables, setting_tables
from steelyard.analyses.rma_support.model import functionality_of
from steelyard.analyses.rma_support.tables import all_combinations, functionality_tables
from steelyard.analyses.scaling.model import scaling_curves
from steelyard.analyses.scaling.pictures import scaling_charts
from steelyard.analyses.scaling.tables import scaling_tables
from steelyard.analyses.thread_costs.model import thread_curves
from steelyard.analyses.thread_costs.pictures import all_threads, thread_charts
from steelyard.analyses.thread_costs.tables import thread_tables
from steelyard.analyses.threads_vs_processes.model import streams_of
from steelyard.analyses.threads_vs_processes.tables import stream_tables
from steelyard.render.table import Table

HANGS = Analysis(
    key="hangs",  # where ranks were when a launch hung
    make=tuple,
    tables=hang_tables,
    is_written=False,
)
PHASES = Analysis(
    key="phases",  # where kernels spend their time
    make=tuple,
    tables=phase_tables,
    pictures=lambda rows: roofline_charts(rooflines_of(rows)),
    is_written=False,
)
PHASE_ROOFS = Analysis(
    key="phase_roofs",  # bytes that phases move, against STREAM: a column of the table of phases
    make=phase_roofs_of,
)
OVERLAP = Analysis(
    key="overlap",  # over work
    make=curves,
    tables=overlap_tables,
    pictures=overlap_charts,
    title="overlap",
    explained="Work and communication one after the other is 0; 1 where the shorter costs nothing.",
    place=PagePlace.BEFORE_ROWS,
)
MATRICES = Analysis(
    key="matrices",  # each rank with each other
    make=matrices,
    pictures=matrix_charts,
    title="rank by rank",
    explained="The median time of each rank with the rank that it calls; blank: not measured.",
    place=PagePlace.BEFORE_ROWS,
    is_written=False,
)
FLOOR = Analysis(
    key="floor",  # MPI's efficiency against the layers below it
    make=efficiencies,
    tables=floor_tables,
    place=PagePlace.WITH_ROWS,
)
CORES = Analysis(
    key="cores",  # the noise of each core
    make=tuple,
    tables=core_tables,
    place=PagePlace.WITH_ROWS,
    is_written=False,
)
PAIRS = Analysis(
    key="pairs",  # pairs of CPUs or of hosts
    make=pair_tables,
    tables=lambda pairs: map(pair_table, pairs),
    place=PagePlace.WITH_ROWS,
    is_written=False,
)
HOSTS = Analysis(
    key="hosts",  # messages from host to host
    make=host_matrices,
    tables=host_tables,
    is_written=False,
)
MACRO = Analysis(
    key="macro",  # predictions for kernels from messages
    make=macro_of,
    tables=macro_tables,
)
MESSAGES = Analysis(
    key="messages",  # the cost of messages by their size
    make=log_models,
    tables=message_tables,
    within=MACRO,
)
OVERHEADS = Analysis(
    key="overheads",  # the parts of that cost
    make=overheads_of,
    tables=overhead_tables,
)
RATES = Analysis(
    key="rates",  # the bandwidth that pairs of ranks share
    make=max_rates_of,
    tables=max_rate_tables,
    unanswered=unmodelled_rate_tables,
)
SCALING = Analysis(
    key="scaling",  # whole programs over ranks and threads
    make=scaling_curves,
    tables=scaling_tables,
    pictures=scaling_charts,
)
TREES = Analysis(
    key="trees",  # the algorithms that broadcasts seem to use
    make=algorithms_of,
    tables=tree_tables,
    unanswered=unseen_tree_tables,
    pictures=tree_charts,
)
COLLECTIVES = Analysis(
    key="collectives",  # lines of collectives over sizes
    make=collective_lines_of,
    tables=collective_tables,
)
GROWTH = Analysis(
    key="growth",  # collectives over ranks
    make=growths_of,
    tables=growth_tables,
    unanswered=unmodelled_growth_tables,
    pictures=growth_charts,
)
FILES_OVER_RANKS = Analysis(
    key="files_over_ranks",  # bytes and names a second of all ranks together
    make=files_over_ranks,
    tables=files_over_ranks_tables,
    pictures=files_over_ranks_charts,
)
EXCHANGES = Analysis(
    key="exchanges",  # ways to move the halos of applications
    make=exchanges_of,
    tables=exchange_tables,
    pictures=exchange_charts,
)
FUNCTIONALITY = Analysis(
    key="functionality",  # which one-sided calls work
    make=functionality_of,
    tables=functionality_tables,
    title="does it work",
    folded=all_combinations,
)
RANKINGS = Analysis(
    key="rankings",  # the fastest way to call them
    make=rankings_of,
    tables=ranking_tables,
    folded=all_ways,
)
CHOICES = Analysis(
    key="choices",  # the same for calls with the same effect
    make=choices_of,
    tables=choice_tables,
    folded=all_ways,
)
SETTINGS = Analysis(
    key="settings",  # the same for settings of launches
    make=settings_ranked,
    tables=setting_tables,
    folded=all_ways,
)
THREADS = Analysis(
    key="threads",  # rates over threads
    make=thread_curves,
    tables=thread_tables,
    pictures=thread_charts,
    folded=all_threads,
)
STREAMS = Analysis(
    key="streams",  # threads against processes
    make=streams_of,
    tables=stream_tables,
)

ANALYSES: tuple[Analysis[Any], ...] = (
    *(HANGS, PHASES, PHASE_ROOFS, OVERLAP, MATRICES, FLOOR, CORES, PAIRS, HOSTS, MACRO, MESSAGES, OVERHEADS),
    *(RATES, SCALING, TREES, COLLECTIVES, GROWTH, EXCHANGES, FUNCTIONALITY, RANKINGS, CHOICES, SETTINGS),
    *(THREADS, STREAMS, FILES_OVER_RANKS),
)


def analysis_tables(made: Made, folder: str = "") -> Iterator[Table]:
    """Make the tables of all analyses of a folder; `folder` is its name if there are several."""
    for analysis in ANALYSES:
        for table in analysis.tables_of(made):
            yield replace(table, title=f"{table.title} ({folder})") if folder else table
