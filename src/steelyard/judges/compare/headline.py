"""The headline of a run: what was found, in a few sentences. It opens and closes what the terminal shows, and
opens the report.

The answers of analyses come first, then the ratios of rivals that were compared; else what operations take. A
ratio is told only if its interval is narrow: see `_is_narrow`. Failures are always told.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from steelyard.analyses.analysis import Made
from steelyard.analyses.answer_words import is_certain_ratio
from steelyard.analyses.model_facts import layer_sentences, model_sentences
from steelyard.analyses.overheads.model import TRAIN
from steelyard.analyses.overheads.row import OVERHEADS
from steelyard.analyses.ranking.model import Ranking, Way
from steelyard.analyses.ranking.row import SETTINGS
from steelyard.analyses.registry import answers_across, answers_of
from steelyard.base.plural import counted
from steelyard.base.printable import ended
from steelyard.base.units import format_bytes, format_time, format_values
from steelyard.judges.compare.scale import FASTER, LITTLE, MARGIN, SAME, SLOWER
from steelyard.judges.compare.tables import would_decide
from steelyard.judges.compare.verdicts import CaseVerdict, Verdicts
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.records.campaign_file import UNSET
from steelyard.records.kinds import WORK
from steelyard.results.row import NOT_YET, Row, half_of
from steelyard.rows.op_facts import (
    MPI_FAMILY,
    family_of,
    family_sentences,
    group_words,
    is_claimed,
    mpi_words,
)
from steelyard.rows.op_order import place_of
from steelyard.rows.rivals import MOST, ratio_words
from steelyard.rows.row_words import NOISY
from steelyard.rows.words import row_name, why_words
from steelyard.stats import Interval

MOST_OPS = 3  # that have a sentence of their own in a comparison; more are summed up by families
MOST_SENTENCES = 8  # of a headline; the tables have the rest
# Verdict -> what a sentence says; the order of the sentence.
_SAID = {
    SLOWER: "slower",
    FASTER: "faster",
    LITTLE: "a little different",
    SAME: f"the same within {100 * MARGIN:g} %",
    CANNOT_TELL: "cannot tell",
}


@dataclass(frozen=True, slots=True)
class Compared:
    """A test case of two rivals, as `row` measured it first: its ratio, and the verdict with the rest."""

    row: Row
    ratio: float
    said: CaseVerdict


def headline(folders: Mapping[str, Made], verdicts: Verdicts | str | None = None) -> tuple[str, ...]:
    """Write the headline of folders by their names; the name of a single one is not told.

    `verdicts` are those on the arms of the folders, or the sentence why there are none.
    """
    rows = [row for made in folders.values() for row in made.rows]
    compared = _compared(folders, verdicts)
    several = len(folders) > 1
    answers = list(answers_across(folders)) if several else []
    sentences = [verdicts] if isinstance(verdicts, str) else []
    for own_name, all_made in folders.items():
        name = own_name if several else ""  # a single folder needs none, and is no rival of its MPIs
        told, made = answers_of(all_made, is_one_of_several=several)
        answers += [f"{name}: {answer}" if name else answer for answer in told]
        settings = list(_setting_sentences(made))
        plain = _not_compared(name, _asked_for(made), compared)
        if settings:  # which say what there is of rows with settings
            plain = [row for row in plain if not (row.env or row.omp)]
        sentences += [*settings, *layer_sentences(made), *family_sentences(plain, name)]
        sentences += model_sentences(made)
    sentences[1:1] = _rival_sentences(compared)
    sentences = [*answers, *sentences]
    more = len(sentences) - MOST_SENTENCES
    sentences = [
        *sentences[:MOST_SENTENCES],
        *([f"{counted(more, 'more finding')} below."] if more > 0 else []),
    ]
    return (*sentences, *_outcomes(rows, has_sentences=bool(sentences)))


def _asked_for(made: Made) -> Sequence[Row]:
    """Leave out rows that only make a model: trains of messages and their work, where LogGP is told."""
    if not made(OVERHEADS):
        return made.rows
    return [row for row in made.rows if row.base != TRAIN and row.role != WORK]


# ---- rivals ------------------------------------------------------------------------------------------------


def _compared(folders: Mapping[str, Made], verdicts: Verdicts | str | None) -> list[Compared]:
    """List the test cases of rivals that have a ratio."""
    if not isinstance(verdicts, Verdicts):
        return []
    rows = {row.op: row for made in folders.values() for row in made.rows}
    return [
        Compared(rows[point.op], point.ratio, point) for point in verdicts.points if point.ratio is not None
    ]


def _not_compared(name: str, rows: Sequence[Row], compared: Sequence[Compared]) -> Sequence[Row]:
    """Take the rows of a folder whose numbers no ratio tells: all but those of rivals with a claim."""
    if not compared:
        return rows
    told = {one.said.b for one in compared if _is_narrow(one)}
    if name:
        return () if name in told else rows
    mpis = {row.mpi for row in rows}
    return [row for row in rows if row.mpi not in told] if compared[0].said.a in mpis else ()


def _rival_sentences(rivals: Sequence[Compared]) -> Iterator[str]:
    """Write a sentence for each rival and op, or each family if ops are many."""
    ops = list(dict.fromkeys(rival.row.op for rival in rivals))
    groups: dict[tuple[str, str], list[Compared]] = {}
    for rival in rivals:
        what = rival.row.op if len(ops) <= MOST_OPS else group_words(rival.row)
        groups.setdefault((what, rival.said.b), []).append(rival)
    for (what, _), group in groups.items():
        yield f"{what}: {_rival_words(group)}."


def _rival_words(rivals: Sequence[Compared]) -> str:
    """`MPICH 5.0.2 takes 1.2 to 4.5 times as long as Open MPI 4.1.4: slower in 9 of 12, cannot tell in 3`."""
    name, base = mpi_words(rivals[0].said.b), mpi_words(rivals[0].said.a)
    counts = {
        words: sum(rival.said.verdict == verdict for rival in rivals) for verdict, words in _SAID.items()
    }
    parts = [f"{words} in {count}" for words, count in counts.items() if count]
    parts[0] += f" of {len(rivals)}"
    verdict = ", ".join(parts) if len(rivals) > 1 else parts[0].removesuffix(" in 1 of 1")
    narrow = [rival for rival in rivals if _is_narrow(rival)]
    undecided = [rival.said for rival in rivals if rival.said.verdict == CANNOT_TELL]
    if not narrow:
        return f"{name} against {base}: {verdict}{would_decide(undecided)}"
    if len(narrow) == 1 and len(rivals) > 1:
        return f"{name} takes {_with_interval(narrow[0])}: {verdict}"
    ends = (ratio_words(end(rival.ratio for rival in narrow)) for end in (min, max))
    some = " where that is certain" if len(narrow) < len(rivals) else ""
    return f"{name} takes {' to '.join(dict.fromkeys(ends))} times as long as {base}{some}: {verdict}"


def _with_interval(one: Compared) -> str:
    """`3.90 (2.14 to 7.11) times as long as Open MPI 4.1.4 at 8 B`: the only one that can be told."""
    ends = " to ".join(ratio_words(end) for end in (one.said.low, one.said.high) if end is not None)
    size = f" at {one.said.size}" if one.said.size else ""
    what = f", {one.said.what}" if one.said.what else ""
    return f"{ratio_words(one.ratio)} ({ends}) times as long as {mpi_words(one.said.a)}{size}{what}"


def _is_narrow(rival: Compared) -> bool:
    return is_certain_ratio(Interval(rival.ratio, rival.said.low, rival.said.high))


# ---- settings ----------------------------------------------------------------------------------------------


def _settings(made: Made) -> Iterator[tuple[Ranking, Way]]:
    """List rankings of settings with the library's own choice, which sets nothing that others set."""
    for ranking in made(SETTINGS):
        varying = {
            name
            for way in ranking.ways
            for name, value in way.options.items()
            if any(other.options.get(name, UNSET) != value for other in ranking.ways)
        }
        for way in ranking.ways:
            if all(way.options.get(name, UNSET) == UNSET for name in varying):
                yield ranking, way


