"""Results as files: what results.json and results.csv hold."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from steelyard.floor import efficiencies
from steelyard.macro import macro_of
from steelyard.overlap import curves
from steelyard.records import SCHEMA
from steelyard.row import Row
from steelyard.scaling import scaling_curves


def results_document(
    folder: Path, rows: tuple[Row, ...], doubts: Sequence[msgspec.Struct] = ()
) -> dict[str, Any]:
    """What `--json` prints and results.json holds: the rows, and what they make together.

    `overlap` are curves over work, `floor` MPI's efficiency against the layers below it, `macro` what
    messages say of kernels, `scaling` curves over ranks and threads, `doubts` what the checks have found.
    """
    points, overlap, floor = msgspec.to_builtins((rows, curves(rows), efficiencies(rows)))
    found = msgspec.to_builtins(doubts)
    macro, scaling = msgspec.to_builtins((macro_of(rows), scaling_curves(rows)))
    made = {"overlap": overlap, "floor": floor, "macro": macro, "scaling": scaling, "doubts": found}
    return {"schema": SCHEMA, "out": str(folder), "points": points, **made}


def results_csv(rows: tuple[Row, ...]) -> str:
    """The rows as CSV; nested columns as words: `window=64`, `203.1:0.7`; launches as their medians."""
    columns = [name for name in Row.__struct_fields__ if name != "launches"] + ["launch_medians"]
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        flat = {name: getattr(row, name) for name in columns[:-1]}
        for name in ("params", "method_params", "rule_params", "omp", "osu", "imb"):
            flat[name] = " ".join(f"{key}={value}" for key, value in getattr(row, name).items())
        flat["modes"] = " ".join(f"{mode.value:g}:{mode.share:g}" for mode in row.modes)
        flat["flags"] = " ".join(row.flags)
        for name in ("window_ns", "ways", "rank_medians"):
            flat[name] = " ".join(f"{number:g}" for number in getattr(row, name) or ())
        if row.phases:
            flat["phases"] = " ".join(f"{one.name}:{one.median:g}" for one in row.phases.phases)
        flat["pairs"] = " ".join(f"{pair.low}-{pair.high}:{pair.median:g}" for pair in row.pairs)
        flat["spun"] = " ".join(f"{one.rank}:{one.share:g}" for one in row.spun)
        flat["cores"] = " ".join(f"{one.rank}:{one.share:g}" for one in row.cores)
        flat["placed"] = row.placed.text if row.placed else ""
        flat["path"] = f"{row.path.late}>{row.path.observer}" if row.path else ""
        flat["launch_medians"] = " ".join(f"{one.median:g}" for one in row.launches if one.median is not None)
        writer.writerow(flat)
    return text.getvalue()


def write_results(folder: Path, rows: tuple[Row, ...], doubts: Sequence[msgspec.Struct] = ()) -> None:
    """Writes results.json and results.csv into `folder`, each at once: a reader never sees half a file."""
    document = msgspec.json.format(msgspec.json.encode(results_document(folder, rows, doubts)), indent=1)
    write_whole(folder / "results.json", document + b"\n")
    write_whole(folder / "results.csv", results_csv(rows).encode())


def write_whole(path: Path, data: bytes) -> None:
    """Replaces a file by another one at once."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
