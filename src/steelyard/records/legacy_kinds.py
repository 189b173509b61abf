"""The kinds of ops and methods by their names, for older records that do not have them.

New ops and methods need nothing here: `describe`, campaign.json and the `point` records have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from steelyard.records.kinds import BLOCKING, CALL, COLLECTIVE, LOWER, NONBLOCKING, PERSISTENT, UPPER
from steelyard.records.schema import Point

_ALL = ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
_COLLECTIVES = {
    *(*_ALL, *(f"neighbor_{name}" for name in _ALL), "allreduce", "barrier", "bcast", "exscan", "gather"),
    *("gatherv", "reduce", "reduce_scatter", "reduce_scatter_block", "scan", "scatter", "scatterv"),
}
# Names of ops -> their role and their layer; the first match counts.
_ROLES: tuple[tuple[str, str, str | None], ...] = (
    ("mpi.overlap.*", "overlap", None),
    *((f"mpi.{name}.*", "pattern", None) for name in ("pattern", "halo", "mt.pattern")),
    ("mpi.pingpong", "latency", "mpi"),
    ("mpi.bandwidth", "bandwidth", "mpi"),
    ("mpi.*bandwidth*", "bandwidth", None),
    ("mpi.*message_rate", "rate", None),
    *((f"mpi.*{name}", "latency", None) for name in ("pingpong*", "pingping", "sendrecv*", "matching")),
    *((f"mpi.{name}", "latency", None) for name in ("self", "part.send", "mt.serve", "mt.short")),
    *((f"{name}.*", "kernel", None) for name in ("npb", "app")),
    ("noise.*", "noise", None),
    ("self.work", "work", None),
    ("self.fail", "fault", None),
    ("self.*", "instrument", None),
    ("mem.copy", "latency", "copy"),
    ("mem.latency", "latency", None),
    ("mem.*", "bandwidth", None),
    *(
        (name + suffix, role, layer)
        for name, layer in (
            ("shm.*", "shared memory"),
            ("sock.unix", "pipe"),
            ("sock.pipe", "pipe"),
            ("sock.*", "network"),
        )
        for suffix, role in ((".stream", "bandwidth"), ("", "latency"))
    ),
)
# Methods -> why their value is not simply the time, whether only for collectives, which bound it is.
_METHODS: Mapping[str, tuple[str, bool, str | None]] = {
    "batch": ("throughput, not latency", True, None),
    "root": ("overhead, not a latency", False, None),
    "rank": ("overhead, not a latency", False, None),
    "barrier": ("includes barrier exit skew", False, None),
    "library-barrier": ("includes barrier exit skew", False, None),
    "ack": ("a lower bound", False, LOWER),
    "bisected-ack": ("a lower bound", False, LOWER),
    "trigger": ("a lower bound", False, LOWER),
    "trigger-ack": ("the time along one path", False, None),
    "bounds": ("not an estimate", False, UPPER),
}
_MISSAID = ("trigger-ack",)  # an engine once called it a bound, which it is not


class OpKind(Struct, frozen=True):
    """The kind of an op: see `schema.Point`."""

    base: str
    form: str
    role: str
    layer: str | None


@lru_cache(maxsize=1024)  # asked for each test case of each launch
def op_kind(op: str) -> OpKind:
    """Find the kind of an op: `mpi.iallreduce` is the nonblocking form of the collective `mpi.allreduce`."""
    prefix, dot, name = op.rpartition(".")
    base, form = op, BLOCKING
    for own, of in ((name.removesuffix("_init"), PERSISTENT), (name.removeprefix("i"), NONBLOCKING)):
        if own != name and _is_collective(prefix + dot + own):
            base, form = prefix + dot + own, of
    found = next(((role, layer) for names, role, layer in _ROLES if fnmatchcase(op, names)), None)
    return OpKind(base, form, *(found or (COLLECTIVE if _is_collective(base) else CALL, None)))


def _is_collective(base: str) -> bool:
    return base.startswith("mpi.") and base.rpartition(".")[2] in _COLLECTIVES


def method_kind(method: str, op: str, ranks: int) -> tuple[str | None, str | None]:
    """Find the nature of a method's value for an op on so many ranks, and which bound it is."""
    nature, of_collectives, bound = _METHODS.get(method, (None, False, None))
    is_told = ranks > 1 and (_is_collective(op_kind(op).base) or not of_collectives)
    return (nature if is_told else None), bound


def completed(point: Point) -> Point:
    """Complete the record of a test case with what its engine left out."""
    if point.base is not None and point.method not in _MISSAID:
        return point
    kind = op_kind(point.op)
    nature, bound = method_kind(point.method, point.op, point.ranks)
    if point.base is not None:
        return replace(point, nature=nature, bound=bound)
    return replace(
        point,
        base=kind.base,
        form=kind.form,
        role=point.role or kind.role,
        layer=kind.layer,
        nature=nature,
        bound=bound,
    )
