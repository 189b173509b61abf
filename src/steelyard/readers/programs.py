"""The tables of benchmarks that centres run besides MPI's: STREAM, HPL, HPCG, mdtest; lines of NetPIPE."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steelyard.readers.printed_numbers import (
    PrintedNumber,
    SuiteTable,
    TextLine,
    check_whole,
    fields_below,
    named_rows,
    number_in,
    refused,
    whole_in,
)

STREAM, HPL, HPCG, MDTEST, NETPIPE = "STREAM", "HPL", "HPCG", "mdtest", "NetPIPE"
_STREAM_COLUMNS = ("MB/s", "avg s", "min s", "max s")
_HPL_COLUMNS = ("N", "NB", "P", "Q", "s", "Gflop/s")
_HPCG_NUMBERS = {
    "Final Summary::HPCG result is VALID with a GFLOP/s rating of": "Gflop/s",
    "GFLOP/s Summary::Raw Total": "raw Gflop/s",
    "GB/s Summary::Raw Total B/W": "raw GB/s",
    "Benchmark Time Summary::Total": "s",
}
_HPCG_INVALID = "HPCG result is=INVALID"
_MDTEST_COLUMNS = ("max", "min", "mean", "std dev")
_WITH_RANKS = 7  # columns of mdtest, of its option for statistics of each rank: those of ranks come first
_MDTEST_WIDE = "per Rank:"  # in the headings of that option
_MDTEST_SUMMARY = re.compile(r"SUMMARY(?: (rate|time))?(?: \(in (\S+)\))?: ?\(of")  # 4.0 and before: no unit
_MDTEST_RATE, _MDTEST_TIME = "ops/sec", "s"
_MDTEST_TASKS = re.compile(r"(\d+) tasks?, ")
_NETPIPE_COLUMNS = ("Gbit/s", "Gbit/s, least", "Gbit/s, most", "us")
_NETPIPE_FIELDS = re.compile(r"\s*(\d+)" + r"\s+(\d+\.\d+)" * 4 + r"\s*", re.ASCII)
_BYTES_PER_GBIT_US = 125  # 1 Gbit/s for 1 us
_LOOSE = 1.25  # the average of speeds is not that of times
_NETPIPE_LINE = re.compile(
    r"\s*\d+:\s+(\d+)\s+(?:bytes|B)\s+\d+ times -->\s+(\S+) (\w+ps) in\s+(\S+) usecs?\s*$"
)


def stream(section: SuiteTable) -> Iterator[PrintedNumber]:
    """`Function  Best Rate MB/s  Avg time  Min time  Max time`, then `Copy:  9000.1  0.018 0.017 0.019`."""
    if wrong := _line_with(section, "Failed Validation"):
        raise refused(wrong, "says that STREAM's arrays have wrong values")
    for line, name, fields in named_rows(section.lines, r"(\w+):", len(_STREAM_COLUMNS)):
        for column, field in zip(_STREAM_COLUMNS, fields, strict=True):
            yield PrintedNumber(
                suite=STREAM, test=name, column=column, value=number_in(line, field), line=line.number
            )


def hpl(section: SuiteTable) -> Iterator[PrintedNumber]:
    """`T/V  N  NB  P  Q  Time  Gflops`, then `WR11C2R4  29184  192  2  2  612.26  2.7064e+01`."""
    if wrong := _line_with(section, "FAILED"):
        raise refused(wrong, "says that the residual of HPL is too large")
    for line, name, fields in named_rows(section.lines, r"(W\w+)", len(_HPL_COLUMNS)):
        size, block, rows, columns = (whole_in(line, field) for field in fields[:4])
        for column, field in zip(_HPL_COLUMNS[4:], fields[4:], strict=True):
            yield PrintedNumber(
                suite=HPL,
                test=f"{name} N={size} NB={block} {rows}x{columns}",
                column=column,
                ranks=rows * columns,
                value=number_in(line, field),
                line=line.number,
            )


def hpcg(section: SuiteTable) -> Iterator[PrintedNumber]:
    """Lines `Final Summary::HPCG result is VALID with a GFLOP/s rating of=0.9`."""
    if wrong := _line_with(section, _HPCG_INVALID):
        raise refused(wrong, "says that the result of HPCG is not valid")
    values = {
        name.strip(): (line, value.strip())
        for line in section.lines
        for name, sign, value in [line.text.partition("=")]
        if sign
    }
    if missing := [name for name in _HPCG_NUMBERS if name not in values]:
        raise refused(section.first, f"begins a report of HPCG without '{missing[0]}'")
    ranks, *sizes = (
        whole_in(*values[name]) if name in values else None
        for name in (
            "Machine Summary::Distributed Processes",
            *(f"Global Problem Dimensions::Global n{d}" for d in "xyz"),
        )
    )
    for name, column in _HPCG_NUMBERS.items():
        line, field = values[name]
        check_whole(line, field)
        yield PrintedNumber(
            suite=HPCG,
            test="x".join(str(size) for size in sizes if size) or HPCG,
            column=column,
            ranks=ranks,
            value=number_in(line, field),
            line=line.number,
        )


def mdtest(section: SuiteTable) -> Iterator[PrintedNumber]:
    """`mdtest-4.0.0 was launched with 2 total task(s) on 1 node(s)`; a summary for each number of tasks."""
    ranks = whole_in(section.first, section.match[1])
    summaries: list[tuple[int, str, int]] = []
    for i, line in enumerate(section.lines):
        if tasks := _MDTEST_TASKS.match(line.text):
            ranks = int(tasks[1])
        if heading := _MDTEST_SUMMARY.match(line.text):
            summaries.append((i + 1, _mdtest_unit(*heading.groups()), ranks))
    if not summaries:
        raise refused(section.first, "begins mdtest without its summary")
    ends = [*(first - 1 for first, _, _ in summaries[1:]), len(section.lines)]
    for (first, unit, tasks_then), end in zip(summaries, ends, strict=True):
        below = section.lines[first:end]
        is_wide = any(_MDTEST_WIDE in line.text for line in below)
        columns = _WITH_RANKS if is_wide else len(_MDTEST_COLUMNS)
        for line, name, fields in named_rows(below, r"([A-Z][a-z]+ \w+)(?:\s*:)?", columns):
            for column, field in zip(_MDTEST_COLUMNS[:3], fields[-len(_MDTEST_COLUMNS) :], strict=False):
                yield PrintedNumber(
                    suite=MDTEST,
                    test=name,
                    column=f"{column} {unit}",
                    ranks=tasks_then,
                    value=number_in(line, field),
                    line=line.number,
                )


def _mdtest_unit(kind: str | None, unit: str | None) -> str:
    """The unit of a summary. Some versions call seconds `time (in ops/sec)`."""
    if kind == "time" and unit in (None, _MDTEST_RATE):
        return _MDTEST_TIME
    return unit or _MDTEST_RATE


def netpipe_begins(text: str) -> re.Match[str] | None:
    """Match a line of np.out, which has no headings: bytes, Gbit/s on average, least and most, and us.

    The average over that time is those bytes, as far as its digits go, or it is a line of something else.
    """
    match = _NETPIPE_FIELDS.fullmatch(text)
    if match is None:
        return None
    size, mean, least, most, time = map(float, match.groups())
    (low_speed, speed), (low_us, us) = (
        (value - half, value + half) for value, half in ((mean, _half(match[2])), (time, _half(match[5])))
    )
    low, high = low_speed * low_us * _BYTES_PER_GBIT_US / _LOOSE, speed * us * _BYTES_PER_GBIT_US * _LOOSE
    return match if least <= mean <= most and low <= size <= high else None


def _half(field: str) -> float:
    """Half of what the last digit of a number stands for."""
    return 0.5 * 10.0 ** -len(field.partition(".")[2])


def netpipe_file(section: SuiteTable) -> Iterator[PrintedNumber]:
    """`      8     0.320     0.310     0.330    0.20`: np.out of NetPIPE 5."""
    for line, fields in fields_below([section.first, *section.lines], len(_NETPIPE_COLUMNS) + 1):
        for column, field in zip(_NETPIPE_COLUMNS, fields[1:], strict=True):
            yield PrintedNumber(
                suite=NETPIPE,
                test="netpipe",
                column=column,
                bytes=whole_in(line, fields[0]),
                value=number_in(line, field),
                line=line.number,
            )


def netpipe_line(section: SuiteTable) -> Iterator[PrintedNumber]:
    """`  1:    8 bytes   1000 times -->   5.02 Mbps in    1.52 usec`, as NetPIPE 3 and 5 print it."""
    match = _NETPIPE_LINE.fullmatch(section.first.text)
    if match is None:
        raise refused(section.first, "begins as one of NetPIPE and ends otherwise")
    size, speed, unit, time = match.groups()
    for column, field in ((unit, speed), ("us", time)):
        yield PrintedNumber(
            suite=NETPIPE,
            test="netpipe",
            column=column,
            bytes=whole_in(section.first, size),
            value=number_in(section.first, field),
            line=section.first.number,
        )


def _line_with(section: SuiteTable, words: str) -> TextLine | None:
    return next((line for line in section.lines if words in line.text), None)
