"""What the tests of kernels share: points of them, how they ended, and that all answers are right."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.records.schema import End, Record


def kernel_lines(cases: Sequence[str], more: str = "") -> list[str]:
    return [f"op={case} rule=fixed count=1{more}" for case in cases]


def ends_of(records: Sequence[Record]) -> list[End]:
    return sorted((one for one in records if isinstance(one, End)), key=lambda end: end.point)


def check_kernels(records: Sequence[Record], cases: Sequence[str]) -> None:
    told = [(case, end.status, end.why) for case, end in zip(cases, ends_of(records), strict=True)]
    assert told == [(case, "ok", None) for case in cases]
