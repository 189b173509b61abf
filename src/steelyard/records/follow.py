"""Reading a file of records while the engine still writes it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from steelyard.records.collector import Collector
from steelyard.records.job_file import JobFile
from steelyard.records.read import decode_record
from steelyard.records.schema import Launch


class Tail:
    """What has been read of a growing file. Only the point in flight is kept."""

    def __init__(self, path: Path) -> None:
        """Nothing is read yet."""
        self.path = path
        self._collector = Collector(path)
        self._offset = 0

    @property
    def launch(self) -> Launch | None:
        """The start of the engine; None before it has begun to measure."""
        return self._collector.launch

    def advance(self) -> tuple[list[JobFile], bool]:
        """Read the whole lines that were added.

        Returns each point that has ended, as a file that holds nothing else, and whether anything was added.
        Raises InputError.
        """
        with self.path.open("rb") as file:
            file.seek(self._offset)
            data = file.read()
        whole = data.rpartition(b"\n")[0]
        self._offset += len(whole) + 1 if whole else 0
        ended: list[JobFile] = []
        for line in whole.splitlines():
            try:
                record = decode_record(line)
            except msgspec.DecodeError:
                continue  # the cut last line of a launch that died; readers of the whole file say so
            if (run := self._collector.take(record)) is not None:
                ended.append(msgspec.structs.replace(self._collector.head(), points=(run,)))
                self._collector.forget()
        return ended, bool(whole)
