"""Names that hold whole paths, as readers want them: what tells them apart. Machines read the whole."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from steelyard.results.row import Row

# `LD_PRELOAD=/opt/a/lib.so`, `mpich-4.0.2@/opt/mpi`, `/opt/mpi`: what a path is of, and the path. Commands
# and names of modules are none, such as `apptainer exec /opt/a.sif` and `gcc/12`.
_PATH = re.compile(r"(?P<of>[^/\s]*[=@+])?(?P<path>/\S*)")


def short_names(names: Collection[str]) -> dict[str, str]:
    """Each name with the shortest part of its path that no other has: a and b of `/opt/a/lib`, `/opt/b/lib`.

    A name without a path stays as it is; so do all where they could not be told apart.
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
    """The last parts of a path, as few as no other path ends with."""
    for count in range(1, len(path)):
        if all(other[-count:] != path[-count:] for other in others):
            return path[-count:]
    return path


def named_shortly(folders: Sequence[Sequence[Row]]) -> tuple[tuple[Row, ...], ...]:
    """The rows of folders that stand together, with short names of MPIs and values of variables.

    A row without long names is the same object.
    """
    rows = [row for own in folders for row in own]
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
            for row in own
        )
        for own in folders
    )


def _renamed(row: Row, mpi: str | None, env: dict[str, str]) -> Row:
    """The very row where its names are short already."""
    return row if (mpi, env) == (row.mpi, row.env) else replace(row, mpi=mpi, env=env)
