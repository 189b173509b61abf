"""The nights of a history: which are read, which is tonight's, and what they were measured with."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path

from steelyard.base.errors import InputError
from steelyard.base.files import real_path
from steelyard.base.secret import MASK
from steelyard.engines.cache import own_key
from steelyard.judges.history.digest import seen_night
from steelyard.judges.history.settings import is_variable
from steelyard.judges.history.store import Night, Pool, folders_in, pool
from steelyard.records.results_folder import check_results_folder

_LIBRARIES = ("LD_PRELOAD", "LD_LIBRARY_PATH")  # settings of a night by which libraries are replaced


def pool_nights(
    history: Sequence[Path],
    tonight: Path | None = None,
    *,
    quantile: float | None = None,
    since: str | None = None,
    any_host: bool = False,
) -> tuple[Pool, Callable[[], None]]:
    """Read the nights of a history; unreadable ones are left out, except tonight's, by default the newest.
    Returns what saves their summaries, too: who refuses them later has written nothing.

    `since` names a night, or a day, before which nights are left out; `any_host` pools those of hosts of
    other names. Raises InputError.
    """
    folders = {real_path(path): path for path in folders_in(history)}
    nights: dict[Path, Night] = {}
    unread: list[tuple[str, str]] = []
    saves: list[Callable[[], None]] = []
    key = own_key()
    for real, folder in folders.items():
        if tonight is not None and real == real_path(tonight):
            continue
        try:
            nights[real], save = seen_night(folder, key, quantile)
            saves.append(save)
        except InputError as error:
            unread.append((str(folder), str(error).partition(";")[0].removeprefix(f"{folder} ")))
    if tonight is not None:
        newest = read_night(tonight, quantile)
    elif nights:
        newest = nights.pop(max(nights, key=lambda real: nights[real].began))
    else:
        raise InputError(f"no night can be read: {unread[0][0]}: {unread[0][1]}")
    others = list(nights.values())
    begin = _since(since, (*others, newest))

    def save_all() -> None:
        for save in saves:
            save()

    return pool(newest, others, unread, any_host=any_host, since=begin), save_all


def read_night(folder: Path, quantile: float | None = None) -> Night:
    """Read one night. Raises InputError."""
    check_results_folder(folder)
    return seen_night(folder, own_key(), quantile)[0]


def _since(word: str | None, nights: tuple[Night, ...]) -> int:
    """Find the begin of the named night, or of the day, in ns since 1970."""
    if word is None:
        return 0
    for night in nights:
        if word in (night.name, night.folder.name, str(night.folder)):
            return night.began
    try:
        day = datetime.datetime.fromisoformat(word)
    except ValueError:
        raise InputError(
            f"--since '{word}' is neither the name of a night nor a date such as 2026-11-20"
        ) from None
    return int((day if day.tzinfo else day.replace(tzinfo=datetime.UTC)).timestamp() * 1e9)


def build_of(before: Night, tonight: Night) -> str | None:
    """Find what a night had and tonight has not, as --baseline takes it: a variable, an MPI; None for
    neither.
    """
    others = sorted(
        name
        for name in {*before.settings, *tonight.settings}
        if is_variable(name) and MASK not in before.settings.get(name, "")
    )
    for name in (*_LIBRARIES, *others):
        if before.settings.get(name) != tonight.settings.get(name):
            return f"env.{name}={before.settings.get(name, '-')}"
    launcher = before.settings.get("mpiexec", "")
    if launcher != tonight.settings.get("mpiexec") and Path(launcher).is_file():
        return launcher
    return None
