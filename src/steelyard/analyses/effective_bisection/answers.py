"""The effective bisection bandwidth in a sentence for each library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.answer_words import is_certain, of_mpi, span_words
from steelyard.analyses.effective_bisection.model import DRAWN_OP, EffectiveBisection
from steelyard.base.units import format_bytes, format_rate
from steelyard.results.row import Row


def is_drawn(row: Row) -> bool:
    """Is it one of the drawn matchings?"""
    return row.base == DRAWN_OP


def effective_bisection_answers(means: Sequence[EffectiveBisection]) -> Iterator[str]:
    """`Effective bisection bandwidth, 4 ranks: 3.1 GB/s (2.9 GB/s to 3.3 GB/s) at 1 MiB; the mean of ...`"""
    groups: dict[tuple[str | None, int], list[EffectiveBisection]] = {}
    for mean in means:
        groups.setdefault((mean.mpi, mean.ranks), []).append(mean)
    for (mpi, ranks), cases in groups.items():
        what = f"Effective bisection bandwidth{of_mpi(mpi)}, {ranks} ranks"
        sure = [mean for mean in cases if is_certain(mean.rate)]
        sentences = ", ".join(
            f"{span_words(mean.rate, format_rate)} at {format_bytes(mean.bytes)}" for mean in sure
        )
        if sentences:
            yield f"{what}: {sentences}; the mean of {min(mean.seeds for mean in sure)} drawn matchings."
        else:
            yield f"{what}: launches or draws are too few, or differ too much, to tell it."
