"""Claims about the methods, as rows: a name, the rows that it is about, the condition, one sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec import Struct

from steelyard.base.units import format_bytes
from steelyard.validate.rows import Comparison

_EXACT = 0.01  # of the truth, without noise
_EXACT_NOISE = 0.02
_SHARE_INSIDE = 0.99
_SHARP, _SHARP_NS = 0.03, 500.0
_TRUTH_REPEATS, _TRUTH_REPEATS_NS = 1e-3, 2.0
_LATE = 0.05  # share of samples rejected; beyond it, the median is of the lucky ones
_ROOTED = ("bcast", "scatter", "gather", "reduce")
_SMALL = 1024  # bytes: the bias of pipelines and barriers shows in short calls


class Verdict(Struct, frozen=True, kw_only=True):
    """A claim checked on rows: `holds` is None if no row is of its kind."""

    name: str
    sentence: str
    holds: bool | None
    evidence: str
    rows: int
    failing: tuple[Comparison, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """`about` selects rows; every one of them must be `right`, or at least one if `somewhere`.

    `share` is the share that must be right, if not every one must.
    """

    name: str
    sentence: str
    about: Callable[[Comparison], bool]
    right: Callable[[Comparison], bool]
    share: float = 1.0
    somewhere: bool = False


def _error(row: Comparison) -> float:
    return row.estimate_ns - row.truth_ns


def _quiet(method: str) -> Callable[[Comparison], bool]:
    return lambda row: row.method == method and not row.noise


def _near(row: Comparison, share: float) -> bool:
    return abs(_error(row)) <= max(share * row.truth_ns, row.stated_error_ns)


_SHARE_BELOW = 0.95
_LOOP_START = 0.02  # of the lower bound: the skew at the start of 50 calls back to back


def _small_rooted(row: Comparison) -> bool:
    rooted = row.op.rpartition(".")[2].removeprefix("i") in _ROOTED
    return rooted and row.bytes <= _SMALL and row.ranks >= 16 and not row.noise


def _clock_free(row: Comparison) -> bool:
    ours = row.method in ("bisected-ack", "trigger") and row.ranks_per_host == 1
    return ours and not row.noise and not row.asymmetric


def _clock_free_alone(row: Comparison) -> bool:
    """Can early partners do nothing early: no shared links, no flat trees, no scan?"""
    alone = row.flat and row.selector in ("mpich", "ompi")
    return _clock_free(row) and alone and not _shares_a_link(row)


def _shares_a_link(row: Comparison) -> bool:
    """Is it Open MPI's tree of a reduction, uneven? Blocks share a parent's link, except those that came
    early.
    """
    uneven = row.ranks & (row.ranks - 1) != 0
    return uneven and row.op.endswith("reduce") and row.selector == "ompi" and row.bytes >= _SMALL


def _truth_repeats(row: Comparison) -> bool:
    first, again = row.truth_first_ns, row.truth_again_ns
    return again is not None and abs(again - first) <= max(_TRUTH_REPEATS * first, _TRUTH_REPEATS_NS)


CLAIMS = (
    Claim(
        "truth-repeats",
        "without noise the truth after the methods is the truth before them, within 0.1 % or 2 ns",
        lambda row: not row.noise and row.truth_again_ns is not None,
        _truth_repeats,
    ),
    Claim(
        "epoch-exact",
        "without noise epoch is within 1 % of the truth, or within its stated error where that is larger",
        _quiet("epoch"),
        lambda row: _near(row, _EXACT),
    ),
    Claim(
        "epoch-honest",
        "without noise the truth lies inside the stated error of epoch in 99 % of the rows",
        _quiet("epoch"),
        lambda row: row.inside_stated_error,
        share=_SHARE_INSIDE,
    ),
    Claim(
        "epoch-sharp",
        "without noise, paths being symmetric, epoch states no error above 3 % or 500 ns",
        lambda row: _quiet("epoch")(row) and not row.asymmetric,
        lambda row: row.stated_error_ns <= max(_SHARP * row.truth_ns, _SHARP_NS),
    ),
    Claim(
        "epoch-in-time",
        "without noise at most 5 % of the samples of epoch start late",
        _quiet("epoch"),
        lambda row: row.rejected <= _LATE * (row.count + row.rejected),
    ),
    Claim(
        "epoch-noise",
        "with noise epoch is within 2 % of the truth, or within its stated error and the truth's own scatter",
        lambda row: row.method == "epoch" and row.noise,
        lambda row: _near(row, _EXACT_NOISE) or row.inside_stated_error,
    ),
    Claim(
        "batch-overlaps",
        "batch reads less than half the truth somewhere: rooted collectives of 1 KiB or less overlap",
        lambda row: row.method == "batch" and _small_rooted(row),
        lambda row: row.error_pct < -50,
        somewhere=True,
    ),
    Claim(
        "barrier-skews",
        "barrier is off by more than 5 % somewhere with 4 ranks on a host",
        lambda row: row.method == "barrier" and row.ranks_per_host >= 4 and _small_rooted(row),
        lambda row: abs(row.error_pct) > 5,
        somewhere=True,
    ),
    Claim(
        "clock-free-exact",
        "bisected-ack and trigger are within 2 % of the truth without noise, on a flat network with one rank "
        "on a host, by the algorithms of MPICH and Open MPI; but for reductions of 1 KiB and more on "
        "ranks that are no power of two, by those of Open MPI",
        _clock_free_alone,
        lambda row: abs(_error(row)) <= _EXACT_NOISE * row.truth_ns,
    ),
    Claim(
        "clock-free-below",
        "without noise, paths being symmetric, bisected-ack and trigger are not above the truth by more than "
        "they state and the truth repeats to, or scatters",
        _clock_free,
        lambda row: (
            _error(row) <= row.stated_error_ns + max(_TRUTH_REPEATS * row.truth_ns, row.truth_error_ns)
        ),
    ),
    Claim(
        "bounds-above",
        "without noise no truth is above the upper of the two bounds",
        _quiet("bounds"),
        lambda row: row.truth_ns <= row.high_ns + row.stated_error_ns,
    ),
    Claim(
        "bounds-below",
        "without noise, paths being symmetric, the lower of the two bounds is not above the truth in 95 % of "
        "the rows; where calls back to back share links with the one before, it can be",
        lambda row: _quiet("bounds")(row) and not row.asymmetric,
        lambda row: (1 - _LOOP_START) * row.low_ns <= row.truth_ns,
        share=_SHARE_BELOW,
    ),
)


def check_claims(rows: Sequence[Comparison], claims: Sequence[Claim] = CLAIMS) -> tuple[Verdict, ...]:
    """Check each claim on the rows that it is about."""
    return tuple(_check(claim, [row for row in rows if claim.about(row)]) for claim in claims)


def _check(claim: Claim, about: Sequence[Comparison]) -> Verdict:
    wrong = [row for row in about if not claim.right(row)]
    right = len(about) - len(wrong)
    if not about:
        holds, evidence = None, "no such row"
    elif claim.somewhere:
        holds, evidence = right > 0, f"in {right} of {len(about)} rows"
    else:
        holds = right >= claim.share * len(about)
        evidence = f"in {right} of {len(about)} rows"
    failing = () if holds or claim.somewhere else tuple(sorted(wrong, key=lambda row: -abs(row.error_pct)))
    return Verdict(
        name=claim.name,
        sentence=claim.sentence,
        holds=holds,
        evidence=evidence,
        rows=len(about),
        failing=failing,
    )


def row_words(row: Comparison) -> str:
    """Write one row in a line, as evidence."""
    barrier = f", barrier {row.barrier}" if row.barrier else ""
    return (
        f"{row.op} {format_bytes(row.bytes)}, {row.ranks} ranks, {row.ranks_per_host} per host, "
        f"{row.platform}, {row.selector}{barrier}, {row.method}: {row.estimate_ns:.1f} ns, "
        f"truth {row.truth_ns:.1f} ns "
        f"({row.error_pct:+.2f} %), stated error {row.stated_error_ns:.1f} ns"
    )
