"""The tables of each suite: what begins one, and a function that reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from steelyard.base.plural import counted
from steelyard.readers import programs
from steelyard.readers.printed_numbers import (
    PrintedNumber,
    SuiteTable,
    number_in,
    refused,
    rows_below,
    whole_in,
)

OSU, IMB, NPB, IOR = "OSU Micro-Benchmarks", "Intel MPI Benchmarks", "NAS Parallel Benchmarks", "IOR"
GOOGLE = "Google Benchmark"
_GOOGLE_LINE = re.compile(r"(\S+)\s+(\S+) ([num]?s)\s+\S+ [num]?s\s+\d+(?:\s|$)")
_AGGREGATES = ("_mean", "_median", "_stddev", "_cv")  # which follow from the repetitions
_NOT_NUMBERS = ("Validation",)  # columns of words
_OSU_HEADING = re.compile(r"# ?(?:Size|[\w.]+(?: [\w.]+)* ?\()")
_WRONG = "Fail"  # OSU's word, of the option -c
_COUNTS = ("Iterations", "#repetitions")  # columns that say how a number was made
_NPB_NUMBERS = ("Time in seconds", "Mop/s total")
_NPB_VERIFIED = "Verification"  # which comes behind the numbers


def _osu(section: SuiteTable) -> Iterator[PrintedNumber]:
    """`# OSU MPI Latency Test v7.4`, a line of headings, lines of numbers."""
    heading = next((line for line in section.lines if _OSU_HEADING.match(line.text)), None)
    if heading is None:
        raise refused(section.first, "begins a table of OSU without headings")
    columns = re.split(r"\s{2,}", heading.text.lstrip("# ").strip())
    is_sized = columns[0] == "Size"
    below = [line for line in section.lines if line.number > heading.number]
    for line, size, fields in rows_below(below, len(columns), is_sized):
        for column, field in zip(columns[is_sized:], fields, strict=True):
            if field == _WRONG:
                raise refused(line, f"has the {column.lower()} '{_WRONG}', so its numbers are of wrong data")
            if column not in (*_NOT_NUMBERS, *_COUNTS) and field != "nan":
                yield PrintedNumber(
                    suite=OSU,
                    test=section.match[1],
                    column=column,
                    bytes=size,
                    value=number_in(line, field),
                    line=line.number,
                )


def _imb(section: SuiteTable) -> Iterator[PrintedNumber]:
    """`# Benchmarking PingPong`, `# #processes = 2`, headings that begin with `#`, lines of numbers."""
    ranks = next(
        (
            whole_in(line, found[1])
            for line in section.lines
            if (found := re.match(r"# #processes = (\S+)", line.text))
        ),
        None,
    )
    heading = next(
        (line for line in section.lines if re.match(r"\s*#(bytes|repetitions)\b", line.text)), None
    )
    if heading is None:
        raise refused(section.first, "begins a table of IMB without headings")
    columns = heading.text.split()
    is_sized = columns[0] == "#bytes"
    below = [line for line in section.lines if line.number > heading.number]
    for line, size, fields in rows_below(below, len(columns), is_sized):
        for column, field in zip(columns[is_sized:], fields, strict=True):
            if column not in _COUNTS:
                yield PrintedNumber(
                    suite=IMB,
                    test=section.match[1],
                    column=column,
                    bytes=size,
                    ranks=ranks,
                    value=number_in(line, field),
                    line=line.number,
                )


def _npb(section: SuiteTable) -> Iterator[PrintedNumber]:
    """`CG Benchmark Completed.`, then lines `Time in seconds = 0.36`."""
    told = {
        name.strip(): (line, value.strip())
        for line in section.lines
        for name, sign, value in [line.text.partition("=")]
        if sign
    }
    if missing := [name for name in ("Class", *_NPB_NUMBERS, _NPB_VERIFIED) if name not in told]:
        raise refused(section.first, f"begins a summary of NPB without '{missing[0]}'")
    if told[_NPB_VERIFIED][1] == "UNSUCCESSFUL":
        raise refused(told[_NPB_VERIFIED][0], "says that the verification was not successful")
    ranks = whole_in(*told["Total processes"]) if "Total processes" in told else None
    for column in _NPB_NUMBERS:
        line, field = told[column]
        yield PrintedNumber(
            suite=NPB,
            test=f"{section.match[1].lower()}.{told['Class'][1]}",
            column=column,
            ranks=ranks,
            value=number_in(line, field),
            line=line.number,
        )


def _ior_csv(section: SuiteTable) -> Iterator[PrintedNumber]:
    """`access,bw(MiB/s),IOPS,...,numTasks,iter`, then `write,2934.5000,...,2,0`."""
    columns = section.first.text.split(",")
    for line in section.lines:
        access, *fields = line.text.split(",")
        if access not in ("write", "read"):
            continue
        if len(fields) + 1 != len(columns):
            raise refused(line, f"has {counted(len(fields) + 1, 'field')} below {len(columns)} columns")
        yield PrintedNumber(
            suite=IOR,
            test=access,
            column=columns[1],
            ranks=whole_in(line, fields[-2]),
            value=number_in(line, fields[0]),
            line=line.number,
        )


def _ior(section: SuiteTable) -> Iterator[PrintedNumber]:
    """`access bw(MiB/s) ...`, then a line for each repetition that begins with `write` or `read`."""
    columns = section.first.text.split()
    for line in section.lines:
        access, *fields = line.text.split() or [""]
        if access in ("Summary", "Operation"):  # the same numbers again, over repetitions
            return
        if access not in ("write", "read"):
            continue
        if len(fields) + 1 != len(columns):
            raise refused(line, f"has {counted(len(fields) + 1, 'field')} below {len(columns)} columns")
        yield PrintedNumber(
            suite=IOR, test=access, column=columns[1], value=number_in(line, fields[0]), line=line.number
        )


def _google_console(section: SuiteTable) -> Iterator[PrintedNumber]:
    """`Benchmark Time CPU Iterations`, then `BM_x/8 12.5 ns 12.4 ns 5599`; aggregates are left out."""
    for line in section.lines:
        if not (match := _GOOGLE_LINE.match(line.text)):
            if not line.has_end and re.search(r"\d [num]?s\b", line.text):
                raise refused(line, "ends amid a benchmark of Google Benchmark")
            continue
        name, value, unit = match.groups()
        if not name.endswith(_AGGREGATES):
            yield PrintedNumber(
                suite=GOOGLE,
                test=name,
                column=f"real_time ({unit})",
                value=number_in(line, value),
                line=line.number,
            )


Reader = Callable[[SuiteTable], Iterator[PrintedNumber]]
# The line that begins a table -> its reader.
TABLES: Mapping[re.Pattern[str], Reader] = {
    re.compile(r"# OSU (.+?) v\d\S*\s*$"): _osu,
    re.compile(r"# Benchmarking (\S+)"): _imb,
    re.compile(r"\s*([A-Z]{2}) Benchmark Completed"): _npb,
    re.compile(r"access\s+bw\(MiB/s\)"): _ior,
    re.compile(r"access,bw\(MiB/s\),.*,numTasks,iter$"): _ior_csv,
    re.compile(r"Benchmark\s+Time\s+CPU\s+Iterations"): _google_console,
    re.compile(r"Function\s+(?:Best )?Rate \(?MB/s\)?\s+Avg time\s+Min time\s+Max time"): programs.stream,
    re.compile(r"T/V\s+N\s+NB\s+P\s+Q\s+Time\s+Gflops"): programs.hpl,
    re.compile(r"HPCG-Benchmark\s*$"): programs.hpcg,
    re.compile(r"mdtest-\S+ was launched with (\d+) total task"): programs.mdtest,
    re.compile(r"\s*\d+:\s+\d+\s+(?:bytes|B)\s+\d+ times -->"): programs.netpipe_line,
}
