"""The time that the system takes from each core."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec.structs import replace

from steelyard.base.plural import counted
from steelyard.judges.accept.criterion import NOT_WELL, WELL, Candidate, Finding, criterion
from steelyard.judges.accept.measurement import FALSE_ALARM
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.results.core_noise import core_noise
from steelyard.results.load import PointLaunches
from steelyard.stats import launch_interval
from steelyard.stats.interval import Estimate

MOST_LOST = 0.01  # of a core's time; if many ranks wait for each other, the losses of all add up
_MOST_NAMED = 4  # cores in a sentence


@criterion(
    "noise",
    "How much of its time does the system take from a core?",
    remedy="See what runs there (steelyard doctor). Keep daemons, interrupts and the timer tick away "
    "from the cores of ranks: a cpuset, irqaffinity, isolcpus, nohz_full; or leave a core to the system.",
)
def noise(candidate: Candidate) -> Finding:
    """Judge the share of time lost by each core over launches, by all ops that measure it."""
    shares: dict[tuple[str, str], list[float]] = {}
    for point in candidate.weighed.measured.points:
        _add_shares(point, shares)
    if not shares:
        return Finding(CANNOT_TELL, "It was not measured.", candidate.weighed.measure_it())
    if any(len(share) < 2 for share in shares.values()):
        return Finding(
            CANNOT_TELL, "One launch does not say what the next one loses.", candidate.weighed.more_launches()
        )
    level = 1 - FALSE_ALARM / len(shares)
    found = {key: interval_of_shares(lost, level) for key, lost in shares.items()}
    worst = max(found.values(), key=lambda one: one.value)
    most = f"at most {_share(worst)}"
    bad = {key: one for key, one in found.items() if one.low > MOST_LOST}
    if bad:
        ordered = sorted(bad.items(), key=lambda item: -item[1].value)
        words = "; ".join(
            f"core {cpus} loses {_share(one)} in {op}" for (op, cpus), one in ordered[:_MOST_NAMED]
        )
        more = f"; and {len(bad) - _MOST_NAMED} more" if len(bad) > _MOST_NAMED else ""
        return Finding(
            NOT_WELL,
            f"{words}{more}; {_percent(MOST_LOST)} is allowed.",
            launches=max(len(shares[key]) for key in bad),
            brief=f"core {ordered[0][0][1]} loses {_percent(ordered[0][1].value)} of its time to the system",
        )
    cores = counted(len({cpus for _, cpus in found}), "core")
    if not all(one.high <= MOST_LOST for one in found.values()):
        return Finding(
            CANNOT_TELL,
            f"one of {cores} loses {most}; {_percent(MOST_LOST)} is allowed: the launches differ too much.",
            candidate.weighed.more_launches(),
        )
    return Finding(WELL, f"each of {cores} loses {most} of its time.")


def _add_shares(point: PointLaunches, shares: dict[tuple[str, str], list[float]]) -> None:
    for cell in point.cells:
        if cell.status != "ok" or cell.point is None or not cell.point.op.startswith("noise."):
            continue
        hosts = {place.rank: place.host for place in cell.start.places} if cell.start else {}
        for core in core_noise(cell.point.op, [cell]):
            several = len(set(hosts.values())) > 1
            name = f"{hosts[core.rank]}:{core.cpus}" if several else core.cpus
            if math.isfinite(core.share):
                shares.setdefault((cell.point.op, name), []).append(core.share)


def interval_of_shares(shares: Sequence[float], level: float) -> Estimate:
    """Compute the interval of what is lost: much differs between launches by factors, little by amounts."""
    scaled = launch_interval([math.log(share + MOST_LOST) for share in shares], level, logs=False)
    whole = math.log(1.0 + MOST_LOST)
    ends = (min(end, whole) for end in (scaled.value, scaled.low, scaled.high))
    value, low, high = (math.exp(end) - MOST_LOST for end in ends)
    return replace(scaled, value=value, low=low, high=high)


def _share(estimate: Estimate) -> str:
    """`0.31 % (0.12 to 0.5 %)`."""
    low, high = max(0.0, estimate.low), min(1.0, estimate.high)
    return f"{_percent(estimate.value)} ({_percent(low)} to {_percent(high)})"


def _percent(share: float) -> str:
    return f"{float(f'{100 * share:.2g}'):g} %"
