"""Folders that no other user can write, so that what stands in them may be run."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

OWNER_ALONE = stat.S_IRWXU  # the mode of what no other user may see or write
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_ENTER = stat.S_IXGRP | stat.S_IXOTH
_MOST_LINKS = 40  # on one way, as Linux follows


def private_folder(folder: Path) -> Path:
    """Make a folder, and those above it, as far as they are missing, for this user alone; return its real
    path. `weak_spot` says whether it is private.
    """
    folder = Path(os.path.realpath(folder))
    for path in reversed((folder, *folder.parents)):
        with contextlib.suppress(FileExistsError):
            path.mkdir(OWNER_ALONE)
    return folder


def weak_spot(folder: Path) -> tuple[Path, str] | None:
    """Find where another user may replace something on the real path to a folder: which folder, and why;
    None if nobody can.

    The folder belongs to this user or to root and only its owner may write it. Each folder above does, too,
    or is sticky, so that nobody renames what others have there. Below a folder of this user that nobody else
    may enter, the rest cannot be reached. What is missing can be made for this user alone.
    """
    ours = _ours()
    for path in reversed((folder, *folder.parents)):
        try:
            found = path.lstat()
        except FileNotFoundError:
            return None
        if found.st_uid not in ours:
            return path, f"belongs to another user (uid {found.st_uid})"
        if found.st_mode & _OTHERS_WRITE and (path == folder or not found.st_mode & stat.S_ISVTX):
            return path, f"can be written by others (mode {stat.S_IMODE(found.st_mode):04o})"
        if found.st_uid == os.geteuid() and not found.st_mode & _OTHERS_ENTER:
            return None
    return None


def link_of_another(folder: Path) -> Path | None:
    """Find a link of another user on the way to a folder: it may lead into any folder of ours. None if there
    is none.
    """
    for _ in range(_MOST_LINKS):
        link = next((path for path in reversed((folder, *folder.parents)) if path.is_symlink()), None)
        if link is None:
            return None
        if link.lstat().st_uid not in _ours():
            return link
        folder = Path(os.path.normpath(link.parent / link.readlink())) / folder.relative_to(link)
    return None


def _ours() -> set[int]:
    """List who may be trusted with what we run; a user namespace may call root by another number."""
    return {0, os.geteuid(), Path("/").stat().st_uid}


def is_private_file(file: Path) -> bool:
    """Is it a file of this user or root, and no link, that only its owner may write?"""
    found = file.lstat()
    is_ours = found.st_uid in (0, os.geteuid())
    return stat.S_ISREG(found.st_mode) and is_ours and not found.st_mode & _OTHERS_WRITE
