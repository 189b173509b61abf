"""Read and format sizes, times and rates, all in this module."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from steelyard.base.errors import InputError
from steelyard.base.printable import shortened

_BINARY = {"": 1, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_DECIMAL = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_MOST_SECONDS = 1e9
_MOST_QUOTED = 60  # letters of what somebody has written, in a sentence
_WHOLE = re.compile(r"[+-]?\d{1,40}", re.ASCII)  # Python refuses thousands of digits
_SIZE = re.compile(r"(\d{1,40})\s*([KMGT]i|[kKMGT]|)(B?)", re.ASCII)
# Lists that are remembered: one is read when it is checked and for each op, and may have 50,000 numbers.
_LISTS_KEPT = 32


def parse_bytes(text: str) -> int:
    """Read a size such as `0`, `8`, `1Ki`, `4MiB`, `2kB` in bytes.

    Raises InputError for an invalid one.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        low, colon, high = text.strip().partition(":")  # as OSU has it
        is_range = colon and _SIZE.fullmatch(low) and _SIZE.fullmatch(high)
        meant = f"{low}..{high}" if is_range else "1..1Ki"
        raise InputError(
            f"'{shortened(text, _MOST_QUOTED)}' is not a size; write bytes as 8, 1Ki, 4Mi or 2kB, a range as "
            f"{meant}"
        )
    return int(match[1]) * (_BINARY | _DECIMAL)[match[2]]


@lru_cache(_LISTS_KEPT)
def parse_sizes(text: str) -> tuple[int, ...]:
    """Read a list of sizes and doubling ranges, `0,8,1Ki..4Mi`, in the order written, without repeats.

    The upper end of a range is always included. Raises InputError.
    """
    sizes: list[int] = []
    for part in text.split(","):
        low, dots, high = part.partition("..")
        first = parse_bytes(low)
        last = parse_bytes(high) if dots else first
        if last < first:
            raise InputError(f"the range '{part.strip()}' runs downwards; write the smaller size first")
        size = first
        while size < last:
            sizes.append(size)
            size = max(1, 2 * size)
        sizes.append(last)
    return tuple(dict.fromkeys(sizes))


@lru_cache(_LISTS_KEPT)
def parse_counts(text: str, what: str) -> tuple[int, ...]:
    """Read a list of positive whole numbers such as `1,2,4`; `what` names them in the error. Raises
    InputError.
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(_WHOLE.fullmatch(part) for part in parts):
        raise InputError(
            f"'{shortened(text, _MOST_QUOTED)}' is not a number of {what}; write whole numbers such as 2 or "
            "1,2,4"
        )
    counts = tuple(dict.fromkeys(map(int, parts)))
    if min(counts) < 1:
        raise InputError(f"the number of {what} must be at least 1, not '{shortened(text, _MOST_QUOTED)}'")
    return counts


def parse_seconds(text: str) -> float:
    """Read a duration such as `90`, `30s`, `10m`, `1.5h` in seconds. Raises InputError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ns|us|ms|s|m|h|)", text.strip(), re.ASCII)
    if match is None:
        raise InputError(f"'{shortened(text, _MOST_QUOTED)}' is not a duration; write 90s, 10m or 1.5h")
    seconds = float(match[1]) * _SECONDS[match[2] or "s"]
    if seconds > _MOST_SECONDS:
        raise InputError(f"'{shortened(text, _MOST_QUOTED)}' is longer than 30 years; give less")
    return seconds