def _setting_sentences(made: Made) -> Iterator[str]:
    """`MPICH 5.0.2: its own choice is beaten in 3 of 15 test cases, most in mpi.bcast 64 KiB: ...`."""
    by_mpi: dict[str, list[tuple[Ranking, Way]]] = {}
    for ranking, default in _settings(made):
        by_mpi.setdefault(ranking.mpi, []).append((ranking, default))
    for mpi, settings in by_mpi.items():
        beaten = [
            (ranking.ways[0], default, ranking)
            for ranking, default in settings
            if default not in ranking.ways[: ranking.alike]
        ]
        cases = counted(len(settings), "test case")
        name = f"{mpi_words(mpi)}: " if mpi else ""
        if not any(ranking.tells for ranking, _ in settings):
            few = "too few launches to tell which setting is the fastest"
            where = f"any of {cases}" if len(settings) > 1 else cases
            yield f"{name}{few} in {where}{_so_far(settings)}."
        elif not beaten:
            yield f"{name}no setting is clearly faster than the library's own choice in {cases}."
        else:
            best, default, ranking = max(beaten, key=lambda pair: pair[1].time / pair[0].time)
            factor = ratio_words(default.time / best.time)
            options = {key: value for key, value in best.options.items() if value != UNSET}
            changed = {key: value for key, value in options.items() if default.options.get(key) != value}
            where = f"{ranking.op} {format_bytes(ranking.bytes)}"
            yield (
                f"{name}the library's own choice is not the fastest in {len(beaten)} of {cases}, and takes "
                f"{factor} times as long as {format_values(changed)} in {where}."
            )


