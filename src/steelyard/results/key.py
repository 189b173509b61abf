"""Keys of rows: rows with one key are the same test case, measured again or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from steelyard.results.row import Row

RowKey = tuple[object, ...]


def later_params(sets: Iterable[Sequence[Row]]) -> dict[str, frozenset[str]]:
    """Map op -> parameters that some sets of rows lack, because an engine got them later."""
    names: dict[str, list[frozenset[str]]] = {}
    for rows in sets:
        known: dict[str, set[str]] = {}
        for row in rows:
            if row.params:
                known.setdefault(row.op, set()).update(row.params)
        for op, found in known.items():
            names.setdefault(op, []).append(frozenset(found))
    return {
        op: frozenset.union(*found) - frozenset.intersection(*found)
        for op, found in names.items()
        if len(set(found)) > 1
    }


def key_of(
    row: Row, without: Collection[str] = (), later: Mapping[str, frozenset[str]] | None = None
) -> RowKey:
    """Make the key of a test case; `without` names what may differ: `mpi`, `param.NAME`, ...

    `later`: see `later_params`; if the plan asks for none of them, the op does the same as without them.
    """
    if later and row.op in later:
        without = {*without, *(f"param.{name}" for name in later[row.op].difference(row.asked))}
    parts: dict[str, object] = {
        "op": row.op,
        "bytes": row.bytes,
        "method": row.method,
        "ranks": row.ranks,
        "hosts": row.hosts,
        "threads": row.threads,
        "thread_level": row.thread_level,
        "mpi": row.mpi,
        "placed": row.placed_text,
        "params": _others("param", row.params, without),
        "omp": _others("omp", row.omp, without),
        "env": _others("env", row.env, without),
        "method_params": _others("param", row.method_params, without),
    }
    return tuple(value for name, value in parts.items() if name not in without)


def curves_of(
    rows: Iterable[Row], without: Collection[str], number: Callable[[Row], int]
) -> list[dict[int, Row]]:
    """Group rows by key, each group by its number: smallest first, two at least, the first row of each.

    `without`: what may differ in a group, as of `key_of`.
    """
    curves: dict[RowKey, dict[int, Row]] = {}
    for row in rows:
        curves.setdefault(key_of(row, without), {}).setdefault(number(row), row)
    return [dict(sorted(curve.items())) for curve in curves.values() if len(curve) > 1]


def _others(kind: str, values: Mapping[str, object], without: Collection[str]) -> RowKey:
    return tuple(sorted((name, value) for name, value in values.items() if f"{kind}.{name}" not in without))
