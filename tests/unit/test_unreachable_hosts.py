"""Hosts that the network no longer reaches are named; those that are silent or refuse are not."""

from __future__ import annotations

import errno
import socket

import pytest

from steelyard.system.unreachable_hosts import unreachable


def test_only_hosts_without_a_way_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    said = {
        "h2": OSError(errno.EHOSTUNREACH, "x"),
        "h3": ConnectionRefusedError(errno.ECONNREFUSED, "x"),
        "h4": TimeoutError("timed out"),
        "h5": socket.gaierror(socket.EAI_NONAME, "x"),
    }

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        raise said[address[0]]

    monkeypatch.setattr(socket, "create_connection", connect)
    assert unreachable([socket.gethostname(), *said]) == ["h2 cannot be reached: No route to host"]
    assert unreachable([]) == []
