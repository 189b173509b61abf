"""What launches were measured with: the settings of each MPI, the environment and libraries, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.base.printable import visible
from steelyard.records.job_file import JobFile
from steelyard.records.schema import Launch
from steelyard.render.table import Table, plain_lines, words
from steelyard.results.libraries import PROGRAM, known_libraries

_EXPLAINED = (
    "Variables of the environment that MPI, OpenMP or the C library read, without secrets; control variables "
    "of MPI's tools interface; the build id, or a hash of the contents, of each library."
)


def provenance_table(files: Sequence[JobFile]) -> Table:
    """Make a line for each setting of each MPI; values that differ between launches stand together."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for file in files:
        if file.launch is not None:
            mpi = file.job.mpi.name if file.job.mpi else "none"
            for kind, name, value in _settings(file.launch):
                found.setdefault((mpi, kind, visible(name)), {})[visible(value) or "empty"] = None
    lines = plain_lines((*key, " or ".join(values)) for key, values in sorted(found.items()))
    return Table("", _EXPLAINED, tuple(map(words, ("MPI", "kind", "name", "value"))), lines, grouped=2)


def _settings(launch: Launch) -> Iterator[tuple[str, str, str]]:
    for name, value in launch.environment.items():
        yield "environment", name, value
    for name, cvar in (launch.mpi.cvars if launch.mpi else {}).items():
        yield "MPI", name, str(cvar)
    for name, known in known_libraries(launch).items():
        yield "library", "the engine" if name == PROGRAM else name, known
