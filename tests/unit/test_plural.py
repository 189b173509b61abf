from __future__ import annotations

import pytest

from steelyard.base.plural import counted, counted_range, plural


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [
        (0, "rank", "0 ranks"),
        (1, "rank", "1 rank"),
        (2, "launch", "2 launches"),
        (1, "test case", "1 test case"),
        (3, "test case", "3 test cases"),
        (4, "CPU", "4 CPUs"),
        (2, "process", "2 processes"),
    ],
)
def test_counted(count: int, noun: str, words: str) -> None:
    assert counted(count, noun) == words
    assert words.endswith(plural(noun, count))


@pytest.mark.parametrize(
    ("counts", "words"),
    [([], "no launch"), ([1], "1 launch"), ([7, 7], "7 launches"), ([10, 3, 4], "3 to 10 launches")],
)
def test_counted_range(counts: list[int], words: str) -> None:
    assert counted_range(counts, "launch") == words
