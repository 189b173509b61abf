"""The answer of a kernel: a part of the record that ends its test case."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from steelyard.records.fields import FEW


class KernelAnswer(Struct, frozen=True, kw_only=True):
    """The answer of the first run, which all runs of the launch gave.

    `bits` distinguishes answers to the last bit, of all ranks' parts together. `exact`: only the data, the
    ranks and the threads determine the bits, because no library chose the order of a sum. Between other
    numbers of ranks or threads, `values` may differ by `alike`, relative; None: by any amount.
    """

    bits: str
    exact: bool
    alike: float | None = None
    values: Annotated[dict[str, float | None], FEW] = {}