def parse_percent(text: str) -> float:
    """Read a percentage such as `2%` or `0.5 %` as a fraction above 0 and below 1. Raises InputError."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)\s*%", text.strip(), re.ASCII)
    if match is None or not 0 < float(match[1]) < 100:
        raise InputError(
            f"'{shortened(text, _MOST_QUOTED)}' is no percentage above 0 and below 100; write 2% or 0.5%"
        )
    return float(match[1]) / 100


def parse_duration(text: str) -> float:
    """Read a duration above 0 in seconds. Raises InputError."""
    seconds = parse_seconds(text)
    if seconds == 0:
        raise InputError(f"'{shortened(text, _MOST_QUOTED)}' is no time; give one above 0, such as 90s")
    return seconds


def parse_value(text: str) -> float | str:
    """Read the value of a parameter: a number if the text is one, else the word itself."""
    try:
        return float(text) if is_plain(text) else text.strip()
    except ValueError:
        return text.strip()


def is_plain(text: str) -> bool:
    """Is a number written as usual? Python also reads the digits of all scripts, and `1_000`."""
    return text.isascii() and "_" not in text


def format_values(values: Mapping[str, float | str]) -> str:
    """Write parameters as on the command line, `window=64 send=isend`."""
    return " ".join(f"{key}={format_value(value)}" for key, value in values.items())


def format_share(share: float) -> str:
    """Write a share in per cent with two digits, or all that are before the point: `0.24 %`, `100 %`."""
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"  # else 100 were 1e+02


def format_value(value: float | str) -> str:
    """Write the value of a parameter so that it is read back as it is: `1000000`, not `1e+06`."""
    return value if isinstance(value, str) else f"{value:.15g}"


LEAST_DECIMAL = 0.01  # a smaller ratio is written as a fraction: `1/12200` is read at once, `8.22e-05` is not


def format_ratio(ratio: float) -> str:
    """Write `1.023`, `178`, `1990000`, `1/12200`: three decimals below 10, else as `format_factor`."""
    return f"{ratio:.3f}" if -10 < ratio <= 0 or LEAST_DECIMAL <= ratio < 10 else format_factor(ratio)


def format_factor(ratio: float) -> str:
    """Write `1.02`, `178`, `1990000`, `1/12200`: three digits, for sentences."""
    if 0 < ratio < LEAST_DECIMAL:
        return f"1/{format_factor(1 / ratio)}"
    return f"{float(f'{ratio:.3g}'):.12g}"


def format_bytes(count: int) -> str:
    """Write a size as it was asked for, never rounded: `8 B`, `1 KiB`, `1.5 MiB`, `1 MB`, `999999 B`."""
    for prefixes in (_BINARY, {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}):
        for prefix, scale in reversed(prefixes.items()):
            if count >= scale > 1 and float(text := f"{count / scale:.4g}") * scale == count:
                return f"{text} {prefix}B"
    return f"{count} B"


def format_memory(count: float) -> str:
    """Write a measured amount in whole bytes, `7.758 GiB`, `-3 B`: by the largest binary prefix that leaves 1
    or more.
    """
    amount = round(abs(count))
    sign = "-" if count < 0 < amount else ""
    for prefix in ("Ti", "Gi", "Mi", "Ki"):
        if amount >= _BINARY[prefix]:
            return f"{sign}{amount / _BINARY[prefix]:.4g} {prefix}B"
    return f"{sign}{amount} B"


def format_time(ns: float) -> str:
    """Write `203 ns`, `1.42 us`, `12.3 ms`, `4.5 s`: three significant figures, below 1 ns in ns."""
    for limit, unit, scale in ((1e3, "ns", 1.0), (1e6, "us", 1e3), (1e9, "ms", 1e6)):
        if abs(ns) < 0.9995 * limit:
            return f"{_three(ns / scale)} {unit}"
    return f"{_three(ns / 1e9)} s"


def format_duration(seconds: float) -> str:
    """Write a waiting time: `8 s`, `1 min 20 s`, `2 h 5 min`."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60} h"


def format_rate(bytes_per_second: float) -> str:
    """Write `1.23 GB/s`: decimal prefixes, as usual for bandwidths."""
    for limit, unit in ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")):
        if bytes_per_second >= limit:
            return f"{_three(bytes_per_second / limit)} {unit}"
    return f"{_three(bytes_per_second)} B/s"


def format_mops(mops: float) -> str:
    """Write `81.1 Mop/s`, `3.95 Gop/s`: millions of operations per second, as NPB prints them."""
    return f"{_three(mops)} Mop/s" if mops < 1e6 else f"{_three(mops / 1e6)} Top/s"


def format_count_rate(per_second: float) -> str:
    """Write `3.95 M/s`, `440 /s`: a number per second."""
    for limit, unit in ((1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s")):
        if per_second >= limit:
            return f"{_three(per_second / limit)} {unit}"
    return f"{_three(per_second)} /s"


def _three(value: float) -> str:
    if value == 0:
        return "0"
    digits = max(0, 2 - int(f"{abs(value):.2e}".partition("e")[2]))  # the exponent after rounding
    return f"{value:.{min(digits, 4)}f}"
