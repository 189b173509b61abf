"""Records of versions whose engines did not say what ops and methods are: the reader fills it in."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from steelyard.records.kinds import BLOCKING, NONBLOCKING, PERSISTENT
from steelyard.records.legacy_kinds import completed, method_kind, op_kind
from steelyard.records.schema import Point


@pytest.mark.parametrize(
    ("op", "base", "form"),
    [
        ("mpi.allreduce", "mpi.allreduce", BLOCKING),
        ("mpi.iallreduce", "mpi.allreduce", NONBLOCKING),
        ("mpi.allreduce_init", "mpi.allreduce", PERSISTENT),
        ("mpi.ineighbor_alltoallv", "mpi.neighbor_alltoallv", NONBLOCKING),
        ("mpi.mock.iscan", "mpi.mock.scan", NONBLOCKING),
        ("mpi.isend", "mpi.isend", BLOCKING),
        ("pthread.init", "pthread.init", BLOCKING),
    ],
)
def test_forms_by_name(op: str, base: str, form: str) -> None:
    assert (op_kind(op).base, op_kind(op).form) == (base, form)


@pytest.mark.parametrize(
    ("op", "role", "layer"),
    [
        ("mpi.allreduce", "collective", None),
        ("mpi.overlap.iallreduce", "overlap", None),
        ("mpi.pingpong", "latency", "mpi"),
        ("mpi.mt.pingpong", "latency", None),
        ("mpi.bandwidth", "bandwidth", "mpi"),
        ("mpi.bibandwidth", "bandwidth", None),
        ("mpi.mt.message_rate", "rate", None),
        ("mpi.pattern.matching", "pattern", None),
        ("npb.cg", "kernel", None),
        ("noise.ftq", "noise", None),
        ("self.spin", "instrument", None),
        ("self.work", "work", None),
        ("self.fail", "fault", None),
        ("mem.copy", "latency", "copy"),
        ("mem.stream.triad", "bandwidth", None),
        ("shm.cma.stream", "bandwidth", "shared memory"),
        ("sock.unix", "latency", "pipe"),
        ("sock.udp.stream", "bandwidth", "network"),
        ("omp.barrier", "call", None),
    ],
)
def test_roles_and_layers_by_name(op: str, role: str, layer: str | None) -> None:
    assert (op_kind(op).role, op_kind(op).layer) == (role, layer)


@pytest.mark.parametrize(
    ("method", "op", "ranks", "nature", "bound"),
    [
        ("batch", "mpi.ibcast", 2, "throughput, not latency", None),
        ("batch", "mpi.ibcast", 1, None, None),
        ("batch", "mpi.pingpong", 2, None, None),
        ("ack", "mpi.bcast", 2, "a lower bound", "lower"),
        ("bounds", "mpi.bcast", 2, "not an estimate", "upper"),
        ("epoch", "mpi.bcast", 2, None, None),
    ],
)
def test_what_a_number_is_by_the_name_of_the_method(
    method: str, op: str, ranks: int, nature: str | None, bound: str | None
) -> None:
    assert method_kind(method, op, ranks) == (nature, bound)


POINT = Point(
    point=0,
    op="mpi.ibcast",
    bytes=8,
    ranks=4,
    threads=1,
    method="batch",
    rule="median",
    reps=1,
    parts=1,
    report="slowest",
)


def test_what_a_record_leaves_out_is_filled_in() -> None:
    one = completed(POINT)
    assert (one.base, one.form, one.role, one.nature) == (
        "mpi.bcast",
        NONBLOCKING,
        "collective",
        "throughput, not latency",
    )


def test_what_a_record_says_stays() -> None:
    said = replace(POINT, base="mpi.mine", form="odd", role="call", nature="mine", bound="lower")
    assert completed(said) is said


def test_trigger_ack_was_never_a_bound() -> None:
    said = replace(POINT, base="mpi.bcast", method="trigger-ack", nature="a lower bound", bound="lower")
    assert (completed(said).nature, completed(said).bound) == ("the time along one path", None)
