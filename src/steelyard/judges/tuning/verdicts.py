"""Is a file of algorithms worth it: what came of measuring it by turns with the library as it is."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from msgspec import Struct

from steelyard.base.plural import counted
from steelyard.base.printable import ended
from steelyard.base.units import format_bytes, format_ratio
from steelyard.judges.compare.scale import FASTER, SLOWER
from steelyard.judges.compare.verdicts import CaseVerdict, Verdicts
from steelyard.judges.tuning.choices import Choice
from steelyard.judges.verdict import CANNOT_TELL, Judged, Scale
from steelyard.render.table import BAD, DIM, PLAIN, Line, Table, number, remark, words
from steelyard.rows.words import ratio_span

RECOMMENDED, NOT_RECOMMENDED, NOTHING_TO_GAIN = "recommended", "not recommended", "nothing to gain"
TUNED = Scale((NOT_RECOMMENDED, CANNOT_TELL, RECOMMENDED, NOTHING_TO_GAIN))
_TONES = {SLOWER: BAD, CANNOT_TELL: DIM}
_OWN = "the library's own"


class TunedCase(Struct, frozen=True, kw_only=True):
    """One test case: what the file says, the ratio of the time with it to that without, and the verdict.

    `sweep_ratio` is the same ratio in the sweep, by which the algorithm was chosen.
    """

    collective: str
    ranks: int
    bytes: int
    algorithm: str
    sweep_ratio: float
    ratio: float | None
    low: float | None
    high: float | None
    verdict: str


class TunedMpi(Struct, frozen=True, kw_only=True):
    """What became of one MPI: the verdict with its reason, its file, the variables, and all test cases.

    `file` is the table of algorithms, empty for an MPI whose variables say all; `script` sets the variables
    in a shell, empty where the file is not recommended. `launches` is the number of pairs of launches.
    """

    mpi: str
    verdict: str
    why: str
    file: str
    script: str
    settings: dict[str, str]
    launches: int
    cases: tuple[TunedCase, ...]


class Tuned(Struct, frozen=True):
    """The gravest verdict, and each MPI."""

    verdict: str
    mpis: tuple[TunedMpi, ...]


def tuned(mpis: Sequence[TunedMpi]) -> Tuned:
    """Make one verdict of those on MPIs."""
    return Tuned(TUNED.gravest(mpi.verdict for mpi in mpis), tuple(mpis))


def cases_of(choices: Sequence[Choice], verdicts: Verdicts) -> tuple[TunedCase, ...]:
    """Join what a file says with what came of it, in the order of the choices."""
    said = {(point.op, point.bytes, point.ranks): point for point in verdicts.points}
    return tuple(
        _case(choice, said.get((f"mpi.{choice.collective}", choice.bytes, choice.ranks)))
        for choice in choices
    )


def _case(choice: Choice, said: CaseVerdict | None) -> TunedCase:
    return TunedCase(
        collective=choice.collective,
        ranks=choice.ranks,
        bytes=choice.bytes,
        algorithm=choice.algorithm,
        sweep_ratio=choice.chosen / choice.usual,
        ratio=said.ratio if said else None,
        low=said.low if said else None,
        high=said.high if said else None,
        verdict=said.verdict if said else CANNOT_TELL,
    )


def judge_cases(cases: Sequence[TunedCase]) -> tuple[str, str]:
    """Say whether a file is recommended, and why: it is if it is faster somewhere, and slower nowhere."""
    faster, slower, open_ = (
        sum(case.verdict == verdict for case in cases) for verdict in (FASTER, SLOWER, CANNOT_TELL)
    )
    same = len(cases) - faster - slower - open_
    parts = [
        f"faster in {faster or 'none'} of {len(cases)}",
        *([f"same in {same}"] if same else []),
        *([f"cannot tell in {open_}"] if open_ else []),
        f"slower in {slower or 'none'}",
    ]
    why = ", ".join(parts)
    if slower:
        return NOT_RECOMMENDED, why
    if faster:
        return RECOMMENDED, why
    if open_:
        return CANNOT_TELL, f"{why}; more --launches may tell"
    return NOT_RECOMMENDED, f"{why}; the library does not obey the file, or the sweep was misled"


def nothing_to_gain(mpi: str, undecided: int, tried: int) -> TunedMpi:
    """Say that no algorithm of a sweep is shown to be faster than the library's own choice; `undecided` of
    those that were `tried`, each at a size, may be faster by a fourth or more.
    """
    why = "no algorithm of the sweep beats the library's own choice, or each would make a size slower"
    if undecided:
        why = (
            "no algorithm of the sweep is shown to beat the library's own choice, and "
            f"{undecided} of {tried} algorithms, each at a size, may be faster by a fourth or more; more "
            "launches of the sweep may tell"
        )
    verdict = CANNOT_TELL if undecided else NOTHING_TO_GAIN
    return TunedMpi(mpi=mpi, verdict=verdict, why=why, file="", script="", settings={}, launches=0, cases=())


def tuned_tables(result: Tuned) -> Iterator[Table]:
    """Make a table for each MPI that has a file."""
    columns = (
        *(words("collective"), number("ranks"), number("bytes"), words("algorithm"), number("in sweep")),
        *(number("ratio", strong=True), number("from"), number("to"), remark()),
    )
    for mpi in result.mpis:
        if mpi.cases:
            of_each = f"{counted(mpi.launches, 'launch')} of each, alternately"
            explained = f"time with the file over that without, {of_each}"
            lines = tuple(Line(_cells(case), _TONES.get(case.verdict, PLAIN)) for case in mpi.cases)
            yield Table(f"tuning of {mpi.mpi}", explained, columns, lines, grouped=2)


def _cells(case: TunedCase) -> tuple[str, ...]:
    return (
        *(case.collective, str(case.ranks), format_bytes(case.bytes), case.algorithm or _OWN),
        *(format_ratio(case.sweep_ratio), *ratio_span(case.ratio, case.low, case.high), case.verdict),
    )


def tuned_sentences(result: Tuned) -> Iterator[str]:
    """Say of each MPI whether its file is recommended, and how it is used."""
    for mpi in result.mpis:
        yield ended(f"{mpi.mpi}: {mpi.verdict}: {mpi.why}")
        if mpi.script:
            yield f"To use it in a shell: . {shlex.quote(mpi.script)}"


def judged_mpis(result: Tuned) -> Iterator[Judged]:
    """List the verdicts on MPIs."""
    for mpi in result.mpis:
        yield Judged("tuning", mpi.mpi, mpi.verdict, mpi.why)
