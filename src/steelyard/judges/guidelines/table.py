"""The guidelines: calls that must not be slower than others by which a library could do the same inside.

After Träff, Gropp and Thakur, Self-consistent MPI performance guidelines, IEEE TPDS 21(5), 2010, and the list
of PGMPITuneLib (Hunold and Carpen-Amarie, HPC Asia 2018). A row is `left <= right`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from steelyard.base.units import format_bytes

Value = float | str  # of a parameter

COMPOSITION, IRREGULAR, ROOTED, FORM, MESSAGE, TYPE, ONE_SIDED = (
    "composition",
    "regular against irregular",
    "rooted against unrooted",
    "form",
    "message",
    "datatype",
    "one-sided",
)
# Cases among the rows of one op.
GROWTH, SPLIT, RANKS, IDLE = "larger size", "split", "more ranks", "idle ranks"
MOCK = "mpi.mock."


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a guideline: an op, and the parameters that make it this side."""

    op: str
    params: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Guideline:
    """`left <= right`, of the same size on as many ranks.

    `words` name it; `remedy` is for a program that finds it violated. `unless`: an op that measures the same
    better; if a folder has it, this row is left out. `against`: the right side, if it is not in the words.
    """

    kind: str
    left: Side
    right: Side
    words: str
    remedy: str
    unless: str = ""
    against: str = ""


def _call(name: str) -> str:
    """Write `reduce_scatter_block` as MPI does: `Reduce_scatter_block`."""
    return name[:1].upper() + name[1:]


# Collective, the name of its mock-up, and its parts: see engine/ops/mpi/mock/rows.h.
_COMPOSED = (
    ("barrier", "allreduce", "Allreduce of a byte"),
    ("barrier", "reduce_bcast", "Reduce + Bcast of a byte"),
    ("barrier", "messages", "empty messages"),
    ("bcast", "scatter_allgather", "Scatter + Allgather"),
    ("bcast", "scatterv_allgatherv", "Scatterv + Allgatherv"),
    ("bcast", "allgatherv", "Allgatherv"),
    ("bcast", "halves", "2 Bcasts of half"),
    ("gather", "allgather", "Allgather"),
    ("gather", "reduce", "Reduce of bits"),
    ("gather", "messages", "Isend + Irecv"),
    ("gatherv", "messages", "Isend + Irecv"),
    ("scatter", "bcast", "Bcast"),
    ("scatter", "messages", "Isend + Irecv"),
    ("allgather", "gather_bcast", "Gather + Bcast"),
    ("allgather", "alltoall", "Alltoall"),
    ("allgather", "allreduce", "Allreduce of bits"),
    ("allgather", "bcasts", "a Bcast of each"),
    ("allgatherv", "gatherv_bcast", "Gatherv + Bcast"),
    ("alltoall", "messages", "Isend + Irecv"),
    ("alltoallv", "messages", "Isend + Irecv"),
    ("reduce", "allreduce", "Allreduce"),
    ("reduce", "reduce_scatter_block_gather", "Reduce_scatter_block + Gather"),
    ("reduce", "reduce_scatter_gatherv", "Reduce_scatter + Gatherv"),
    ("reduce", "gather_reduce_local", "Gather + Reduce_local"),
    ("reduce", "halves", "2 Reduces of half"),
    ("allreduce", "reduce_bcast", "Reduce + Bcast"),
    ("allreduce", "reduce_scatter_block_allgather", "Reduce_scatter_block + Allgather"),
    ("allreduce", "reduce_scatter_allgatherv", "Reduce_scatter + Allgatherv"),
    ("allreduce", "allgather_reduce_local", "Allgather + Reduce_local"),
    ("allreduce", "halves", "2 Allreduces of half"),
    ("reduce_scatter_block", "reduce_scatter", "Reduce + Scatter"),
    ("reduce_scatter_block", "allreduce", "Allreduce"),
    ("reduce_scatter_block", "alltoall_reduce_local", "Alltoall + Reduce_local"),
    ("reduce_scatter", "reduce_scatterv", "Reduce + Scatterv"),
    ("reduce_scatter", "allreduce", "Allreduce"),
    ("scan", "exscan_reduce_local", "Exscan + Reduce_local"),
    ("exscan", "scan_sendrecv", "Scan + Sendrecv"),
)
# The call for blocks of one size, and the one for blocks of any sizes.
_IRREGULAR = (
    *(("gather", "gatherv"), ("scatter", "scatterv"), ("allgather", "allgatherv")),
    *(("alltoall", "alltoallv"), ("alltoallv", "alltoallw"), ("reduce_scatter_block", "reduce_scatter")),
)
_ROOTED = (("gather", "allgather"), ("reduce", "allreduce"))
_COLLECTIVES = (
    *("barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv"),
    *("alltoall", "alltoallv", "alltoallw", "reduce", "allreduce", "reduce_scatter"),
    *("reduce_scatter_block", "scan", "exscan"),
)
# Ops that move more with a larger size, and those whose calls can be split: the halves of what they move are
# contiguous.
GROW = frozenset(
    ("mpi.pingpong", "mpi.sendrecv", *(f"mpi.{name}" for name in _COLLECTIVES if name != "barrier"))
)
SPLITTABLE = frozenset(("mpi.pingpong", "mpi.bcast", "mpi.reduce", "mpi.allreduce", "mpi.scan", "mpi.exscan"))
# Ops of two ranks, in which all others wait; and ops of all ranks, whose work grows with their number.
BETWEEN_TWO = frozenset(("mpi.pingpong", "mpi.sendrecv", "mpi.pingping", "mpi.put", "mpi.get"))
GROW_WITH_RANKS = frozenset(f"mpi.{name}" for name in _COLLECTIVES)


