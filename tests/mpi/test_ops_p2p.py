"""Messages of two ranks in every way, and data with gaps: every word of every parameter, odd ranks too."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ends import all_are_refused, all_are_right, measured
from points import engine_of, measure, points_of, points_once
from preloaded import build_preloaded
from steelyard.engines.mpi import Mpi, choose_mpi
from steelyard.records.schema import End, Point

_SENDS = ("send", "isend", "ssend", "issend", "bsend", "rsend", "start")
_RECVS = ("recv", "irecv", "probe", "iprobe", "mprobe", "start")
_MATCHES = ("exact", "any_tag", "any_source", "any")
_FORMS = ("single", "pairs", "preposted", "allstart")
_TYPES = ("contiguous", "vector", "indexed", "struct", "subarray")
_STATES = ("same", "written")  # of a buffer, beside the usual one
_POSTED_BEFORE = ("irecv", "start")  # the only ones that suit MPI_Rsend
_SHORT = "method=batch reps=1 count=1"
_CHECKED = "method=batch reps={} count=3 check=sample"


def _pairings() -> Iterator[str]:
    """Each pair of calls that MPI allows, with the ways to match in turn."""
    matches = itertools.cycle(_MATCHES)
    for send, recv in itertools.product(_SENDS, _RECVS):
        if send != "rsend" or recv in _POSTED_BEFORE:
            yield f"op=mpi.pingpong send={send} recv={recv} match={next(matches)}"


def _states() -> Iterator[str]:
    """Each call that sends and each that receives, in each state of the buffer that MPI allows it."""
    pairs = [*((send, "irecv") for send in _SENDS), *(("send", recv) for recv in _RECVS)]
    for state, (send, recv) in itertools.product(_STATES, pairs):
        if (state, send) != ("same", "rsend"):
            yield f"op=mpi.pingpong send={send} recv={recv} buffer={state}"


def _windows() -> Iterator[str]:
    for op, send, recv in itertools.product(
        ("bandwidth", "bibandwidth"), ("isend", "start"), ("irecv", "start")
    ):
        yield f"op=mpi.{op} send={send} recv={recv} window=5 buffers=3 bytes=7"
        yield f"op=mpi.{op} send={send} recv={recv} window=3 buffers=5 bytes=65"
        yield f"op=mpi.{op} send={send} recv={recv} window=3 buffers=2 bytes=65 buffer=written"
    for complete in ("wait", "waitany", "waitsome", "testall", "test", "testany", "testsome", "status"):
        yield f"op=mpi.bandwidth complete={complete} window=5 buffers=5 bytes=65"
        yield f"op=mpi.bibandwidth complete={complete} send=start recv=start window=5 buffers=5 bytes=7"
    for send, recv in itertools.product(("isend", "start"), ("irecv", "start")):
        yield f"op=mpi.bibandwidth send={send} recv={recv} window=3 buffers=2 bytes=65 buffer=same"


def _exchanges() -> Iterator[str]:
    for op, match in itertools.product(("pingping", "sendrecv", "sendrecv_replace"), _MATCHES):
        yield f"op=mpi.{op} match={match} bytes=9"
    for calls in ("irecv_send", "isend_recv", "sendrecv"):
        yield f"op=mpi.self calls={calls} bytes=9"


def _queues() -> Iterator[str]:
    for posted, unexpected in ((0, 0), (9, 0), (0, 9), (100, 77)):
        yield f"op=mpi.matching posted={posted} unexpected={unexpected} bytes=9"


def _rates(ranks: int) -> Iterator[str]:
    for form in _FORMS:
        for peers in {1, max(1, ranks // 2 if form == "single" else ranks - 1)}:
            yield f"op=mpi.message_rate form={form} peers={peers} messages=3 bytes=7"
            for state in _STATES if form != "single" else _STATES[1:]:
                yield f"op=mpi.message_rate form={form} peers={peers} messages=3 bytes=7 buffer={state}"


def _types(op: str) -> Iterator[str]:
    for kind, (block, stride, blocks) in itertools.product(_TYPES, ((1, 0, 5), (3, 7, 3))):
        yield f"op={op} type={kind} block={block} stride={stride} bytes={8 * block * blocks}"


def _typed() -> Iterator[str]:
    for line, how in itertools.product(_types("mpi.type.pingpong"), ("type", "pack", "copy")):
        yield f"{line} how={how}"
    for op in ("mpi.pack", "mpi.unpack", "mpi.type_commit"):
        yield from _types(op)


def _ends(tmp_path: Path, mpi: Mpi, ranks: int, lines: Sequence[str], rule: str = _SHORT) -> list[End]:
    return measured(mpi, ranks, lines, f"rule=fixed {rule}", tmp_path / "out.jsonl")


def _all_right(tmp_path: Path, mpi: Mpi, ranks: int, lines: Sequence[str], rule: str = _SHORT) -> None:
    all_are_right(lines, _ends(tmp_path, mpi, ranks, lines, rule))


def test_every_pairing_delivers(tmp_path: Path, mpi: Mpi) -> None:
    lines = [f"{line} bytes={size}" for line in _pairings() for size in (0, 9, 100_001)]
    lines += [f"op=mpi.pingpong recv={recv} match={match} bytes=9" for recv in _RECVS for match in _MATCHES]
    _all_right(tmp_path, mpi, 2, lines)


def test_every_state_of_the_buffer_delivers(tmp_path: Path, mpi: Mpi) -> None:
    large = [f"op=mpi.pingpong_c buffer={state}" for state in _STATES if mpi.origin == "embedded"]
    _all_right(
        tmp_path, mpi, 2, [f"{line} bytes={size}" for line in (*_states(), *large) for size in (0, 100_001)]
    )


@pytest.mark.parametrize(("ranks", "reps"), [(2, 1), (2, 2), (3, 1), (5, 3)])
def test_what_timed_calls_have_moved_is_checked(tmp_path: Path, mpi: Mpi, ranks: int, reps: int) -> None:
    """Nothing is wrong with messages that are right, in each state of their buffers, after each sample."""
    lines = [*_rates(ranks)]
    if ranks == 2:
        lines += [*_windows(), *_exchanges(), *_queues(), *(f"{line} bytes=9" for line in _states())]
        lines += [f"{line} bytes=9" for line in _pairings() if "rsend" in line]
        lines += [f"{line} how=pack" for line in _types("mpi.type.pingpong")]
    _all_right(tmp_path, mpi, ranks, points_once(mpi, lines), _CHECKED.format(reps))


def test_every_pairing_is_timed_message_by_message(tmp_path: Path, mpi: Mpi) -> None:
    """An odd number of messages: the next block begins with one the same way again."""
    lines = [*_pairings(), *_states(), "op=mpi.matching posted=3 unexpected=3"]
    lines += ["op=mpi.pingpong_c"] if mpi.origin == "embedded" else []
    lines += [f"op=mpi.type.pingpong type=vector how={how}" for how in ("type", "pack", "copy")]
    lines = points_once(mpi, [f"{line} method=each bytes=8" for line in lines])
    all_are_right(lines, _ends(tmp_path, mpi, 2, lines, "count=3"))


def test_every_pairing_is_offered_at_a_rate(tmp_path: Path, mpi: Mpi) -> None:
    """One way, faster than they can be sent; what needs answers is refused."""
    needs = ("send=rsend", "buffer=same")
    lines = [*_pairings(), *_states()] + (["op=mpi.pingpong_c"] if mpi.origin == "embedded" else [])
    lines = points_once(mpi, [f"{line} method=open-loop rate=1e8 bytes=8" for line in lines])
    ends = _ends(tmp_path, mpi, 2, lines, "count=40")
    pairs = list(zip(lines, ends, strict=True))
    refused = [(line, end) for line, end in pairs if any(word in line for word in needs)]
    assert all("needs answers to messages" in (end.why or "") for _, end in refused)
    right = [pair for pair in pairs if pair not in refused]
    all_are_right([line for line, _ in right], [end for _, end in right])


def test_windows_exchanges_queues_and_layouts_deliver(tmp_path: Path, mpi: Mpi) -> None:
    lines = [*_windows(), *_exchanges(), *_queues(), *_typed(), *_rates(2)]
    _all_right(tmp_path, mpi, 2, lines)


@pytest.mark.parametrize("ranks", [1, 3, 4, 5, 7, 8])
def test_other_numbers_of_ranks(tmp_path: Path, mpi: Mpi, ranks: int) -> None:
    """One of each kind, where the others wait; all of what all ranks do."""
    lines = ["op=mpi.self calls=isend_recv bytes=9", *itertools.islice(_types("mpi.unpack"), 8, 11)]
    if ranks > 1:
        lines += [*_rates(ranks)]
        lines += ["op=mpi.pingpong bytes=9", "op=mpi.pingpong send=rsend recv=start match=any bytes=9"]
        lines += ["op=mpi.pingpong send=bsend recv=mprobe bytes=9", "op=mpi.pingping bytes=9"]
        lines += ["op=mpi.sendrecv_replace bytes=9", "op=mpi.bibandwidth send=start window=3 bytes=9"]
        lines += ["op=mpi.matching posted=5 unexpected=4 bytes=9"]
        lines += ["op=mpi.type.pingpong type=struct block=3 bytes=72 how=pack"]
    _all_right(tmp_path, mpi, ranks, points_of(mpi, ranks, lines))


@pytest.mark.ours
@pytest.mark.parametrize("rank", [0, 1])
def test_a_flipped_bit_is_found_whichever_way_it_came(tmp_path: Path, mpi: Mpi, rank: int) -> None:
    lines = [f"{line} bytes=9" for line in (*_pairings(), *_states())]
    lines = points_once(mpi, [*lines, *_windows(), *_exchanges(), *_queues(), *_typed(), *_rates(2)])
    ends = _ends(tmp_path, mpi, 2, [f"{line} plant={rank}" for line in lines])
    for line, end in zip(lines, ends, strict=True):
        one_way = "mpi.bandwidth" in line or "form=single" in line
        if one_way and rank == 0:
            assert (end.status, end.verified) == ("ok", True), line
        else:
            assert (end.status, end.verified) == ("failed", False), line
            assert (end.why or "").startswith(f"wrong: rank {rank}: "), line


# Rank 0's messages come into memory of nobody.
_LOSES = """
#include <mpi.h>
#include <stdlib.h>
int MPI_Recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *status)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (rank != 0 || n != 9) /* what ranks tell each other before has other sizes */
        return PMPI_Recv(data, n, type, from, tag, comm, status);
    void *elsewhere = malloc((size_t)n);
    int rc = PMPI_Recv(elsewhere, n, type, from, tag, comm, status);
    free(elsewhere);
    return rc;
}
"""


def test_an_answer_that_is_lost_is_missed_in_every_state(tmp_path: Path) -> None:
    """With buffer=same, too, where the buffer holds the right data before they come back."""
    mpi = choose_mpi("openmpi")
    source = tmp_path / "loses.c"
    source.write_text(_LOSES)
    library = build_preloaded(engine_of(mpi), source, tmp_path)
    lines = [f"op=mpi.pingpong buffer={state} bytes=9" for state in ("apart", *_STATES)]
    lines = [f"{line} rule=fixed {_SHORT}" for line in lines]
    before = ("env", f"LD_PRELOAD={library}")
    records = measure(engine_of(mpi), 2, 1, lines, tmp_path / "out.jsonl", before)
    ends = [record for record in records if isinstance(record, End)]
    assert len(ends) == len(lines)
    for end in ends:
        assert (end.status, end.verified) == ("failed", False)
        assert (end.why or "").startswith("wrong: rank 0: byte 0"), end.why


# What cannot be -> words of the sentence, with what to do.
_REFUSED = {
    "op=mpi.pingpong send=rsend bytes=8": "use recv=irecv or recv=start",
    "op=mpi.pingpong send=rsend recv=mprobe bytes=8": "which recv=mprobe cannot be",
    "op=mpi.pingpong send=rsend recv=irecv buffer=same bytes=8": "use buffer=apart or buffer=written",
    "op=mpi.bandwidth buffer=same bytes=8": "give buffer=apart or written, or mpi.bibandwidth",
    "op=mpi.message_rate form=single buffer=same bytes=8": "give buffer=apart or written, or another form",
    "op=mpi.pingpong send=bsend bytes=600Mi": "MPI_Buffer_attach takes 2147483647; use smaller messages",
    "op=mpi.pingpong bytes=2Gi": "use mpi.pingpong_c",
    "op=mpi.bandwidth bytes=3Gi": "mpi.bandwidth counts in MPI's int",
    "op=mpi.self bytes=2Gi": "mpi.self counts in MPI's int",
    "op=mpi.message_rate bytes=2Gi": "use mpi.pingpong_c or mpi.bandwidth_c",
    "op=mpi.message_rate form=single peers=2 bytes=8": "use 4 ranks or more",
    "op=mpi.message_rate form=allstart peers=2 bytes=8": "use 3 ranks or more",
    "op=mpi.message_rate form=single messages=65536 peers=300 bytes=8": "at most 1 peers, not 300",
    "op=mpi.pack bytes=7": "7 bytes are no multiple of 8",
    "op=mpi.pack type=vector block=3 bytes=16": "16 bytes are no multiple of 24",
    "op=mpi.unpack type=vector block=3 stride=2 bytes=24": "the blocks would overlap",
    "op=mpi.type.pingpong type=vector stride=16777216 bytes=64Ki": "use a smaller stride",
    "op=mpi.type_commit bytes=2Gi": "use mpi.pingpong_c",
}


@pytest.mark.ours
def test_what_cannot_be_is_refused_in_a_sentence(tmp_path: Path, one_mpi: Mpi) -> None:
    lines = [*_REFUSED, "op=mpi.pingpong bytes=8"]
    ends = _ends(tmp_path, one_mpi, 2, lines)
    all_are_refused(_REFUSED, ends)


def _available_bytes() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return 0


@pytest.mark.further  # what counts bytes is tested in C, with numbers beyond 2^31
def test_a_message_beyond_2_gib_arrives_whole(tmp_path: Path) -> None:
    """One byte more than an int can count, one way, so that each rank has but one such buffer."""
    from conftest import _found

    mpi = _found("embedded")
    if isinstance(mpi, str):
        pytest.skip(mpi)
    size = 2**31 + 1
    if _available_bytes() < 4 * size:
        pytest.skip("there are no 8 GiB of memory to spare")
    line = f"op=mpi.bandwidth_c window=1 bytes={size}"
    assert [(end.status, end.why) for end in _ends(tmp_path, mpi, 2, [line])] == [("ok", None)]


# A point -> what its table is about, and how many messages are its work.
_ROLES = {
    "op=mpi.message_rate form=single peers=1 messages=3 bytes=7": ("rate", 3),
    "op=mpi.message_rate form=allstart peers=1 messages=3 bytes=7": ("rate", 6),
    "op=mpi.bandwidth window=3 bytes=7": ("bandwidth", 0),
    "op=mpi.pingpong bytes=7": ("latency", 0),
}


def test_a_record_says_what_its_table_is_about(tmp_path: Path, one_mpi: Mpi) -> None:
    lines = [f"{line} rule=fixed {_SHORT}" for line in _ROLES]
    records = measure(engine_of(one_mpi), 2, 1, lines, tmp_path / "out.jsonl")
    points = [(record.role, record.work) for record in records if isinstance(record, Point)]
    assert points == [*_ROLES.values()]
