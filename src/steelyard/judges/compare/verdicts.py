"""Compare each arm with the first, over all test cases that they share, and over each op."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from msgspec import Struct

from steelyard.base.errors import InputError
from steelyard.base.plural import plural
from steelyard.base.units import format_bytes
from steelyard.judges.compare.arms import Rivals
from steelyard.judges.compare.conditions import differing
from steelyard.judges.compare.contrasts import answers_of
from steelyard.judges.compare.launch_pairs import begins_of, refuse_copies, strangers
from steelyard.judges.compare.scale import COMPARED, Answer, Question
from steelyard.records.command_line import resumed
from steelyard.results.row import Row, has_no_time, has_time
from steelyard.results.sittings import sittings_of
from steelyard.rows.labels import row_labels, told_by_op
from steelyard.stats.arrays import FloatArray
from steelyard.stats.interim_looks import compare_looks
from steelyard.stats.unpaired import compare_sittings


class OtherConditionsError(InputError):
    """Nothing is compared, because the arms were measured in different ways."""


class CaseVerdict(Struct, frozen=True, kw_only=True):
    """The verdict on one test case, or on all of an op (`bytes` None): `b` against `a`.

    `ratio` is the time of `b` over that of `a`; `low`..`high` hold for all test cases of the comparison
    together; `p` is adjusted for all of them. `what` distinguishes it from others of its op and size: `4
    ranks`. `sized` distinguishes an op without a size from 0 bytes.
    `precise`: is the interval as narrow as the plan asks, None if it does not ask? `launches_precise` would
    make it so.
    """

    op: str
    bytes: int | None
    ranks: int
    point_a: int | None
    point_b: int | None
    a: str
    b: str
    ratio: float | None
    low: float | None
    high: float | None
    p: float | None
    verdict: str
    launches_needed: int | None
    why: str
    what: str = ""
    sized: bool = True
    precise: bool | None = None
    launches_precise: int | None = None

    @property
    def size(self) -> str:
        """`64 KiB`, `all` for an op, empty for an op without sizes."""
        if self.bytes is None:
            return "all"
        return format_bytes(self.bytes) if self.sized else ""


class Promise(Struct, frozen=True):
    """The rate at which comparisons of equals say slower or faster, and the number of statements."""

    false_alarm: float | None
    family: int
    words: str


class Verdicts(Struct, frozen=True, kw_only=True):
    """All verdicts, and their common one. `launches` is the number of pairs of launches.

    `apart` are launches left out of some test case at least, because their pairs were no neighbours in time.
    `zeros` names test cases and launches that are left out because an arm took less time than its timer can
    measure, `failed` those of which launches failed, with the arm and the reason. `despite` are the
    conditions in which arms differ and are compared nevertheless, with values. `level` is the probability
    that all intervals hold together. `quantile` of launches is what is compared; None: their medians.
    `precision` is the half-width of ratios that the plan asks for. `variables`: see `Rivals`.
    """

    verdict: str
    arms: tuple[str, ...]
    by_turns: bool
    launches: int
    promise: Promise
    points: tuple[CaseVerdict, ...]
    ops: tuple[CaseVerdict, ...]
    missing: int
    refused: tuple[str, ...]
    apart: tuple[int, ...] = ()
    zeros: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    despite: tuple[str, ...] = ()
    level: float = 0.99
    quantile: float | None = None
    precision: float | None = None
    variables: tuple[str, ...] = ()


def compare(rivals: Rivals, by_turns: bool, asked: Question, seed: int = 0) -> Verdicts:
    """Compare each arm with the first.

    `by_turns`: launch i of each arm ran beside launch i of the others in an order that a coin chose; only
    then the design keeps the rate of false alarms. Raises InputError if no test case can be compared.
    """
    usable, refused = _comparable(rivals)
    if not usable:
        first = next(iter(refused), None)
        text = f"no test case can be compared{f': {first.words}; {first.remedy}' if first else ''}"
        raise OtherConditionsError(text) if first and first.conditions else InputError(text)
    if not by_turns:
        refuse_copies(usable, rivals.arms)
    begins = begins_of(usable)
    apart = [strangers(case, begins) for case in usable] if by_turns else [frozenset[int]()] * len(usable)
    base, *others = rivals.arms
    family = (len(usable) + len({case[0].op for case in usable})) * rivals.comparisons
    points: list[CaseVerdict] = []
    ops: list[CaseVerdict] = []
    pairs = 0
    for k, name in enumerate(others, 1):
        # Bonferroni over the arms: each comparison with the first keeps its share of the false alarms
        share = replace(asked, false_alarm=asked.false_alarm / rivals.comparisons)
        design = apart if by_turns else None
        found, of_ops, n = _against(usable, k, (base, name), design, share, rivals.looks, seed)
        points += found
        ops += of_ops
        pairs = max(pairs, n)
    return Verdicts(
        verdict=COMPARED.gravest(point.verdict for point in points),
        arms=rivals.arms,
        by_turns=by_turns,
        launches=pairs,
        promise=Promise(asked.false_alarm if by_turns else None, family, _promise(rivals, by_turns, asked)),
        points=tuple(points),
        ops=tuple(ops),
        missing=rivals.missing,
        refused=tuple(one.words for one in refused),
        apart=tuple(sorted(frozenset().union(*apart))),
        zeros=tuple(words for case in usable if (words := launches_without_time(case))),
        failed=tuple(words for case in usable if (words := _failed(case, rivals.arms))),
        despite=_despite(usable, rivals),
        level=1 - asked.false_alarm,
        quantile=asked.quantile,
        precision=asked.precision,
        variables=rivals.variables,
    )


def _promise(rivals: Rivals, by_turns: bool, asked: Question) -> str:
    if not by_turns:
        return "the rivals were measured at different times: what an hour adds is assumed, not measured"
    words = (
        f"at most {100 * asked.false_alarm:g} % of comparisons of equals say slower or faster anywhere, if a "
        "pair does not depend on the pair before it"
    )
    return f"{words}, whichever rival is the fastest in the mean" if rivals.is_best else words


@dataclass(frozen=True, slots=True)
class _Refusal:
    """The reason why a test case is not compared, the remedy, and the conditions in which arms differ."""

    words: str
    remedy: str
    conditions: tuple[str, ...] = ()


def _comparable(rivals: Rivals) -> tuple[list[tuple[Row, ...]], tuple[_Refusal, ...]]:
    """Select the cases that were measured in the same way in all arms, with the reasons for others."""
    usable, refused = [], []
    for case in rivals.cases:
        name = _named(case)
        if (why := _why_not(case, rivals)) is None:
            usable.append(case)
        else:
            refused.append(replace(why, words=f"{name}: {why.words}"))
    return usable, tuple(refused)


def _named(case: Sequence[Row]) -> str:
    return f"{case[0].op}, {case[0].bytes} bytes" if case[0].bytes else case[0].op


def launches_without_time(case: Sequence[Row]) -> str:
    """Write `mpi.test, launches 3, 4`: those with a median of 0, or less after the timer's own cost."""
    which = sorted({launch.launch for row in case for launch in row.launches if has_no_time(launch)})
    return f"{_named(case)}, {plural('launch', len(which))} {', '.join(map(str, which))}" if which else ""


