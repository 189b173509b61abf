"""The line protocol of InfluxDB, which Telegraf, QuestDB and VictoriaMetrics read, too."""

from __future__ import annotations

from steelyard.export.export_input import Export
from steelyard.export.tagged_rows import GAUGES, TaggedRow, began_ns, numbers_of, tagged_rows

_ESCAPES = str.maketrans({",": r"\,", "=": r"\=", " ": r"\ ", "\\": "/"})  # a tag cannot hold a backslash


def influx_text(what: Export) -> bytes:
    """Write a line for each row: tags, numbers, and the begin of its first launch in ns."""
    return "".join(f"{_line(tagged_row)}\n" for tagged_row in tagged_rows(what)).encode()


def _line(row: TaggedRow) -> str:
    tags = "".join(f",{name}={value.translate(_ESCAPES)}" for name, value in sorted(row.tags.items()))
    numbers = {name: value for name, value in numbers_of(row.row).items() if name != "measured"}
    fields = ",".join(f"{GAUGES[name].with_unit}={value!r}" for name, value in numbers.items())
    began = began_ns(row.row)
    return f"steelyard{tags} {fields}" + ("" if began is None else f" {began}")
