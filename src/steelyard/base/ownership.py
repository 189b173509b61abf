"""Whose a folder is: what is written in another user's folder, and what is read there, is in his hands."""

from __future__ import annotations

import os
import pwd
import secrets
from contextlib import suppress
from pathlib import Path
from stat import S_ISLNK, S_ISVTX, S_IWOTH

from steelyard.base.errors import InputError
from steelyard.base.files import create, real_path

_WITHIN = ("records",)  # folders of a results folder


def check_own_folder(folder: Path) -> None:
    """Raise InputError if a results folder is another user's, or leads elsewhere.

    A group may write it: whoever shares a project's folder gives files to the group. Its owner may do more.
    A link of another user may lead into any folder of ours.
    """
    if folder.is_symlink() and not is_own(link := folder.lstat(), folder.parent):
        raise InputError(
            f"'{folder}' is a link of {owner_name(link)}, and nothing is measured through it; remove it"
        )
    for path in (folder, *(folder / name for name in _WITHIN)):
        try:
            stat = path.stat() if path == folder else path.lstat()
        except OSError:
            continue  # whoever needs it says so
        if S_ISLNK(stat.st_mode):
            raise InputError(f"'{path}' is a link, and nothing is measured through it; remove it")
        if not is_own(stat, folder):
            raise InputError(
                f"'{path}' belongs to {owner_name(stat)}, who could change what is run and written there; "
                "give --out a folder of your own"
            )


def open_to_all(folder: Path) -> Path | None:
    """Find where every user may replace what leads to a folder, or is in it: that folder or one above; None
    if that is nowhere.
    """
    real = real_path(folder)
    for path in (real, *real.parents):
        mode = path.stat().st_mode
        if mode & S_IWOTH and not mode & S_ISVTX:
            return folder if path == real else path
    return None


def is_own(stat: os.stat_result, folder: Path) -> bool:
    """Is a file of this user?

    Some file systems give each file to one and the same user, as NFS does with what root writes: what this
    user creates in `folder` shows who that is.
    """
    if stat.st_uid == os.geteuid():
        return True
    probe = folder / f".owner.{secrets.token_hex(8)}"
    try:
        create(probe)
    except OSError:
        return False
    try:
        return probe.lstat().st_uid == stat.st_uid
    finally:
        with suppress(OSError):
            probe.unlink()


def owner_name(stat: os.stat_result) -> str:
    """Name the owner of a file: `the user alice`, `the user 1007`."""
    try:
        return f"the user {pwd.getpwuid(stat.st_uid).pw_name}"
    except KeyError:
        return f"the user {stat.st_uid}"