def _composition(of: str, by: str, words: str) -> Guideline:
    name = f"{MOCK}{of}_by_{by}"
    return Guideline(
        COMPOSITION,
        Side(f"mpi.{of}"),
        Side(name),
        f"{_call(of)} <= {words}",
        f"compose it: {words}",
    )


def _irregular(regular: str, irregular: str) -> Guideline:
    return Guideline(
        IRREGULAR,
        Side(f"mpi.{regular}"),
        Side(f"mpi.{irregular}"),
        f"{_call(regular)} <= {_call(irregular)}",
        f"call MPI_{_call(irregular)} with equal counts",
    )


def _rooted(rooted: str, unrooted: str) -> Guideline:
    return Guideline(
        ROOTED,
        Side(f"mpi.{rooted}"),
        Side(f"mpi.{unrooted}"),
        f"{_call(rooted)} <= {_call(unrooted)}",
        f"call MPI_{_call(unrooted)}",
        unless=f"{MOCK}{rooted}_by_{unrooted}",
    )


def _forms(name: str) -> tuple[Guideline, Guideline]:
    plain, nonblocking, persistent = f"mpi.{name}", f"mpi.i{name}", f"mpi.{name}_init"
    return (
        Guideline(
            FORM,
            Side(plain),
            Side(nonblocking),
            f"{_call(name)} <= I{name} + Wait",
            f"call MPI_I{name} and wait at once",
        ),
        Guideline(
            FORM,
            Side(persistent),
            Side(plain),
            f"{_call(name)}_init's Start + Wait <= {_call(name)}",
            f"call MPI_{_call(name)}: the persistent request saves nothing",
        ),
    )


