"""The outcome of a validation: a document, and tables for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from steelyard import __version__
from steelyard.base.plural import counted
from steelyard.base.units import format_bytes
from steelyard.render.table import BAD, DIM, PLAIN, Line, Table, number, plain_lines, words
from steelyard.validate.claims import Verdict, row_words
from steelyard.validate.design import Wishes
from steelyard.validate.rows import Comparison, NotRun

_SHOWN_FAILING = 10  # rows of a claim that a terminal can take


class Bias(Struct, frozen=True, kw_only=True):
    """The errors of a method over its rows: in % of the truth, and the share inside the stated error.

    `asymmetric`: on machines on which some paths take longer in one direction.
    """

    method: str
    noise: bool
    asymmetric: bool
    ranks_per_host: str
    rows: int
    min_pct: float
    median_pct: float
    max_pct: float
    inside_share: float
    worst_stated_pct: float
    worst_stated_ns: float


def biases(rows: Sequence[Comparison]) -> tuple[Bias, ...]:
    """Summarise each method without and with noise, on symmetric and asymmetric paths, and for one and for
    several ranks on a host.
    """
    groups: dict[tuple[str, bool, bool, bool], list[Comparison]] = {}
    for row in rows:
        key = (row.method, row.noise, row.asymmetric, row.ranks_per_host > 1)
        groups.setdefault(key, []).append(row)
    return tuple(_bias(members) for _, members in sorted(groups.items(), key=lambda item: item[0]))


def _bias(rows: Sequence[Comparison]) -> Bias:
    errors = np.array([row.error_pct for row in rows])
    return Bias(
        method=rows[0].method,
        noise=rows[0].noise,
        asymmetric=rows[0].asymmetric,
        ranks_per_host=", ".join(str(count) for count in sorted({row.ranks_per_host for row in rows})),
        rows=len(rows),
        min_pct=float(errors.min()),
        median_pct=float(np.median(errors)),
        max_pct=float(errors.max()),
        inside_share=float(np.mean([row.inside_stated_error for row in rows])),
        worst_stated_pct=max(100 * row.stated_error_ns / row.truth_ns for row in rows),
        worst_stated_ns=max(row.stated_error_ns for row in rows),
    )


def document(
    rows: Sequence[Comparison], missing: Sequence[NotRun], verdicts: Sequence[Verdict], wishes: Wishes
) -> dict[str, Any]:
    """Make the document for --json and validate.json."""
    return {
        "schema": 1,
        "version": __version__,
        "seed": wishes.seed,
        "full": wishes.full,
        "rows": rows,
        "not_run": missing,
        "methods": biases(rows),
        "claims": verdicts,
    }


def report_lines(
    rows: Sequence[Comparison], missing: Sequence[NotRun], verdicts: Sequence[Verdict]
) -> Iterator[Table | str]:
    """Write the terminal's text, from top to bottom."""
    if rows:
        yield bias_table(rows)
        yield from asymmetry_lines(rows)
        yield ""
    yield claim_table(verdicts)
    yield from failing_lines(verdicts)
    yield from not_run_lines(missing)


def bias_table(rows: Sequence[Comparison]) -> Table:
    """Table the errors of each method against the truth."""
    return Table(
        "error against the simulated truth",
        "in per cent; inside: of the stated error",
        (
            *map(words, ("method", "noise", "paths", "per host")),
            *map(number, ("rows", "min", "median", "max", "inside", "worst stated")),
        ),
        plain_lines(
            (
                bias.method,
                "yes" if bias.noise else "no",
                "asymmetric" if bias.asymmetric else "symmetric",
                bias.ranks_per_host,
                str(bias.rows),
                *(f"{value:+.2f}" for value in (bias.min_pct, bias.median_pct, bias.max_pct)),
                f"{100 * bias.inside_share:.0f} %",
                f"{bias.worst_stated_pct:.2g} %, {bias.worst_stated_ns:.3g} ns",
            )
            for bias in biases(rows)
        ),
    )


def asymmetry_lines(rows: Sequence[Comparison]) -> list[str]:
    """Say where paths are asymmetric, and what is stated there."""
    names = dict.fromkeys(row.platform for row in rows if row.certain)
    return [
        f"{name}: some paths may take longer one way than back (asymmetric), which no exchange of messages "
        "sees: the guaranteed bounds of the clocks' errors are stated"
        for name in names
    ]


# Whether a claim holds -> what the table says, and its tone; None: it was not tried.
_HOLDS = {True: ("holds", PLAIN), False: ("FAILS", BAD), None: ("not tried", DIM)}


def claim_table(verdicts: Sequence[Verdict]) -> Table:
    """Table the claims, and whether they hold."""
    lines = []
    for verdict in verdicts:
        said, tone = _HOLDS[verdict.holds]
        lines.append(Line((verdict.name, said, verdict.sentence, verdict.evidence), tone))
    return Table("claims", "", tuple(map(words, ("claim", "verdict", "what", "where"))), tuple(lines))


def failing_lines(verdicts: Sequence[Verdict]) -> list[str]:
    """List the rows that a claim fails on, the worst first, limited for a terminal."""
    lines = []
    for verdict in verdicts:
        lines += [f"{verdict.name}: {row_words(row)}" for row in verdict.failing[:_SHOWN_FAILING]]
        if len(verdict.failing) > _SHOWN_FAILING:
            lines.append(f"{verdict.name}: and {len(verdict.failing) - _SHOWN_FAILING} more rows")
    return lines


def not_run_lines(missing: Sequence[NotRun]) -> list[str]:
    """List what has no row, grouped: nothing is dropped silently."""
    groups: Counter[str] = Counter()
    for one in missing:
        size = f" {format_bytes(one.bytes)}" if one.bytes else ""
        barrier = f", barrier {one.barrier}" if one.barrier else ""
        where = f"{one.op}{size}, {one.ranks} ranks, {one.platform}, {one.selector}{barrier}"
        groups[f"not run: {where}: {one.why}"] += 1
    return [f"{text} ({counted(count, 'method')})" for text, count in groups.items()]
