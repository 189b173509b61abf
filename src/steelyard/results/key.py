"""What tells rows apart: rows of one key are the same test case, measured again or elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from steelyard.results.row import Row

RowKey = tuple[object, ...]


def key_of(row: Row, without: Collection[str] = ()) -> RowKey:
    """What makes two rows the same test case; `without` names what may differ: `mpi`, `param.NAME`, ..."""
    parts: dict[str, object] = {
        "op": row.op,
        "bytes": row.bytes,
        "method": row.method,
        "ranks": row.ranks,
        "hosts": row.hosts,
        "threads": row.threads,
        "thread_level": row.thread_level,
        "mpi": row.mpi,
        "placed": row.placed.text if row.placed else None,
        "params": _others("param", row.params, without),
        "omp": _others("omp", row.omp, without),
        "env": _others("env", row.env, without),
        "method_params": tuple(sorted(row.method_params.items())),
    }
    return tuple(value for name, value in parts.items() if name not in without)


def _others(kind: str, values: Mapping[str, object], without: Collection[str]) -> RowKey:
    return tuple(sorted((name, value) for name, value in values.items() if f"{kind}.{name}" not in without))