_STARTED: dict[str, Value] = {"send": "start", "recv": "start"}
_FLUSHED: dict[str, Value] = {"sync": "lock_all", "complete": "flush"}
_ACKNOWLEDGED = Side("mpi.bandwidth", {"window": 1.0})  # a message, and an empty answer
_MESSAGES = (
    Guideline(
        MESSAGE,
        Side("mpi.pingpong", {"send": "send"}),
        Side("mpi.pingpong", {"send": "ssend"}),
        "Send <= Ssend",
        "call MPI_Ssend, or change the eager limit",
    ),
    Guideline(
        MESSAGE,
        Side("mpi.pingpong", {"send": "send"}),
        Side("mpi.pingpong", {"send": "isend"}),
        "Send <= Isend + Wait",
        "call MPI_Isend and wait at once",
    ),
    Guideline(
        MESSAGE,
        Side("mpi.sendrecv"),
        Side("mpi.pingping"),
        "Sendrecv <= Isend + Recv + Wait",
        "call MPI_Isend, MPI_Recv and MPI_Wait",
    ),
    Guideline(
        MESSAGE,
        Side("mpi.pingpong", _STARTED),
        Side("mpi.pingpong", {"send": "isend", "recv": "irecv"}),
        "Start + Wait <= Isend, Irecv + Wait",
        "call MPI_Isend and MPI_Irecv: the persistent requests save nothing",
    ),
    Guideline(
        MESSAGE,
        Side("mpi.part.pingpong", {"partitions": 1.0}),
        Side("mpi.pingpong", _STARTED),
        "one partition <= Start + Wait",
        "use a persistent request where there is one partition",
    ),
    Guideline(
        TYPE,
        Side("mpi.type.pingpong", {"how": "type"}),
        Side("mpi.type.pingpong", {"how": "pack"}),
        "datatype <= Pack + Send + Unpack",
        "pack by MPI_Pack and send MPI_PACKED",
    ),
    Guideline(
        ONE_SIDED,
        Side("mpi.put", _FLUSHED),
        _ACKNOWLEDGED,
        "Put + flush <= Send + answer",
        "send a message and wait for an empty answer",
    ),
    Guideline(
        ONE_SIDED,
        Side("mpi.get", _FLUSHED),
        _ACKNOWLEDGED,
        "Get + flush <= question + Send",
        "ask by an empty message and let the other send",
    ),
)

GUIDELINES = (
    *(_composition(*row) for row in _COMPOSED),
    *(_irregular(*row) for row in _IRREGULAR),
    *(_rooted(*row) for row in _ROOTED),
    *(row for name in _COLLECTIVES for row in _forms(name)),
    *_MESSAGES,
)


def growth(op: str, larger: int) -> Guideline:
    """Make the row: a size must not take longer than a larger one, because data can be padded."""
    against = format_bytes(larger)
    words, remedy = f"{op_words(op)} <= of more bytes", f"fill up to {against}"
    return Guideline(GROWTH, Side(op), Side(op), words, remedy, against=f"of {against}")


def split(op: str, size: int, parts: int) -> Guideline:
    """Make the row: a call must not take longer than its parts, a call each."""
    against = f"{parts} x {format_bytes(size)}"
    words, remedy = f"{op_words(op)} <= of its parts", f"make {parts} calls of {format_bytes(size)}"
    return Guideline(SPLIT, Side(op), Side(op), words, remedy, against=against)


def more_ranks(op: str, more: int) -> Guideline:
    """Make the row: a collective must not take longer than on more ranks."""
    words, remedy = f"{op_words(op)} <= on more ranks", f"start {more} ranks"
    return Guideline(RANKS, Side(op), Side(op), words, remedy, against=f"on {more} ranks")


def idle_ranks(op: str, fewer: int) -> Guideline:
    """Make the row: two ranks must not take longer if others wait beside them."""
    words, remedy = f"{op_words(op)} <= among fewer ranks", "start no ranks that only wait, or let them yield"
    return Guideline(IDLE, Side(op), Side(op), words, remedy, against=f"among {fewer} ranks")


def op_words(op: str) -> str:
    """Name an op: `mpi.reduce_scatter` -> `Reduce_scatter`; a ping-pong is a message."""
    return "message" if op == "mpi.pingpong" else _call(op.removeprefix("mpi."))
