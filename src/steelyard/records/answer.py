"""What the runs of a kernel have answered: a part of the record that ends its test case."""

from __future__ import annotations

from msgspec import Struct


class KernelAnswer(Struct, frozen=True, kw_only=True):
    """The first run's answer, which was that of all runs of the launch.

    `bits` tells answers apart to the last bit, all ranks' parts together. `exact`: nothing but the data, the
    ranks and the threads decides the bits, since no sum was made in an order that a library chose. Between
    other ranks or threads `values` may differ by `alike`, relative; None: by any.
    """

    bits: str
    exact: bool
    alike: float | None = None
    values: dict[str, float | None] = {}
