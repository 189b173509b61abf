"""Rows of another quantile than the median: what `compare` and `check` compare with `--quantile`."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from steelyard.base.errors import InputError
from steelyard.base.plural import plural
from steelyard.base.serial_map import Mapper, serially
from steelyard.results.facets.samples import least_samples
from steelyard.results.load import Measured, PointLaunch
from steelyard.results.row import Row, RowLaunch
from steelyard.results.rows import rows_of
from steelyard.stats import quantile
from steelyard.stats.fast_stats import middle


def quantile_name(probability: float) -> str:
    """Write `p99`, `p99.9`."""
    return f"p{100 * probability:g}"


def check_quantile(probability: float) -> None:
    """Raise InputError for what is no quantile inside the samples."""
    if not 0 < probability < 1:
        raise InputError(f"--quantile is above 0 and below 1, such as 0.99, not {probability:g}")


def rows_at(measured: Measured, probability: float | None, mapped: Mapper = serially) -> tuple[Row, ...]:
    """Make rows whose launches have, as their medians, their own `probability` quantiles.

    None: the medians. A launch with fewer than `least_samples` has no value, and a row says so. The rows have
    no interval: it is that of their launches that counts.
    """
    rows = rows_of(measured, mapped=mapped)
    if probability is None:
        return rows
    return tuple(_at(row, point.cells, probability) for row, point in zip(rows, measured.points, strict=True))


def _at(row: Row, cells: Sequence[PointLaunch], probability: float) -> Row:
    least = least_samples(probability)
    own = {
        cell.launch: quantile(cell.values, (probability,), cell.taken.tick)[0]
        for cell in cells
        if cell.values.size >= least
    }
    launches = tuple(_launch_at(launch, own) for launch in row.launches)
    values = [launch.median for launch in launches if launch.median is not None]
    value = middle(values) if values else None
    few = [launch.launch for launch in row.launches if launch.median is not None and launch.launch not in own]
    why, status = row.why, row.status
    if few:
        which = f"{plural('launch', len(few))} {', '.join(map(str, few))}" if values else "its launches"
        have = "has" if values and len(few) == 1 else "have"
        why = f"{which} {have} fewer than the {least} samples that {quantile_name(probability)} needs"
        status = row.status if values else "skipped"
    return replace(
        row, time=value, time_low=None, time_high=None, median=value, ci_low=None, ci_high=None,
        launches=launches, status=status, why=why,
    )  # fmt: skip


def _launch_at(launch: RowLaunch, own: dict[int, float]) -> RowLaunch:
    value = own.get(launch.launch) if launch.median is not None else None
    return replace(launch, median=value, time=value, ci_low=None, ci_high=None)