def _so_far(settings: Sequence[tuple[Ranking, Way]]) -> str:
    """`; so far the library's own choice took up to 67 times as long, in mpi.reduce 64 KiB`; nothing if ways
    are near each other, or their times are too uncertain.
    """
    sure = [
        (ranking, default) for ranking, default in settings if default.is_sure and ranking.ways[0].is_sure
    ]
    if not sure:
        return ""
    ranking, default = max(sure, key=lambda pair: pair[1].time / pair[0].ways[0].time)
    factor = default.time / ranking.ways[0].time
    if factor < 1 + NOISY:
        return ""
    where = f"{ranking.op} {format_bytes(ranking.bytes)}"
    return f"; so far the library's own choice took up to {ratio_words(factor)} times as long, in {where}"


# ---- outcomes ----------------------------------------------------------------------------------------------


def _outcomes(rows: Sequence[Row], has_sentences: bool) -> Iterator[str]:
    """Tell what failed, what was not measured, and how many numbers are too uncertain to be told."""
    cases = counted(len(rows), "test case")
    failed = [row for row in rows if row.status == "failed"]
    if failed:
        first = f"{row_name(failed[0])}: {failed[0].why or 'no reason given'}"
        more = f"; and {len(failed) - 1} more" if len(failed) > 1 else ""
        yield ended(f"{len(failed)} of {cases} failed: {first}{more}")
    to_come = sum(1 for row in rows if row.why == NOT_YET)
    skipped = [row for row in rows if row.status == "skipped" and row.why != NOT_YET]
    parts = [f"{len(skipped)} of {cases} could not be measured here{_why_words(skipped)}"] if skipped else []
    if to_come:
        verb = "is" if to_come == 1 else "are"
        parts.append(f"{to_come} of {cases} {verb} not measured yet{_whole_ops(rows)}")
    wide = [row for row in rows if _is_wide(row)]
    if wide and not has_sentences:
        references = {row.reference_point for row in wide}
        asked = [row for row in wide if row.point not in references] or wide
        yield _wide_words(min(asked, key=_how_telling))
    if wide:
        verb = "is" if len(wide) == 1 else "are"
        parts.append(f"{len(wide)} of {cases} {verb} uncertain by more than {100 * NOISY:.0f} %")
    if parts:
        yield f"{'; '.join(parts)}."
    elif not has_sentences and not failed:
        yield "Nothing was measured."


def _why_words(skipped: Sequence[Row]) -> str:
    """` (needs MPI 4.0)`: the reason, if all have the same; its first clause is enough here."""
    first, *others = sorted({re.split("[,;] ", why_words(row))[0] for row in skipped})
    return "" if others else f" ({first})"


def _whole_ops(rows: Sequence[Row]) -> str:
    """`, among them all of mpi.pingpong and 2 more operations`: ops that have no number at all."""
    begun = {row.op for row in rows if row.why != NOT_YET}
    missing = list(dict.fromkeys(row.op for row in rows if row.op not in begun))
    missing.sort(key=lambda op: (family_of(op) != MPI_FAMILY, place_of(op)))
    more = f" and {counted(len(missing) - 1, 'more operation')}" if len(missing) > 1 else ""
    return f", among them all of {missing[0]}{more}" if missing and begun else ""


def _wide_words(row: Row) -> str:
    """`mpi.get 8 B on 2 ranks of openmpi-4.1.4 takes between 20.1 ns and 36.4 ns`: all that is certain.

    Ends beyond ten times the value are no answer.
    """
    if _half_of(row) > MOST - 1:
        return f"{row_name(row)}: launches are too few, or differ too much, to tell its time."
    low, high = (format_time(end or 0.0) for end in (row.time_low, row.time_high))
    return f"{row_name(row)} takes between {low} and {high}; more launches tell it more exactly."


def _how_telling(row: Row) -> tuple[bool, bool, float]:
    """Sort rows whose interval tells something first, then those of MPI, then by certainty."""
    return _half_of(row) > MOST - 1, family_of(row.op) != MPI_FAMILY, _half_of(row)


def _half_of(row: Row) -> float:
    """Half of its interval relative to its time; infinite without one."""
    half = half_of(row.time, row.time_low, row.time_high)
    return math.inf if half is None else half


def _is_wide(row: Row) -> bool:
    return row.status == "ok" and math.isfinite(_half_of(row)) and not is_claimed(row)