def _told_of(case: Sequence[Row], which: Iterable[int], arms: Sequence[str]) -> str:
    """Write `mpich: hang (launch 2 of 5)`: outcomes of launches without values, in some of the arms."""
    return "; ".join(f"{arms[k]}: {case[k].why}" for k in which if case[k].why)


def _failed(case: Sequence[Row], arms: Sequence[str]) -> str:
    """Write `mpi.bcast, 8 bytes, mpich: hang (launch 2 of 5)`, for launches that failed beside others."""
    told = _told_of(case, [k for k, row in enumerate(case) if row.status == "failed"], arms)
    return f"{_named(case)}, {told}" if told else ""


def _why_not(case: Sequence[Row], rivals: Rivals) -> _Refusal | None:
    few = [k for k, row in enumerate(case) if sum(launch.median is not None for launch in row.launches) < 2]
    if few:
        told = _told_of(case, few, rivals.arms)
        if not told:
            return _Refusal("fewer than two launches", "give each rival two launches at least")
        if failed := [k for k in few if case[k].status == "failed"]:
            again = f": {resumed(rivals.folders[failed[0]], retry='failed')}" if rivals.folders else ""
            return _Refusal(
                f"fewer than two launches went well ({told})", f"mend that, then measure them again{again}"
            )
        return _Refusal(f"fewer than two launches with a value ({told})", "measure more samples of it")
    if any(sum(has_time(launch) for launch in row.launches) < 2 for row in case):
        return _Refusal(
            f"a median of 0 {case[0].unit}, less than the timer can tell",
            "choose a finer timer with --clock, or a larger size",
        )
    if len({row.unit for row in case}) > 1:
        return _Refusal("different units", "compare what has the same unit")
    others = {name: values for name, values in differing(case).items() if name not in rivals.may_differ}
    if not others:
        return None
    return _Refusal(
        f"measured in different ways ({'; '.join(f'{name}: {values}' for name, values in others.items())})",
        f"measure both in the same way, or compare nevertheless with --despite {','.join(others)}",
        tuple(others),
    )


