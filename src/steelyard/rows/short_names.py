"""Short forms of names that hold whole paths: the parts that differ. Machines read the whole."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from steelyard.results.row import Row

# `LD_PRELOAD=/opt/a/lib.so`, `mpich-4.0.2@/opt/mpi`, `/opt/mpi`: what comes before a path, and the path.
# Commands and names of modules do not match, such as `apptainer exec /opt/a.sif` and `gcc/12`.
_PATH = re.compile(r"(?P<of>[^/\s]*[=@+])?(?P<path>/\S*)")


def short_names(names: Collection[str]) -> dict[str, str]:
    """Shorten the path of each name to the least part that no other has: a and b of `/opt/a/lib`,
    `/opt/b/lib`.

    Names without a path stay as they are. All stay if they could not be distinguished.
    """
    found = {name: match for name in names if (match := _PATH.fullmatch(name))}
    paths = {name: tuple(match["path"].rstrip("/").split("/")) for name, match in found.items()}
    tails = {path: _own_tail(path, set(paths.values()) - {path}) for path in set(paths.values())}
    while len(tails) > 1 and len({tail[-1] for tail in tails.values()}) == 1:
        if min(map(len, tails.values())) < 2:
            break
        tails = {path: tail[:-1] for path, tail in tails.items()}
    short = {
        name: (found[name]["of"] or "") + ("/".join(tails[paths[name]]) or found[name]["path"])
        if name in found
        else name
        for name in names
    }
    return short if len(set(short.values())) == len(short) else {name: name for name in names}


def _own_tail(path: tuple[str, ...], others: Collection[tuple[str, ...]]) -> tuple[str, ...]:
    """Take the fewest last parts of a path with which no other path ends."""
    for count in range(1, len(path)):
        if all(other[-count:] != path[-count:] for other in others):
            return path[-count:]
    return path


def named_shortly(folders: Sequence[Sequence[Row]]) -> tuple[tuple[Row, ...], ...]:
    """Shorten names of MPIs and values of variables in the rows of folders that are shown together.

    A row without long names stays the same object.
    """
    rows = [row for folder in folders for row in folder]
    mpis = short_names({row.mpi for row in rows if row.mpi})
    variables = {name for row in rows for name in row.env}
    env = {name: short_names({row.env[name] for row in rows if name in row.env}) for name in variables}
    return tuple(
        tuple(
            _renamed(
                row,
                row.mpi and mpis[row.mpi],
                {name: env[name][value] for name, value in row.env.items()},
            )
            for row in folder
        )
        for folder in folders
    )


def _renamed(row: Row, mpi: str | None, env: dict[str, str]) -> Row:
    """Return the same row if its names are short already."""
    return row if (mpi, env) == (row.mpi, row.env) else replace(row, mpi=mpi, env=env)
