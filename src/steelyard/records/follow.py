"""Read a file of records while the engine still writes it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from steelyard.base.files import open_regular
from steelyard.records.collector import Collector
from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.read import decode_record
from steelyard.records.schema import End, Job, Launch

# All other records, above all samples, are skipped: reading them would take the driver 1 % of a core.
_HEARD = re.compile(rb'\{"record": ?"(?:job|launch|end)"')


def read_ended(file: JobFile, span: tuple[int, int]) -> PointRun | None:
    """Read a point that has ended, with its samples, from these bytes of its file; None if it is not there.

    Raises InputError if the file cannot be read.
    """
    first, last = span
    with open_regular(file.path) as opened:
        opened.seek(first)
        lines = opened.read(last - first).splitlines()
    collector = Collector(file.path, file.job, file.launch)
    run = None
    for number, line in enumerate(lines, start=1):
        try:
            run = collector.take(decode_record(line), number) or run
        except msgspec.DecodeError:
            return None
    return run


class Tail:
    """The contents of a growing file so far: the launch, and each point that has ended."""

    def __init__(self, path: Path) -> None:
        """Read nothing yet."""
        self.path = path
        self.launch: Launch | None = None  # the start of the engine; None before it measures
        self.job: Job | None = None
        self._offset = 0
        self._began = 0  # where the records of the point that is measured begin

    def advance(self) -> tuple[list[tuple[JobFile, tuple[int, int]]], bool]:
        """Read the whole lines that were added.

        Returns each point that has ended, as a file that holds only its end, with the bytes of its records in
        the file, and whether anything was added. Raises InputError.
        """
        with open_regular(self.path) as file:
            file.seek(self._offset)
            data = file.read()
        whole = data.rpartition(b"\n")[0]
        at = self._offset
        self._offset += len(whole) + 1 if whole else 0
        ended: list[tuple[JobFile, tuple[int, int]]] = []
        for line in whole.split(b"\n") if whole else ():
            at += len(line) + 1
            if not _HEARD.match(line):
                continue
            try:
                record = decode_record(line)
            except msgspec.DecodeError:
                continue  # the cut last line of a launch that died; readers of the whole file report it
            match record:
                case Job():
                    self.job = record
                case Launch():
                    self.launch = record
                    self._began = at
                case End() if self.job is not None:
                    run = PointRun(record.point, None, (), record)
                    ended.append(
                        (JobFile(self.path, self.job, self.launch, (run,), False), (self._began, at))
                    )
                    self._began = at
        return ended, bool(whole)
