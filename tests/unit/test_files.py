"""Files that are replaced as a whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.base.files import write_whole


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("other")
    (tmp_path / "out").symlink_to("other")
    write_whole(tmp_path / "out", b"new")
    assert (tmp_path / "out").read_bytes() == b"new"
    assert (tmp_path / "other").read_text() == "other"  # a link in somebody's folder leads nowhere
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "out"]


@pytest.mark.parametrize("linked", [False, True])
def test_what_is_no_file_is_written_to_and_stays(tmp_path: Path, linked: bool) -> None:
    """A pipe here; a device that is replaced is gone for all."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_whole(tmp_path / "link" if linked else pipe, b"new")
        assert os.read(reader, 9) == b"new"
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    assert (tmp_path / "link").is_symlink()


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    """And not the one beside it, which is renamed at the end."""
    with pytest.raises(FileNotFoundError) as raised:
        write_whole(tmp_path / "none" / "out", b"new")
    assert raised.value.filename == str(tmp_path / "none" / "out")
