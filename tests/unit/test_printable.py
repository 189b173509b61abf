from __future__ import annotations

import pytest

from steelyard.base.printable import ended, shortened, visible


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain words, -O2", "plain words, -O2"),
        ("2.5 µs ± 1 % ≥ naïve 中", "2.5 µs ± 1 % ≥ naïve 中"),
        ("\x1b]0;title\x07red", r"\x1b]0;title\x07red"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x9b31m", r"\x9b31m"),
        ("\u202egnp.exe\u2028", r"\u202egnp.exe\u2028"),
        ("bad \udcff byte", r"bad \udcff byte"),
    ],
)
def test_control_characters_are_shown_and_not_obeyed(text: str, seen: str) -> None:
    assert visible(text) == seen
    visible(text).encode()  # can be written


def test_a_cut_is_told() -> None:
    assert shortened("x" * 300, 10) == "xxxxxxx..."
    assert shortened("cannot. Then", 10) == "cannot..."
    assert [ended(text) for text in ("no room", "no room.", "no...")] == ["no room.", "no room.", "no..."]
    assert shortened("\x1b" * 3, 12) == r"\x1b\x1b\x1b"
