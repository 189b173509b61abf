"""How much victims are slowed, in a sentence for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.analyses.answer_words import each_alone, is_certain_ratio, of_mpi, span_words
from steelyard.analyses.congestion.model import (
    CANNOT_TELL,
    NOT_SLOWED,
    P50,
    SLOWED,
    TRAFFIC,
    Congestion,
)
from steelyard.analyses.congestion.tables import VICTIM_PREFIX
from steelyard.results.row import Row

_MARKS = (SLOWED, NOT_SLOWED, CANNOT_TELL)


def is_victim(row: Row) -> bool:
    """Is it a victim, beside a congestor or idle ranks?"""
    return TRAFFIC in row.params


def congestion_answers(victims: Sequence[Congestion]) -> Iterator[str]:
    """`victim_halo takes up to 3.1 (2.8 to 3.4) times as long beside all: slowed in 2 of 5.`"""
    by_op: dict[tuple[str, str | None], list[Congestion]] = {}
    for victim in victims:
        by_op.setdefault((victim.op, victim.mpi), []).append(victim)
    for (op, mpi), cases in by_op.items():
        counts = {mark: sum(victim.verdict == mark for victim in cases) for mark in _MARKS}
        parts = [f"{mark} in {count}" for mark, count in counts.items() if count]
        parts[0] += f" of {len(cases)}"
        who = f"{op.removeprefix(VICTIM_PREFIX)}{of_mpi(mpi)}"
        yield f"{who}{_worst_words(cases)}: {', '.join(parts)}{each_alone(_judged(cases))}."


def _judged(victims: Sequence[Congestion]) -> int:
    return sum(victim.verdict != CANNOT_TELL for victim in victims)


def _worst_words(victims: Sequence[Congestion]) -> str:
    """The largest impact on a median that is certain enough; nothing where none slows it."""
    impacts = [
        (impact, victim.traffic)
        for victim in victims
        if victim.verdict == SLOWED and is_certain_ratio(impact := victim.impact[P50])
    ]
    if not impacts:
        return ""
    worst, traffic = max(impacts, key=lambda pair: pair[0].value)
    return f" takes up to {span_words(worst)} times as long beside {traffic}"
