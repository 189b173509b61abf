from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.base import units
from steelyard.base.errors import InputError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("8", 8),
        (" 8B ", 8),
        ("1Ki", 1024),
        ("4MiB", 4 * 2**20),
        ("2k", 2000),
        ("2kB", 2000),
        ("1 G", 10**9),
    ],
)
def test_parse_bytes(text: str, expected: int) -> None:
    assert units.parse_bytes(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-1",
        "1.5Ki",
        "8 bytes",
        "Ki",
        "1Kib",
    ],
)
def test_parse_bytes_refuses(text: str) -> None:
    with pytest.raises(InputError, match=r".+"):
        units.parse_bytes(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8", (8,)),
        ("0,8,8", (0, 8)),
        ("1..8", (1, 2, 4, 8)),
        ("0..4", (0, 1, 2, 4)),
        ("1..6", (1, 2, 4, 6)),
        ("4..4", (4,)),
        ("0,1Ki..4Ki", (0, 1024, 2048, 4096)),
    ],
)
def test_parse_sizes(text: str, expected: tuple[int, ...]) -> None:
    assert units.parse_sizes(text) == expected


@pytest.mark.parametrize("text", ["8..4", "1..", "", "1,,2"])
def test_parse_sizes_refuses(text: str) -> None:
    with pytest.raises(InputError):
        units.parse_sizes(text)


def test_parse_counts() -> None:
    assert units.parse_counts("1,2,2,4", "ranks") == (1, 2, 4)
    for text in ("0", "two", "", "1,-2", "\u0662"):
        with pytest.raises(InputError, match="ranks"):
            units.parse_counts(text, "ranks")


@pytest.mark.parametrize(
    ("text", "expected"), [("90", 90), ("30s", 30), ("10m", 600), ("1.5h", 5400), ("20 ms", 0.02)]
)
def test_parse_seconds(text: str, expected: float) -> None:
    assert units.parse_seconds(text) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["9" * 5000, "9" * 5000 + "s", "1e9h", "100000000m", "9" * 50 + ".5"])
def test_what_no_duration_or_size_can_be_is_refused_in_a_short_sentence(text: str) -> None:
    for parse in (units.parse_seconds, units.parse_bytes, units.parse_sizes):
        with pytest.raises(InputError) as caught:
            parse(text)
        assert len(str(caught.value)) < 200


def test_parse_seconds_refuses() -> None:
    with pytest.raises(InputError):
        units.parse_seconds("soon")


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (4 * 2**20, "4 MiB"),
        (2**40, "1 TiB"),
        (1000, "1 kB"),  # what was asked for as 1kB or 1MB is told as that, and no size as another one
        (10**6, "1 MB"),
        (2_500_000, "2.5 MB"),
        (1001, "1001 B"),
        (999_999, "999999 B"),
        (2**20 + 1, "1048577 B"),
        (1_024_000, "1000 KiB"),
    ],
)
def test_format_bytes(count: int, expected: str) -> None:
    assert units.format_bytes(count) == expected


@pytest.mark.parametrize("text", ["0", "8", "1Ki", "3Ki", "1MB", "10kB", "100000", "4Mi", "1TiB", "7777777"])
def test_a_size_is_told_as_one_that_is_read_the_same(text: str) -> None:
    assert units.parse_bytes(units.format_bytes(units.parse_bytes(text))) == units.parse_bytes(text)


def test_format_memory() -> None:
    assert units.format_memory(8_330_248_192) == "7.758 GiB"
    assert units.format_memory(512) == "512 B"
    assert units.format_memory(-3.4) == "-3 B"
    assert units.format_memory(-0.4) == "0 B"
    assert units.format_memory(-0.5) == "0 B"  # a median of two
    assert units.format_memory(-1040.4) == "-1.016 KiB"


@pytest.mark.parametrize(
    ("ns", "expected"),
    [
        (0, "0 ns"),
        (0.307, "0.307 ns"),
        (27.4, "27.4 ns"),
        (203.4, "203 ns"),
        (999.4, "999 ns"),
        (999.6, "1.00 us"),
        (1420, "1.42 us"),
        (12_345_678, "12.3 ms"),
        (4.5e9, "4.50 s"),
        (-5.25, "-5.25 ns"),
    ],
)
def test_format_time(ns: float, expected: str) -> None:
    assert units.format_time(ns) == expected


@pytest.mark.parametrize(
    ("rate", "expected"), [(5, "5.00 B/s"), (1234, "1.23 kB/s"), (4.64e6, "4.64 MB/s"), (12.3e9, "12.3 GB/s")]
)
def test_format_rate(rate: float, expected: str) -> None:
    assert units.format_rate(rate) == expected


@given(st.integers(min_value=0, max_value=2**50 // 1024))
def test_sizes_with_binary_prefix_survive(count: int) -> None:
    assert units.parse_bytes(f"{count}Ki") == 1024 * count


@given(st.floats(min_value=1e-2, max_value=1e13))
def test_times_keep_three_figures(ns: float) -> None:
    number, unit = units.format_time(ns).split()
    back = float(number) * {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert back == pytest.approx(ns, rel=6e-3)


@pytest.mark.parametrize(
    ("ratio", "cell", "words"),
    [
        (1.0234, "1.023", "1.02"),
        (0.05678, "0.057", "0.0568"),
        (9.9999, "10.000", "10"),
        (178.494, "178", "178"),
        (1998278.43, "2000000", "2000000"),
        (-12.345, "-12.3", "-12.3"),
    ],
)
def test_ratios_have_no_more_digits_than_mean_anything(ratio: float, cell: str, words: str) -> None:
    assert (units.format_ratio(ratio), units.format_factor(ratio)) == (cell, words)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        *((0.0, "0 %"), (0.00069, "0.069 %"), (0.0024, "0.24 %"), (0.096, "9.6 %"), (0.12, "12 %")),
        *((0.994, "99 %"), (0.999, "100 %"), (1.0, "100 %"), (1.5, "150 %")),
    ],
)
def test_a_share_has_no_exponent(share: float, text: str) -> None:
    assert units.format_share(share) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (64.0, "64"),
        (1e6, "1000000"),
        (1234567.0, "1234567"),
        (0.05, "0.05"),
        (1 / 3, "0.333333333333333"),
        ("isend", "isend"),
    ],
)
def test_the_value_of_a_parameter_is_written_whole(value: float | str, text: str) -> None:
    """A command that is printed measures what the run did, and two values have two names."""
    assert units.format_values({"key": value}) == f"key={text}"
