"""Trees of a broadcast deduced from when ranks had done, where the tree is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from flat_rows import made_launch, made_row
from steelyard.analyses.analysis import Made, PagePlace
from steelyard.analyses.broadcast_algorithm.model import SeenTree, algorithms_of, candidates
from steelyard.analyses.broadcast_algorithm.pictures import tree_charts
from steelyard.analyses.broadcast_algorithm.tables import (
    change_words,
    tree_tables,
    unseen_tree_tables,
)
from steelyard.analyses.broadcast_algorithm.trees import (
    BINARY,
    BINOMIAL,
    CHAIN,
    FLAT,
    PIPELINED,
    SCATTER_ALLGATHER,
    Children,
    Message,
    chain_tree,
    doubling_tree,
    fit_trees,
    flat_tree,
    halving_tree,
    heap_tree,
    inward_tree,
    level_tree,
)
from steelyard.render.svg import svg
from steelyard.render.terminal import Paper, table_text
from steelyard.report.analysis_sections import analysis_sections
from steelyard.results.row import Row
from steelyard.stats.arrays import FloatArray

RANKS = (5, 16, 33, 64)
TREES: dict[str, tuple[Callable[[int], Children], str]] = {
    "flat": (flat_tree, FLAT),
    "chain": (chain_tree, CHAIN),
    "heap": (heap_tree, BINARY),
    "levels": (level_tree, BINARY),
    "halving": (halving_tree, BINOMIAL),
    "inward": (inward_tree, BINOMIAL),
    "doubling": (doubling_tree, BINOMIAL),
}


def made(children: Children, pieces: int = 1, send: float = 300.0, wire: float = 900.0) -> FloatArray:
    """When each rank has done if it sends each piece to its children in turn, `send` ns apart.

    A simulation of its own, piece by piece: what the sums of `trees` must come to.
    """
    arrived = np.zeros((len(children), pieces))
    done = np.zeros(len(children))
    order = [0]
    for rank in order:
        free = 0.0
        for piece in range(pieces):
            free = max(free, arrived[rank, piece])
            for child in children[rank]:
                free += send
                arrived[child, piece] = free + wire
        done[rank] = max(free, arrived[rank, -1])
        order += children[rank]
    return done


def told(finishes: FloatArray, message: Message | None = None) -> tuple[str, ...]:
    return candidates(fit_trees(finishes, message))


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("name", TREES)
def test_each_tree_is_told_from_all_others(name: str, ranks: int) -> None:
    tree, family = TREES[name]
    children = tree(ranks)
    assert sorted(child for served in children for child in served) == list(range(1, ranks))
    assert told(made(children)) == (family,)


@pytest.mark.parametrize("ranks", RANKS)
def test_a_chain_of_pieces_is_pipelined(ranks: int) -> None:
    assert told(made(chain_tree(ranks), pieces=8)) == (PIPELINED,)


def test_ranks_that_all_end_at_once_are_told_by_what_a_message_takes() -> None:
    """Five ranks at 32 us: four messages of 8 us that share a link, or two of 16 us that all exchange."""
    level = np.full(5, 32e3)
    assert set(told(level)) >= {FLAT, SCATTER_ALLGATHER}
    assert told(level, Message(16e3, 100.0)) == (SCATTER_ALLGATHER,)
    assert told(level, Message(8e3, 100.0)) == (FLAT,)


def test_what_no_tree_explains_is_none() -> None:
    assert told(np.random.default_rng(1).uniform(1e3, 9e3, 33)) == ()


def bcast(size: int, launches: list[FloatArray], **more: object) -> Row:
    each = tuple(made_launch(i + 1, finishes=tuple(one.tolist())) for i, one in enumerate(launches))
    finishes = tuple(np.median(launches, axis=0).tolist())
    return made_row(ranks=launches[0].size, bytes=size, launches=each, finishes_ns=finishes, **more)


def noisy(finishes: FloatArray, spread: float, count: int, seed: int = 1) -> list[FloatArray]:
    rng = np.random.default_rng(seed)
    return [finishes * np.exp(spread * rng.standard_normal(finishes.size)) for _ in range(count)]


def only(row: Row) -> SeenTree:
    ((one,),) = [found.sizes for found in algorithms_of([row])]
    return one


def test_launches_vote_and_a_root_turns_the_tree() -> None:
    tree = halving_tree(16)
    launches = [np.roll(one, 3) for one in noisy(made(tree), 0.02, 10)]
    one = only(bcast(8, launches, params={"root": 3.0}))
    assert (one.family, one.votes, one.launches) == (BINOMIAL, 10, 10)
    assert one.share_low == pytest.approx(0.6915, abs=1e-3)  # Clopper and Pearson, 10 of 10
    assert one.parents[3] == 3
    assert {(child + 3) % 16 for child in tree[0]} == {r for r in range(16) if one.parents[r] == 3 != r}
    assert one.finishes[one.parents.index(3)] > 0


def test_noise_that_hides_the_tree_names_none() -> None:
    for seed in range(20):
        one = only(bcast(8, noisy(np.full(16, 5e3), 0.3, 6, seed)))
        assert one.family is None
        assert one.parents == ()


def test_changes_over_sizes_are_found() -> None:
    sizes = [(8, halving_tree(16)), (1024, halving_tree(16)), (65536, chain_tree(16))]
    rows = [bcast(size, noisy(made(tree), 0.01, 5)) for size, tree in sizes]
    (found,) = algorithms_of(rows[::-1])
    assert found.changes == ((8, BINOMIAL), (65536, CHAIN))
    assert not found.message


def test_few_ranks_and_methods_without_a_clock_are_left_out() -> None:
    assert algorithms_of([bcast(8, [made(flat_tree(4))])]) == ()
    assert algorithms_of([made_row(ranks=16, launches=(made_launch(1),))]) == ()
    assert algorithms_of([bcast(8, [made(flat_tree(16))], op="mpi.allreduce")]) == ()


def test_a_broadcast_whose_ranks_nobody_saw_is_said_to_tell_nothing() -> None:
    """Beside ping-pong of the same MPI, as one asks for trees; not elsewhere, nor of one that was seen."""
    unseen = made_row(ranks=8, method="barrier", launches=(made_launch(1),))
    message = made_row(op="mpi.pingpong", ranks=2, role="latency", layer="mpi", launches=(made_launch(1),))
    (table,) = unseen_tree_tables([unseen, message])
    assert [line.cells for line in table.lines] == [("mpi.bcast on 8 ranks of mpich", "barrier")]
    assert "--method epoch" in table.explained
    seen = bcast(64, [made(flat_tree(8))])
    for rows in ([unseen], [unseen, seen, message], [made_row(), message]):
        assert unseen_tree_tables(rows) == ()


def test_table_and_picture_say_the_tree() -> None:
    rows = [
        bcast(8, noisy(made(halving_tree(8)), 0.01, 6)),
        bcast(65536, noisy(made(chain_tree(8)), 0.01, 6)),
        bcast(1 << 20, noisy(np.full(8, 9e4), 0.001, 6)),
    ]
    found = algorithms_of(rows)
    (table,) = tree_tables(found)
    assert [line.cells[1] for line in table.lines] == ["binomial", "chain", "cannot tell"]
    assert table.lines[0].cells[2:4] == ("6 of 6", "54 – 100 %")
    assert table.lines[0].cells[-1].startswith("0 to 4, 2, 1; ")
    assert max(map(len, table_text(table, Paper(80, is_pipe=False)).splitlines())) <= 80
    assert "mpi.pingpong" in table.lines[2].cells[-1]
    assert change_words(found[0]) == "binomial from 8 B, chain from 64 KiB"
    charts = tree_charts(found)
    assert [chart.title for chart in charts] == ["mpi.bcast, 8 B: binomial", "mpi.bcast, 64 KiB: chain"]
    assert "rank 7" in str(svg(charts[0]))
    sections = analysis_sections(Made(rows), "", PagePlace.AFTER_ROWS)
    (section,) = [section for section in sections if section.title == "Trees"]
    assert len(section.charts) == 2


def test_a_scatter_is_flat_or_binomial() -> None:
    kind = {"op": "mpi.scatter"}
    for tree, family in ((halving_tree(16), BINOMIAL), (flat_tree(16), FLAT)):
        assert only(bcast(8, noisy(made(tree), 0.01, 5), **kind)).family == family
    assert only(bcast(8, noisy(made(chain_tree(16)), 0.01, 5), **kind)).family is None
