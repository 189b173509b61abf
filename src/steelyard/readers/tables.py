"""Numbers of other suites as a table: what is the same test stands side by side."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence

from steelyard.base.plural import joined
from steelyard.base.printable import visible
from steelyard.base.units import format_bytes
from steelyard.readers.printed_numbers import PrintedNumber
from steelyard.render.table import NOTHING, Table, number, plain_lines, without_empty, words

PrintedKey = tuple[str, str, int | None, int | None]
_REMARK = "Such a number has no interval: nothing says how far off the next run would be, or what differs."
_REPEATED = "What {files} has several times, as of several runs, is their median."


def printed_table(sources: Mapping[str, Sequence[PrintedNumber]]) -> Table:
    """Make a line for each number, and a column for each source; of repetitions it is their median."""
    by_key = {name: _by_key(numbers) for name, numbers in sources.items()}
    keys = dict.fromkeys(key for found in by_key.values() for key in found)
    first = (words("test"), words("number"), number("bytes"), number("ranks"))
    several = [number("ratio")] if len(sources) == 2 else []
    columns = (*first, *(number(visible(name), strong=True) for name in sources), *several)
    lines = plain_lines(_cells(key, [found.get(key) for found in by_key.values()]) for key in keys)
    suites = list(dict.fromkeys(one.suite for numbers in sources.values() for one in numbers))
    repeated = [visible(name) for name, numbers in sources.items() if _has_repeated(numbers)]
    remarks = (*((_REPEATED.format(files=joined(repeated)),) if repeated else ()), _REMARK)
    return without_empty(Table(f"As printed by {', '.join(suites)}", "", columns, lines, remarks, grouped=2))


def _has_repeated(numbers: Sequence[PrintedNumber]) -> bool:
    return any(count > 1 for count in Counter(map(_key, numbers)).values())


def _key(printed: PrintedNumber) -> PrintedKey:
    return printed.test, printed.column, printed.bytes, printed.ranks


def _by_key(numbers: Sequence[PrintedNumber]) -> dict[PrintedKey, float]:
    found: dict[PrintedKey, list[float]] = {}
    for printed in numbers:
        found.setdefault(_key(printed), []).append(printed.value)
    return {key: statistics.median(values) for key, values in found.items()}


def _cells(key: PrintedKey, values: Sequence[float | None]) -> list[str]:
    test, column, size, ranks = key
    told = [NOTHING if value is None else f"{value:.6g}" for value in values]
    ratio: list[str] = []
    if len(values) == 2:
        before, after = values
        ratio = [f"{after / before:.3g}" if before and after is not None else NOTHING]
    where = [NOTHING if size is None else format_bytes(size), NOTHING if ranks is None else str(ranks)]
    return [visible(test), visible(column), *where, *told, *ratio]
