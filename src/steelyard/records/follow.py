"""Read a file of records while the engine still writes it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from steelyard.base.files import open_regular
from steelyard.records.job_file import JobFile, PointRun
from steelyard.records.read import decode_record
from steelyard.records.schema import End, Job, Launch

# All other records, above all samples, are skipped: reading them would take the driver 1 % of a core.
_HEARD = re.compile(rb'\{"record": ?"(?:job|launch|end)"')


class Tail:
    """The contents of a growing file so far: the launch, and each point that has ended."""

    def __init__(self, path: Path) -> None:
        """Read nothing yet."""
        self.path = path
        self.launch: Launch | None = None  # the start of the engine; None before it measures
        self.job: Job | None = None
        self._offset = 0

    def advance(self) -> tuple[list[JobFile], bool]:
        """Read the whole lines that were added.

        Returns each point that has ended, as a file that holds only its end, and whether anything was added.
        Raises InputError.
        """
        with open_regular(self.path) as file:
            file.seek(self._offset)
            data = file.read()
        whole = data.rpartition(b"\n")[0]
        self._offset += len(whole) + 1 if whole else 0
        ended: list[JobFile] = []
        for line in whole.splitlines():
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
                case End() if self.job is not None:
                    run = PointRun(record.point, None, (), record)
                    ended.append(JobFile(self.path, self.job, self.launch, (run,), False))
        return ended, bool(whole)
