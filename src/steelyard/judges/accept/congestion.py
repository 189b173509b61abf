"""Congestion: how much others slow a victim, against the reference and against what is a fault anywhere."""

from __future__ import annotations

from steelyard.analyses.congestion.model import P50, Congestion, congestions
from steelyard.base.units import format_factor
from steelyard.judges.accept.criterion import NOT_WELL, WELL, Candidate, Finding, criterion
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.render.table import NOTHING
from steelyard.rows.words import ratio_span
from steelyard.stats import Interval

# What a median may grow by beside a congestor: GPCNeT has 1 to 3 on networks that control congestion, and up
# to some 10 on those that do not (Chunduri et al. 2019).
_MOST_IMPACT = 10.0
_MOST_MORE = 1.5  # times the impact of the reference: the victim's own scatter is 1.1 to 1.3
_MOST_NAMED = 3


@criterion(
    "congestion",
    "Does the traffic of others slow a victim no more than in the reference?",
    remedy="Look at what that traffic shares with the victim, such as a link, a switch or a memory channel, "
    "and at the settings that keep traffic apart (classes of service, adaptive routing, congestion control). "
    "steelyard run congestion shows each congestor.",
)
def congestion(candidate: Candidate) -> Finding | None:
    """Judge impact factors of medians; None where no victim was measured beside a congestor."""
    victims = [victim for victim in congestions(candidate.weighed.rows) if P50 in victim.impact]
    if not victims:
        return None
    points = {victim.op for victim in victims}
    launches = min(row.launch_count for row in candidate.weighed.rows if row.op in points and row.time)
    bad = [victim for victim in victims if (victim.impact[P50].low or 0.0) > _MOST_IMPACT]
    said = [f"{_name(victim)} {_factor(victim)}; {_MOST_IMPACT:g} times is allowed" for victim in bad]
    said += _more_than_reference(candidate, [victim for victim in victims if victim not in bad])
    if said:
        rest = f"; and {len(said) - _MOST_NAMED} more" if len(said) > _MOST_NAMED else ""
        return Finding(NOT_WELL, f"{'; '.join(said[:_MOST_NAMED])}{rest}.", "", launches, said[0])
    worst = max(victims, key=lambda victim: victim.impact[P50].value)
    open_ = [victim for victim in victims if (victim.impact[P50].high or float("inf")) > _MOST_IMPACT]
    if open_:
        return Finding(
            CANNOT_TELL,
            f"{_name(open_[0])} {_factor(open_[0])}: the launches leave open whether that is more than "
            f"{_MOST_IMPACT:g} times.",
            candidate.weighed.more_launches(),
        )
    return Finding(WELL, f"The most: {_name(worst)} {_factor(worst)}.")


def _more_than_reference(candidate: Candidate, victims: list[Congestion]) -> list[str]:
    """Name what is slowed more than in the reference, with both intervals."""
    if candidate.reference is None:
        return []
    before = {
        _key(victim): victim.impact[P50]
        for victim in congestions(candidate.reference.rows)
        if P50 in victim.impact
    }
    return [
        f"{_name(victim)} {_factor(victim)}, in {candidate.reference.name} {format_factor(base.value)}"
        for victim in victims
        if (base := before.get(_key(victim))) is not None and _is_above(victim.impact[P50], base)
    ]


def _is_above(factor: Interval, base: Interval) -> bool:
    return factor.low is not None and base.high is not None and factor.low > _MOST_MORE * max(1.0, base.high)


def _key(victim: Congestion) -> tuple[object, ...]:
    settings = (tuple(sorted(of.items())) for of in (victim.params, victim.env))
    return (
        victim.op,
        victim.mpi,
        victim.bytes,
        victim.ranks,
        victim.method,
        victim.placement,
        victim.traffic,
        *settings,
    )


def _name(victim: Congestion) -> str:
    return f"{victim.op} on {victim.ranks} ranks beside traffic={victim.traffic}"


def _factor(victim: Congestion) -> str:
    impact = victim.impact[P50]
    factor, low, high = ratio_span(impact.value, impact.low, impact.high)
    if low == high == NOTHING:
        return f"takes {factor} times as long, in one launch"
    return f"takes {factor} ({low} to {high}) times as long"
