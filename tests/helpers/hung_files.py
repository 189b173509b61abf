"""A file system that takes requests and never answers them, as one whose server is gone."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

_INIT = 26  # the only opcode that is answered (linux/fuse.h)
_HEADER = struct.Struct("=IIQQIIII")  # length, opcode, unique, node, user, group, process, padding
_ANSWER = struct.Struct("=IiQ")  # length, error, unique
# version, read-ahead, flags, requests in the background and when they are many, most bytes of a write
_INIT_ANSWER = struct.Struct("=IIIIHHI40x")
_NOSUID_NODEV, _DETACH = 2 | 4, 2


@contextlib.contextmanager
def hung_mount(folder: Path) -> Iterator[None]:
    """Mount it at an empty folder. Who asks for a name there waits, and no signal ends that, until the end of
    the `with`. Skips the test where FUSE cannot be mounted.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        device = os.open("/dev/fuse", os.O_RDWR)
    except OSError as error:
        pytest.skip(f"there is no FUSE here: {error}")
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
    mounted = libc.mount(b"hung", os.fsencode(folder), b"fuse", _NOSUID_NODEV, options.encode())
    if mounted != 0:
        os.close(device)
        pytest.skip(f"FUSE cannot be mounted here: {os.strerror(ctypes.get_errno())}")
    thread = threading.Thread(target=_take, args=(device,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        libc.umount2(os.fsencode(folder), _DETACH)
        os.close(device)  # ends the connection: whoever waits gets an error


def _take(device: int) -> None:
    """Answer how the connection begins; take all else and be silent."""
    with contextlib.suppress(OSError):
        while request := os.read(device, 1 << 18):
            _, opcode, unique, *_ = _HEADER.unpack_from(request)
            if opcode == _INIT:
                body = _INIT_ANSWER.pack(7, 31, 1 << 17, 0, 12, 9, 1 << 17)
                os.write(device, _ANSWER.pack(_ANSWER.size + len(body), 0, unique) + body)