def _despite(cases: Sequence[Sequence[Row]], rivals: Rivals) -> tuple[str, ...]:
    """Find the first difference in each condition that may differ and is not the factor."""
    found: dict[str, str] = {}
    for case in cases:
        found = differing(case) | found
    return tuple(
        f"{name} ({values})"
        for name, values in found.items()
        if name in rivals.may_differ and name != rivals.by
    )


def _against(
    cases: Sequence[tuple[Row, ...]],
    k: int,
    names: tuple[str, str],
    apart: Sequence[frozenset[int]] | None,
    asked: Question,
    looks: Sequence[int],
    seed: int,
) -> tuple[list[CaseVerdict], list[CaseVerdict], int]:
    """Compare two arms; `apart`: for arms by turns, the launches of each case that are left out;
    else None. `looks`: how many launches there were when they were looked at before.
    """
    rows = [(case[0], case[k]) for case in cases]
    firsts = [row for row, _ in rows]
    labels = row_labels(firsts, without=told_by_op(firsts))
    first, second = _table(rows, 0, apart), _table(rows, 1, apart)
    level = 1 - asked.false_alarm
    ops = list(dict.fromkeys(case[0].op for case in cases))
    columns = [[j for j, (row, _) in enumerate(rows) if row.op == op] for op in ops]
    whole = [_with_means(one, columns) for one in (first, second)]
    lines = [bisect_right(_numbers(rows, range(2)), look) for look in looks]
    found = (
        compare_sittings(*whole, level=level, sittings=(_sittings(rows, 0), _sittings(rows, 1)))
        if apart is None
        else compare_looks(whole[0], whole[1], lines, level=level, seed=seed)
    )
    answers = answers_of(found, whole[0], whole[1], asked, by_turns=apart is not None, looks=lines)
    points = [
        _verdict(row, other, names, said, labels.label(j))
        for j, ((row, other), said) in enumerate(zip(rows, answers[: len(rows)], strict=True))
    ]
    of_ops = [
        _verdict(rows[mine[0]][0], None, names, said)
        for mine, said in zip(columns, answers[len(rows) :], strict=True)
    ]
    return points, of_ops, int(found.pairs.max(initial=0))


def _with_means(table: FloatArray, columns: Sequence[Sequence[int]]) -> FloatArray:
    """Add to the table, for each op, the mean over its test cases if a launch has all of them."""
    return np.column_stack([table, *(table[:, list(mine)].mean(axis=1) for mine in columns)])


def _table(rows: Sequence[tuple[Row, Row]], arm: int, apart: Sequence[frozenset[int]] | None) -> FloatArray:
    """Table the logarithms of launch medians: a line for each launch, a column for each test case, nan for
    none.

    For arms by turns, a line is a pair of launches: both arms have the same lines, `apart` have no values.
    """
    medians = [
        {
            launch.launch: math.log(launch.median or math.nan)
            for launch in pair[arm].launches
            if has_time(launch) and launch.launch not in out
        }
        for pair, out in zip(rows, apart or [frozenset()] * len(rows), strict=True)
    ]
    arms = (arm,) if apart is None else range(2)
    launches = _numbers(rows, arms)
    return np.array([[column.get(launch, math.nan) for column in medians] for launch in launches])


def _numbers(rows: Sequence[tuple[Row, Row]], arms: Iterable[int]) -> list[int]:
    """List the launches of those arms, each a line of a table."""
    arms = tuple(arms)
    return sorted({launch.launch for pair in rows for which in arms for launch in pair[which].launches})


def _sittings(rows: Sequence[tuple[Row, Row]], arm: int) -> tuple[int, ...]:
    """Number the sitting of each line of a folder's table."""
    began = {launch.launch: launch.began_unix_ns or 0 for pair in rows for launch in pair[arm].launches}
    return sittings_of([began[launch] for launch in _numbers(rows, (arm,))])


def _verdict(
    row: Row, other: Row | None, names: tuple[str, str], said: Answer, what: str = ""
) -> CaseVerdict:
    return CaseVerdict(
        op=row.op,
        bytes=row.bytes if other else None,
        ranks=row.ranks,
        point_a=row.point if other else None,
        point_b=other.point if other else None,
        a=names[0],
        b=names[1],
        ratio=said.ratio,
        low=said.low,
        high=said.high,
        p=said.p,
        verdict=said.verdict,
        launches_needed=said.launches_needed,
        why=said.why,
        precise=said.precise,
        launches_precise=said.launches_precise,
        what=what,
        sized=row.sized or row.bytes > 0,
    )
