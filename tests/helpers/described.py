"""What an engine may say of itself, made up for tests of what is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from steelyard.engines.description import Description
from steelyard.records.legacy_kinds import op_kind

Row = Mapping[str, Any]


def _kind(op: Row) -> Row:
    return msgspec.structs.asdict(op_kind(op["name"]))


def described(ops: Iterable[Row], methods: Iterable[Row], stop_rules: Iterable[Row] = ()) -> Description:
    """A description with these rows, in which what a test does not care about is left out.

    What kind of op a name stands for is what old records mean by it.
    """
    return msgspec.convert(
        {
            "engine": "solo",
            "version": "0",
            "ops": [{**_kind(op), "params": [], "default_method": "batch"} | dict(op) for op in ops],
            "methods": [{"params": []} | dict(method) for method in methods],
            "stop_rules": [{"params": []} | dict(rule) for rule in stop_rules],
        },
        Description,
    )
