"""Results as tables of polars, and as Parquet."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from steelyard.analyses.analysis import Made
from steelyard.base.errors import InputError
from steelyard.base.printable import visible
from steelyard.base.serial_map import Mapper, serially
from steelyard.export.export_input import Export, ExportedFolder
from steelyard.export.flat import cell, columns, flat
from steelyard.records.command_line import installing
from steelyard.records.results_folder import check_results_folder
from steelyard.results.facets import FACETS
from steelyard.results.load import Measured, load
from steelyard.results.row import Row, RowLaunch
from steelyard.results.rows import rows_of
from steelyard.rows.labels import told_params

if TYPE_CHECKING:
    import polars

TableLine = Mapping[str, Any]

# Columns whose names in results.json leave out the unit.
_NS = (
    *("time", "time_low", "time_high"),
    *("median", "ci_low", "ci_high", "min", "p5", "p90", "p95", "p99", "p99_low", "p99_high", "max", "mean"),
    *("quantile_value", "quantile_low", "quantile_high", "overhead", "clock_tick", "corrected"),
    *(
        "corrected_low",
        "corrected_high",
        "rank_medians",
        "rank_quantiles",
        "modes",
        "phases",
        "ways",
        "pairs",
        "osu",
    ),
)
_OTHER_UNITS = {"bandwidth": "bytes_per_s"}
_UNITS = (  # endings of columns, the longest first
    ("bytes_per_s", "bytes/s"),
    ("_bytes", "bytes"),
    ("_seconds", "s"),
    ("mops_low", "10⁶/s"),
    ("mops_high", "10⁶/s"),
    ("mops", "10⁶/s"),
    ("bytes", "bytes"),
    ("_hz", "Hz"),
    ("_ns", "ns"),
)
_LEFT_OUT = ("unit", "params", "imb")  # in names; in columns of their own; as `osu`
_KEYS = ("op", "bytes", "ranks", "threads", "mpi", "method", "placement")
_PARAM = "param_"  # columns of parameters
_TYPES = {float: "Float64", int: "Int64", bool: "Boolean"}  # of columns; all else is words


def load_table(folders: Sequence[Path], rows: str, mapped: Mapper = serially) -> polars.DataFrame:
    """See `steelyard.load`; `mapped` may read in parallel."""
    _check(rows)
    read = []
    for folder in folders:
        check_results_folder(folder)
        measured = load(folder, mapped)
        read.append((measured, ExportedFolder(folder, Made(rows_of(measured, mapped=mapped)))))
    return table_of(read, rows)


def table_of(read: Sequence[tuple[Measured, ExportedFolder]], rows: str) -> polars.DataFrame:
    """Make the table of folders that were read. Raises InputError for other `rows`, and without polars."""
    _check(rows)
    return _TABLES[rows](read)


def _check(rows: str) -> None:
    if rows not in _TABLES:
        words = " or ".join(f"'{word}'" for word in _TABLES)
        raise InputError(f"rows is {words}, not {rows!r}")


def parquet(what: Export) -> bytes:
    """The table of the test cases as Parquet. Raises InputError where polars is missing."""
    file = io.BytesIO()
    case_table(what.folders).write_parquet(file)
    return file.getvalue()


def case_table(folders: Sequence[ExportedFolder]) -> polars.DataFrame:
    """A row for each test case and MPI: the columns of results.csv, and one for each parameter that tells."""
    shown = set(_shown())
    lines = [
        {"folder": visible(str(folder.folder)), **_params(row, folder.rows)}
        | {with_unit(name): value for name, value in flat(row).items() if name in shown}
        for folder in folders
        for row in folder.rows
    ]
    return _frame(lines, {**case_columns(), **_param_types(lines)})


def launch_table(folders: Sequence[ExportedFolder]) -> polars.DataFrame:
    """A row for each launch of a test case."""
    lines = [
        _keys(folder.folder, row, folder.rows) | {with_unit(name): value for name, value in told.items()}
        for folder in folders
        for row in folder.rows
        for told in map(msgspec.structs.asdict, row.launches)
    ]
    return _frame(lines, {**_key_columns(), **_param_types(lines), **launch_columns()})


def sample_table(read: Sequence[tuple[Measured, ExportedFolder]]) -> polars.DataFrame:
    """A row for each sample of the launches that went well."""
    pl = _polars()
    found = []
    for measured, one in read:
        rows = {row.point: row for row in one.rows}
        for point in measured.points:
            keys = _keys(one.folder, rows[point.plan.point], one.rows)
            for launch in (each for each in point.cells if each.status == "ok"):
                fixed = {**keys, "launch": launch.launch}
                same = [
                    pl.lit(value, dtype=_one_type(pl, name, value)).alias(name)
                    for name, value in fixed.items()
                ]
                samples = pl.DataFrame({"value_ns": launch.values}).with_row_index("sample")
                found.append(samples.select(*same, pl.all()))
    params = _param_types([_keys(one.folder, row, one.rows) for _, one in read for row in one.rows])
    empty = _frame([], {**_key_columns(), **params, **sample_columns()})
    frame: polars.DataFrame = pl.concat([empty, *found], how="diagonal_relaxed")
    return frame


def _shown() -> list[str]:
    return [name for name in columns() if name not in _LEFT_OUT]


def _key_columns() -> dict[str, str]:
    return {"folder": "String", "point": "Int64", **{name: _TYPE_OF[name] for name in _KEYS}}


def case_columns() -> dict[str, str]:
    """The columns of test cases but those of parameters, and their types."""
    return {"folder": "String", **{with_unit(name): _TYPE_OF[name] for name in _shown()}}


def launch_columns() -> dict[str, str]:
    """The columns of launches but those of parameters, and their types."""
    fields = msgspec.structs.fields(RowLaunch)
    return {**_key_columns(), **{with_unit(field.name): _type(field.type) for field in fields}}


def sample_columns() -> dict[str, str]:
    """The columns of samples but those of parameters, and their types."""
    return {**_key_columns(), "launch": "Int64", "sample": "UInt32", "value_ns": "Float64"}


# `rows` of `steelyard.load` -> the columns that its table always has.
TABLE_COLUMNS: Mapping[str, Callable[[], dict[str, str]]] = {
    "cases": case_columns,
    "launches": launch_columns,
    "samples": sample_columns,
}


_TABLES: Mapping[str, Callable[[Sequence[tuple[Measured, ExportedFolder]]], polars.DataFrame]] = {
    "cases": lambda read: case_table([one for _, one in read]),
    "launches": lambda read: launch_table([one for _, one in read]),
    "samples": sample_table,
}


def with_unit(name: str) -> str:
    """The name of a column with its unit: `median_ns`."""
    unit = "ns" if name in _NS else _OTHER_UNITS.get(name)
    return f"{name}_{unit}" if unit else name


def key_of_column(column: str) -> str:
    """The key of results.json that a column has."""
    return next((name for name in (*_NS, *_OTHER_UNITS) if with_unit(name) == column), column)


def unit_of(column: str) -> str:
    """The unit of a column by its name; empty for what has none."""
    return next((unit for ending, unit in _UNITS if column.endswith(ending)), "")


def _keys(folder: Path, row: Row, among: Sequence[Row]) -> dict[str, Any]:
    """What a row is of, for tables that have several of it."""
    own = {name: getattr(row, name) for name in _KEYS}
    return {"folder": visible(str(folder)), "point": row.point, **own, **_params(row, among)}


def _params(row: Row, among: Sequence[Row]) -> dict[str, Any]:
    return {f"{_PARAM}{name}": value for name, value in told_params(row, among).items()}


def _param_types(lines: Iterable[TableLine]) -> dict[str, str]:
    """Numbers where all values are, else words."""
    types: dict[str, str] = {}
    for line in lines:
        for name, value in line.items():
            if name.startswith(_PARAM):
                types[name] = "String" if isinstance(value, str) else types.get(name, "Float64")
    return types


def _frame(lines: Sequence[TableLine], types: Mapping[str, str]) -> polars.DataFrame:
    """The lines in columns of these types; what is nested is words, as in results.csv."""
    pl = _polars()
    series = []
    for name, type_ in types.items():
        values = [cell(line.get(name)) for line in lines]
        if type_ == "String":
            values = [None if value is None or value == "" else str(value) for value in values]
        series.append(pl.Series(name, values, dtype=getattr(pl, type_), strict=False))
    frame: polars.DataFrame = pl.DataFrame(series)
    return frame


def _one_type(pl: Any, name: str, value: Any) -> Any:
    """The type of a column that has one value."""
    if name.startswith(_PARAM):
        return pl.String if isinstance(value, str) else pl.Float64
    return getattr(pl, _TYPE_OF.get(name, "String"))


def _type(annotation: Any) -> str:
    """The type of a column from the annotation of its field: that of one value, or None."""
    kinds = [kind for kind in getattr(annotation, "__args__", (annotation,)) if kind is not type(None)]
    return _TYPES.get(kinds[0], "String") if len(kinds) == 1 else "String"


def _fields() -> Iterator[tuple[str, str]]:
    for kind in (Row, *FACETS, RowLaunch):
        for field in msgspec.structs.fields(kind):
            yield field.name, _type(field.type)


_TYPE_OF = dict(_fields())


def _polars() -> Any:
    try:
        import polars
    except ImportError:
        raise InputError(f"tables and Parquet need polars; type: {installing('table')}") from None
    return polars
