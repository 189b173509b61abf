"""OpenMetrics text, as node_exporter's textfile collector and a push gateway read it."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.export.export_input import Export
from steelyard.export.tagged_rows import GAUGES, Gauge, numbers_of, tagged_rows

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


def openmetrics_text(what: Export) -> bytes:
    """Write a family of gauges for each number, and a line of it for each row that has it."""
    found = [
        (
            ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in tagged_row.tags.items()),
            tagged_row.row,
        )
        for tagged_row in tagged_rows(what)
    ]
    told = [(labels, numbers_of(row)) for labels, row in found]
    lines: list[str] = []
    for key, gauge in GAUGES.items():
        values = [(labels, numbers[key]) for labels, numbers in told if key in numbers]
        if values:
            lines += _head(gauge)
            lines += [f"{_name(gauge)}{{{labels}}} {value!r}" for labels, value in values]
    return "".join(f"{line}\n" for line in [*lines, "# EOF"]).encode()


def _name(gauge: Gauge) -> str:
    return f"steelyard_{gauge.with_unit}"


def _head(gauge: Gauge) -> Iterator[str]:
    name = _name(gauge)
    yield f"# HELP {name} {gauge.help}"
    yield f"# TYPE {name} gauge"
    if gauge.unit:
        yield f"# UNIT {name} {gauge.unit}"
