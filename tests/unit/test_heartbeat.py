"""What is said while something long goes on."""

from __future__ import annotations

import re
import threading

import pytest

from steelyard.base.heartbeat import telling_still


def test_it_is_told_until_it_ends_and_not_afterwards() -> None:
    heard: list[str] = []
    twice = threading.Event()

    def tell(text: str) -> None:
        heard.append(text)
        if len(heard) == 2:
            twice.set()

    with telling_still(tell, "building", every=1e-3):
        assert twice.wait(600)
    told = len(heard)
    assert all(re.fullmatch(r"still building \(.* so far\)", text) for text in heard)
    assert not [thread for thread in threading.enumerate() if thread.name.endswith("(go_on)")]
    assert len(heard) == told


def test_what_is_short_is_not_told_and_errors_come_through() -> None:
    heard: list[str] = []
    with pytest.raises(ValueError, match="x"), telling_still(heard.append, "building", every=3600):
        raise ValueError("x")
    assert heard == []
