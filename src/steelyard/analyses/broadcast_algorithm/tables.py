"""The tree that a broadcast seems to take, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.broadcast_algorithm.model import SeenAlgorithms, SeenTree, unseen_fan_outs
from steelyard.base.plural import counted
from steelyard.base.units import format_bytes
from steelyard.render.table import NOTHING, Table, number, plain_lines, remark, words
from steelyard.results.row import Row
from steelyard.rows.labels import Fact, Facts, count_fact, labels_of, op_with_facts, param_facts

MOST_BRANCHES = 4  # branches of a tree in its line
_UNSEEN = (
    "the end of each rank was not recorded; this needs --method epoch and a core for each rank, and on more "
    "than 64 ranks --keep ranks"
)


def tree_tables(seen_algorithms: Sequence[SeenAlgorithms]) -> tuple[Table, ...]:
    """Make a line for each size of each broadcast, and a note on where it changes; none without any."""
    if not seen_algorithms:
        return ()
    labels = labels_of([_facts(algorithms) for algorithms in seen_algorithms])
    lines = [
        (*labels.cells(i), *_cells(one, tree)) for i, one in enumerate(seen_algorithms) for tree in one.sizes
    ]
    names = tree_names(seen_algorithms)
    return (
        Table(
            "trees",
            ", ".join(("deduced from the end of each rank", *labels.common.values())),
            (
                *(axis.column for axis in labels.varying),
                number("bytes"),
                words("algorithm"),
                *map(number, ("launches", "share", "fit error")),
                remark(),
            ),
            plain_lines(lines),
            tuple(f"{name}: {change_words(one)}" for name, one in zip(names, seen_algorithms, strict=True)),
            grouped=len(labels.varying),
        ),
    )


def unseen_tree_tables(rows: Sequence[Row]) -> tuple[Table, ...]:
    """List the broadcasts beside ping-pong whose tree cannot be determined; none if there are none."""
    lines = [
        (f"{row.op} on {counted(row.ranks, 'rank')}" + (f" of {row.mpi}" if row.mpi else ""), row.method)
        for row in unseen_fan_outs(rows)
    ]
    if not lines:
        return ()
    return (Table("no tree can be determined", _UNSEEN, (words("of"), words("method")), plain_lines(lines)),)


def tree_names(seen_algorithms: Sequence[SeenAlgorithms]) -> tuple[str, ...]:
    """Name each: `mpi.bcast, openmpi-4.1.4`, with what differs among them."""
    labels = labels_of([_facts(algorithms) for algorithms in seen_algorithms])
    return tuple(op_with_facts(labels, i, seen.op) for i, seen in enumerate(seen_algorithms))


def change_words(algorithms: SeenAlgorithms) -> str:
    """`binomial from 1 B, pipelined from 128 KiB`."""
    if not algorithms.changes:
        return "no algorithm can be determined"
    return ", ".join(f"{family} from {format_bytes(least)}" for least, family in algorithms.changes)


def _facts(algorithms: SeenAlgorithms) -> Facts:
    return {
        "op": Fact("op", algorithms.op, algorithms.op, is_usual=True),
        "mpi": Fact("MPI", algorithms.mpi or "", algorithms.mpi or ""),
        "ranks": count_fact("rank", algorithms.ranks),
        "method": Fact("method", algorithms.method, f"method {algorithms.method}"),
        **param_facts(algorithms.params, is_usual=True),
    }


def _cells(algorithms: SeenAlgorithms, tree: SeenTree) -> tuple[str, ...]:
    if tree.family is None:
        return (format_bytes(tree.bytes), "cannot tell", *(NOTHING,) * 3, _doubt_words(algorithms, tree))
    return (
        format_bytes(tree.bytes),
        tree.family,
        f"{tree.votes} of {tree.launches}",
        f"{100 * tree.share_low:.0f} – {100 * tree.share_high:.0f} %" if tree.launches > 1 else NOTHING,
        f"{100 * (tree.missed or 0.0):.1f} %",
        _branch_words(tree),
    )


def _doubt_words(algorithms: SeenAlgorithms, tree: SeenTree) -> str:
    """Name the candidates, `flat or scatter-allgather`, and what would help."""
    if not tree.between:
        return f"no tree explains {counted(tree.launches, 'launch')}"
    helps = "" if algorithms.message else "; mpi.pingpong of the same sizes in the same campaign may help"
    return " or ".join(tree.between) + helps


def _branch_words(tree: SeenTree) -> str:
    """`0 to 8, 4, 2, 1; 8 to 12, 10, 9; ...`."""
    served: dict[int, list[int]] = {}
    order = sorted(range(len(tree.parents)), key=lambda rank: tree.finishes[rank])
    for rank in order:
        if tree.parents[rank] != rank:
            served.setdefault(tree.parents[rank], []).append(rank)
    said = list(_branches(served))
    return "; ".join(said[:MOST_BRANCHES]) + ("; …" if len(said) > MOST_BRANCHES else "")


def _branches(served: dict[int, list[int]]) -> Iterator[str]:
    for parent, ranks in served.items():
        shown = ", ".join(map(str, ranks[:MOST_BRANCHES])) + (", …" if len(ranks) > MOST_BRANCHES else "")
        yield f"{parent} to {shown}"
