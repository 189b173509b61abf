"""Checks of files: whether what was to be read from storage came from memory."""

from __future__ import annotations

from steelyard.base.diagnostic import WARNING, check
from steelyard.diagnostics.results.evidence import Evidence, listed
from steelyard.results.facets import Files
from steelyard.results.row import Row

_MOSTLY = 0.5  # of the bytes must have come from storage, or the name of the op says too much


@check(
    "read-from-memory",
    WARNING,
    "What was to be read from storage came from memory",
    why="The op asks the kernel to drop the pages of its file before it reads them. By the kernel's own "
    "count of this process most bytes did not come from storage, so the time is that of memory. A file "
    "system in memory has nothing to drop.",
    remedy="Take the row for a read from memory, or give --files a folder on storage; file.pread.direct asks "
    "past the page cache.",
)
def read_from_memory(evidence: Evidence) -> str | None:
    """Find rows of a cold cache whose bytes were mostly in memory."""
    return listed([row for row in evidence.rows if _is_warm(row)], _words)


def _is_warm(row: Row) -> bool:
    share = row.get(Files).from_storage
    return share is not None and share < _MOSTLY


def _words(row: Row) -> str:
    found = row.get(Files)
    return f"{found.from_storage or 0:.0%} from storage, on {found.file_system or 'a file system'}"
