"""The lock of a results folder where there are no locks, as on some network file systems."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from steelyard.base.errors import InputError
from steelyard.campaign.lock import locked


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_a_file_system_without_locks_is_one_sentence(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with (
        pytest.raises(
            InputError, match=r"cannot be locked \(.*\), as on some network .*; give --out another"
        ) as raised,
        locked(tmp_path),
    ):
        pass
    assert "\n" not in str(raised.value)


def test_a_second_one_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    with (
        locked(tmp_path),
        pytest.raises(InputError, match=rf"another steelyard \(pid {os.getpid()} on .*, since "),
        locked(tmp_path),
    ):
        pass
    with locked(tmp_path) as lock:
        assert lock.notes == ()
