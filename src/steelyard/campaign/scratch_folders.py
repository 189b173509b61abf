"""Folders for files that ops read and write: one of a campaign's own in each that the user names.

Its name has a checksum of what only this campaign has, so that campaigns share a place and leave each other's
files alone, and the next run of a results folder finds what a killed one has left. An engine removes it, not
this process: a file system may never answer.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from steelyard.base.errors import InputError, MeasurementError
from steelyard.base.printable import visible
from steelyard.engines.build import Engine
from steelyard.records.campaign_file import FILES, CampaignFile, PlannedPoint
from steelyard.system.process import Done, run

TIDY_SECONDS = 20.0  # then a file system is said not to answer
AGAIN_SECONDS = 2.0  # the same of one that did not answer before
_LETTERS = 16  # of the checksum


def own_folder(place: str, folder: Path, campaign: CampaignFile) -> str:
    """Name the folder of a campaign's files in a place; `folder` has its results."""
    own = f"{os.path.realpath(folder)} {campaign.machine.get('host')} {campaign.created} {campaign.seed}"
    checksum = hashlib.sha256(own.encode(errors="surrogateescape")).hexdigest()[:_LETTERS]
    return str(Path(place) / f"steelyard-files-{os.geteuid()}-{checksum}")


def places_of(points: Iterable[PlannedPoint]) -> tuple[str, ...]:
    """List the folders that points name for files, each once."""
    return tuple(dict.fromkeys(point.env[FILES] for point in points if FILES in point.env))


@contextmanager
def files_removed(
    engine: Engine, folder: Path, campaign: CampaignFile, tell: Callable[[str], None]
) -> Iterator[None]:
    """Remove a campaign's files: before, what a killed run has left, and after.

    `tell` hears of what stays.
    """
    folders = [own_folder(place, folder, campaign) for place in places_of(campaign.points)]

    def remove() -> None:
        for note in tidy(engine, folders):
            tell(note)

    remove()
    try:
        yield
    finally:
        remove()


def tidy(engine: Engine, folders: Sequence[str], seconds: float = TIDY_SECONDS) -> tuple[str, ...]:
    """Remove what launches have left in the folders; return a sentence for each that stays."""
    notes = []
    for folder in folders:
        try:
            done = _remove(engine, folder, seconds)
        except MeasurementError:
            notes.append(_silent_words(folder, seconds))
        except InputError as error:
            notes.append(f"the files in {visible(folder)} could not be removed: {error}")
        else:
            if done.code != 0:
                notes.append(f"the files in {visible(folder)} stay: {visible(done.err.strip())}")
    return tuple(notes)


def unanswered(engine: Engine, folder: str, seconds: float = TIDY_SECONDS) -> str | None:
    """Remove what a launch has left in a folder; say why, if its file system does not answer in that time.

    A launch there would hang, and its processes may not even be killed, so none should be started.
    """
    try:
        _remove(engine, folder, seconds)
    except MeasurementError:
        return _silent_words(folder, seconds)
    return None


def _remove(engine: Engine, folder: str, seconds: float) -> Done:
    """Remove a folder's files, and outlive nobody: the next run of the campaign has files of these names."""
    return run((engine.path, "tidy", folder), timeout=seconds, ends_with_us=True)


def _silent_words(folder: str, seconds: float) -> str:
    place = visible(str(Path(folder).parent))
    return f"the file system of {place} did not answer within {seconds:g} s; see whether its server runs"
