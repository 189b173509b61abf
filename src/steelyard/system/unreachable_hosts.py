"""Hosts that the network no longer reaches: asked when a launch over several hosts falls silent."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

_PORT = 22  # of ssh: a host that refuses it is there, too
# The kernel gives up to find a neighbour on its own network after three. One that it has just heard of is not
# doubted yet: after its link was set down it stayed "reachable" for more than 20 s here, and was silent.
_SECONDS = 4.0
_AT_ONCE, _MOST = 16, 64  # hosts asked at the same time, and in all
# What says that there is no way to the host. A host that does not answer may be behind a firewall.
_NO_WAY = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN)


def unreachable(hosts: Sequence[str]) -> list[str]:
    """Say which hosts cannot be reached, and why: `h2 cannot be reached: No route to host`."""
    others = [host for host in hosts if host != socket.gethostname()][:_MOST]
    if not others:
        return []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [words for words in pool.map(_why_not, others) if words is not None]


def _why_not(host: str) -> str | None:
    try:
        socket.create_connection((host, _PORT), _SECONDS).close()
    except OSError as error:
        if error.errno in _NO_WAY:
            return f"{host} cannot be reached: {os.strerror(error.errno)}"
    return None
