"""Files over ranks, as a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from steelyard.analyses.answer_words import sure_words
from steelyard.analyses.files_over_ranks.model import BYTES, FilesOverRanks, FilesPoint
from steelyard.base.units import format_bytes, format_count_rate, format_rate
from steelyard.records.fields import Params
from steelyard.render.table import NOTHING, Table, number, plain_lines, words
from steelyard.rows.labels import Fact, Facts, Labels, differing, labels_of, op_with_facts, param_facts


def files_over_ranks_tables(found: Sequence[FilesOverRanks]) -> tuple[Table, ...]:
    """A line for each op and size; none without any."""
    if not found:
        return ()
    labels = _labels(found)
    return (
        Table(
            "files over ranks",
            ", ".join(("a second, by all ranks together", *labels.common.values())),
            (
                words("op"),
                *(axis.column for axis in labels.varying),
                *(number(name) for name in ("bytes", "ranks", "on fewest", "on most", "at best")),
                number("of floor"),
            ),
            plain_lines((one.op, *labels.cells(i), *_cells(one)) for i, one in enumerate(found)),
            (),
            grouped=1,
        ),
    )


def files_over_ranks_names(found: Sequence[FilesOverRanks]) -> tuple[str, ...]:
    """Name each: `mpi.io.write_at, openmpi-4.1.4`, with what differs among them except the size."""
    labels = _labels(found)
    return tuple(op_with_facts(labels, i, one.op) for i, one in enumerate(found))


def rate_words(one: FilesOverRanks, point: FilesPoint) -> str:
    """`1.20 GB/s` of an op that moves bytes, `81.1 k/s` of one that handles names."""
    return sure_words(point.rate, format_rate if one.counted == BYTES else format_count_rate)


def _labels(found: Sequence[FilesOverRanks]) -> Labels:
    """Label curves by the parameters and methods in which those of one op differ."""
    told = differing((one.op, {"method": one.method, **one.params}) for one in found)
    return labels_of([_facts(one, told) for one in found])


def _facts(one: FilesOverRanks, told: Collection[str]) -> Facts:
    folder, mpi, where = one.folder or "", one.mpi or "", one.placement or ""
    given: Params = {"method": one.method, **one.params}
    return {
        "mpi": Fact("MPI", mpi, mpi),
        "folder": Fact("files in", folder, f"files in {folder}"),
        "placement": Fact("placement", where, f"placement {where}" if where else ""),
        **param_facts({key: value for key, value in given.items() if key in told}),
    }


def _cells(one: FilesOverRanks) -> tuple[str, ...]:
    first, last, best = one.points[0], one.points[-1], one.best
    return (
        format_bytes(one.bytes) if one.counted == BYTES else "",
        f"{first.ranks} – {last.ranks}",
        rate_words(one, first),
        rate_words(one, last),
        f"{rate_words(one, best)} on {best.ranks}",
        NOTHING if last.of_floor is None else f"{100 * last.of_floor:.0f} %",
    )
