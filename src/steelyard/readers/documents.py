"""JSON of other suites: Google Benchmark's, and IOR's summaryFormat=JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from steelyard.base.errors import InputError
from steelyard.base.json_text import decode_json
from steelyard.readers.printed_numbers import PrintedNumber
from steelyard.readers.suites import GOOGLE, IOR


class _Benchmark(msgspec.Struct):
    name: str
    real_time: float | None = None
    time_unit: str = "ns"
    run_type: str = "iteration"
    error_occurred: bool = False


class _Access(msgspec.Struct):
    """A repetition of IOR; one that removes files has no bandwidth."""

    access: str
    bandwidth: float | None = msgspec.field(name="bwMiB", default=None)


class _Test(msgspec.Struct):
    results: tuple[tuple[_Access, ...] | _Access, ...] = msgspec.field(name="Results")


class _Document(msgspec.Struct):
    benchmarks: tuple[_Benchmark, ...] = ()
    tests: tuple[_Test, ...] = ()


def numbers_of_json(text: str) -> Iterator[PrintedNumber]:
    """Read a document; the `line` of a number counts benchmarks or repetitions. Raises InputError."""
    try:
        document = decode_json(text.encode(), msgspec.json.Decoder(_Document))
    except msgspec.DecodeError as error:
        raise InputError(
            f"it is no JSON of Google Benchmark or of IOR ({error}); give the file that one of them wrote"
        ) from None
    yield from _google(document.benchmarks)
    yield from _ior(document.tests)


def _google(benchmarks: Sequence[_Benchmark]) -> Iterator[PrintedNumber]:
    """List repetitions; their aggregates follow from them and are left out."""
    for i, entry in enumerate(benchmarks, 1):
        if entry.run_type == "iteration" and entry.real_time is not None and not entry.error_occurred:
            column = f"real_time ({entry.time_unit})"
            yield PrintedNumber(suite=GOOGLE, test=entry.name, column=column, value=entry.real_time, line=i)


def _ior(tests: Sequence[_Test]) -> Iterator[PrintedNumber]:
    groups = (group for test in tests for group in test.results)
    accesses = (access for group in groups for access in (group if isinstance(group, tuple) else (group,)))
    for i, access in enumerate(accesses, 1):
        if access.access in ("write", "read") and access.bandwidth is not None:
            yield PrintedNumber(
                suite=IOR, test=access.access, column="bw(MiB/s)", value=access.bandwidth, line=i
            )
