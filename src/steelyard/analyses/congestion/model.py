"""The impact of congestion: a victim beside a congestor over the same victim beside idle ranks.

The impact factor of GPCNeT, by quantile: the ratio of the launches' own values, launch by launch, with its
interval over launches. A victim is slowed where the interval lies above 1. Without a congestor the factor is
1 by its definition; another row without one (other sizes of no traffic) shows how far it strays by chance.

Source: S. Chunduri et al., GPCNeT: designing a benchmark suite for inducing and measuring contention in HPC
networks, SC 2019.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from steelyard.records.fields import Params
from steelyard.results.facets import Tails
from steelyard.results.facets.tails import TOLD
from steelyard.results.key import key_of
from steelyard.results.row import Row, launch_medians, modes_of
from steelyard.rows.labels import told_params
from steelyard.stats import Interval, span_of
from steelyard.stats.autocorrelation import Likeness

TRAFFIC, NONE = "traffic", "none"
_FREE = (f"param.{TRAFFIC}", "param.traffic_bytes", "param.traffic_window")
P50 = "p50"
QUANTILES = (P50, *TOLD)
SLOWED, NOT_SLOWED, CANNOT_TELL = "slowed", "not slowed", "cannot tell"
MATTERS = 1.1  # a slow-down below this is none


class Congestion(Struct, frozen=True, kw_only=True):
    """A victim beside one congestor. `quiet` and `loaded` are its times in ns; `impact` is by quantile.

    `verdict` is on the median: `slowed` if its interval lies above 1, `not slowed` if it lies below
    `MATTERS`.
    """

    op: str
    mpi: str | None
    bytes: int
    ranks: int
    method: str
    placement: str | None
    env: dict[str, str]
    params: Params
    traffic: str
    quiet: float
    loaded: float
    impact: dict[str, Interval]
    verdict: str


def congestions(rows: Sequence[Row], level: float = 0.95) -> tuple[Congestion, ...]:
    """Compare each victim with the same one beside idle ranks, in the order of the rows, by intervals of that
    level.
    """
    timed = [row for row in rows if row.status == "ok" and row.time and TRAFFIC in row.params]
    quiet: dict[tuple[object, ...], Row] = {}
    for row in timed:
        if row.params[TRAFFIC] == NONE:
            quiet.setdefault(key_of(row, _FREE), row)
    pairs = [(row, quiet.get(key_of(row, _FREE))) for row in timed]
    return tuple(_of(row, base, timed, level) for row, base in pairs if base is not None and base is not row)


def _of(row: Row, base: Row, among: Sequence[Row], level: float) -> Congestion:
    modes = modes_of(row, base)
    ratios_of = {
        name: _ratio(_launches(row, name), _launches(base, name), level, modes) for name in QUANTILES
    }
    impact = {name: ratio for name, ratio in ratios_of.items() if ratio is not None}
    return Congestion(
        op=row.op,
        mpi=row.mpi,
        bytes=row.bytes,
        ranks=row.ranks,
        method=row.method,
        placement=row.placed_text,
        env=row.env,
        params={name: value for name, value in told_params(row, among).items() if name != TRAFFIC},
        traffic=str(row.params[TRAFFIC]),
        quiet=base.time or 0.0,
        loaded=row.time or 0.0,
        impact=impact,
        verdict=_verdict(impact.get(P50)),
    )


def _launches(row: Row, quantile: str) -> dict[int, float]:
    """Map launch numbers to their own values above 0."""
    if quantile == P50:
        return launch_medians(row)
    return {tail.launch: tail.values[quantile] for tail in row.get(Tails).tails if tail.values.get(quantile)}


def _ratio(
    loaded: dict[int, float], quiet: dict[int, float], level: float, modes: Likeness
) -> Interval | None:
    ratios = [loaded[launch] / quiet[launch] for launch in sorted(loaded.keys() & quiet.keys())]
    return span_of(ratios, level, alike=modes) if ratios else None


def _verdict(impact: Interval | None) -> str:
    if impact is None or impact.low is None or impact.high is None:
        return CANNOT_TELL
    if impact.low > 1:
        return SLOWED
    return NOT_SLOWED if impact.high < MATTERS else CANNOT_TELL
