"""OpenSHMEM: its engine, team and ops, with what is found on this machine."""

from __future__ import annotations

import os
import re
import signal
from collections import Counter
from collections.abc import Sequence
from itertools import compress
from pathlib import Path

import pytest

from ends import all_are_refused, all_are_right, ends_of
from further import further
from kernels import kernel_lines
from library_cases import shmem_lines
from points import engine_of, measure, mpi_or_skip
from preloaded import build_preloaded
from steelyard.base.errors import InputError
from steelyard.campaign.folder import finished
from steelyard.engines.build import Engine, describe, mpi_engine
from steelyard.engines.installed import scripts_folder
from steelyard.engines.shmem import choose_shmem
from steelyard.records.schema import Launch
from steelyard.system.process import Child, run

_FAULTS = Path(__file__).parents[1] / "data" / "shmem_faults.c"
_LATER = "it needs OpenSHMEM 1.5; this library is of 1.4"
# What Open MPI 4.1 does wrong (docs/ops/openshmem.md): (the end of an op's name, a word of its line).
_BROKEN = {
    "openmpi": (
        *((f"atomic_fetch_{name}", "") for name in ("and", "or", "xor")),
        *(("atomic_compare_swap", f"type={word} ") for word in ("int", "uint")),
    )
}

_ONE_CONTEXT = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <shmem.h>
int shmem_ctx_create(long options, shmem_ctx_t *ctx)
{
    static int calls;
    if (calls++ > 0)
        return 1;
    return ((int (*)(long, shmem_ctx_t *))dlsym(RTLD_NEXT, "shmem_ctx_create"))(options, ctx);
}
"""
_HANGS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <shmem.h>
#include <unistd.h>
void shmem_ctx_putmem(shmem_ctx_t ctx, void *to, const void *from, size_t bytes, int pe)
{
    while (bytes == 96)
        pause();
    ((void (*)(shmem_ctx_t, void *, const void *, size_t, int))dlsym(RTLD_NEXT, "shmem_ctx_putmem"))(
        ctx, to, from, bytes, pe);
}
"""
_BRICK = "nx=3 ny=4 nz=2 iterations=10 grid=box"
_APPS = (
    f"app.hpccg {_BRICK}",
    "app.minife nx=5 ny=7 nz=5 iterations=10",
    "app.minimd nx=8 ny=8 nz=8 steps=5",
)
_NPB = ("cg", "mg", "ft", "lu", "bt", "sp")


@pytest.fixture
def shmem(monkeypatch: pytest.MonkeyPatch) -> Engine:
    """The engine for this machine's OpenSHMEM, or that of STEELYARD_SHMEM (a name or a path).

    Open MPI's crashes at its end with the component uct.
    """
    monkeypatch.setenv("OMPI_MCA_btl", "^uct")
    try:
        library = choose_shmem(os.environ.get("STEELYARD_SHMEM"))
    except InputError as why:
        pytest.skip(str(why))
    return mpi_engine(library)


def _cases(shmem: Engine, ranks: int, threads: int, most: int) -> list[str]:
    assert shmem.mpi is not None
    broken = _BROKEN.get(shmem.mpi.family, ())
    return [
        line
        for line in shmem_lines(describe(shmem).ops, ranks, threads, most)
        if not any(re.match(rf"op=\S+{name} .*{word}", line) for name, word in broken)
    ]


@pytest.mark.parametrize(
    ("ranks", "threads", "most"),
    [
        (2, 1, 1),
        further(2, 2, 1),
        further(1, 1, 99),
        *(further(ranks, threads, 99) for ranks in (2, 3, 4, 8) for threads in (1, 2, 4)),
    ],
)
def test_ops_are_right(shmem: Engine, tmp_path: Path, ranks: int, threads: int, most: int) -> None:
    """All that the library has, but what it is known to do wrong; prints how much that is."""
    lines = _cases(shmem, ranks, threads, most)
    ends = ends_of(measure(shmem, ranks, threads, lines, tmp_path / "x.jsonl"), len(lines))
    known = [end.status != "skipped" or _LATER not in (end.why or "") for end in ends]
    verified = sum(bool(end.verified) for end in ends)
    print(f"{ranks} x {threads}: {verified} verified, {known.count(False)} skipped: {_LATER}")
    assert sum(known) > (30 if ranks > 1 else 10)
    all_are_right([*compress(lines, known)], [*compress(ends, known)])


@pytest.mark.parametrize("ranks", [2, further(3), further(8)])
def test_methods_line_up_ranks_of_openshmem(shmem: Engine, tmp_path: Path, ranks: int) -> None:
    """Messages longer than a slot go with `keep`, which gathers all ranks' timestamps."""
    lines = [f"op=self.spin method={method} rule=fixed count=600" for method in ("batch", "barrier")]
    records = measure(shmem, ranks, 1, lines, tmp_path / "x.jsonl", words=("--keep", "ranks"))
    all_are_right(lines, ends_of(records, len(lines)))
    (launch,) = (one for one in records if isinstance(one, Launch))
    assert (launch.engine, launch.ranks, launch.mpi) == ("shmem", ranks, None)
    assert launch.shmem is not None
    assert launch.shmem.thread_level in ("single", "multiple")


def test_collectives_start_together(shmem: Engine, tmp_path: Path) -> None:
    """By the clocks that are synchronised with the team's own messages."""
    cases = (("barrier_all", "epoch"), ("broadcast", "epoch"), ("broadcast", "ack"), ("sum_to_all", "epoch"))
    sized = {"barrier_all": ""}
    lines = [
        f"op=shmem.{name} method={method} rule=fixed count=20{sized.get(name, ' bytes=64')}"
        for name, method in cases
    ]
    records = measure(shmem, 2, 1, lines, tmp_path / "x.jsonl")
    all_are_right(lines, ends_of(records, len(lines)))


def test_faults_are_named(shmem: Engine, tmp_path: Path) -> None:
    """Those of tests/data/shmem_faults.c; a put of another size is right."""
    words = {
        "shmem.put bytes=100": "wrong: rank 1: byte 50 of block 0 from rank 0 is ",
        "shmem.put bytes=101": "wrong: rank 1: byte 0 of block 0 from rank 0 is 0xa5",
        "shmem.put bytes=102": "wrong: rank 1: byte 0 of block 0 from rank 0 is 0xa5",
        "shmem.atomic_add calls=7": "wrong: rank 1: the number is 0x",
        "shmem.barrier_all": "wrong: rank [01]: this rank left before rank [01] had come",
        "shmem.sum_to_all bytes=104": "wrong: rank 1: element 12 of the answer is ",
        "shmem.lock": "wrong: rank 0: under the lock ",
        "shmem.quiet": "wrong: rank [01]: byte 0 of block 0 from rank [01] is 0xa5",
        "shmem.fence": "wrong: rank [01]: byte 0 of block 0 from rank [01] is 0xa5",
        "shmem.alltoalls bytes=8": "wrong: rank [01]: byte 8 of the answer was written, and nothing belongs",
        "shmem.broadcast bytes=8": "wrong: rank 0: byte 0 of the answer was written, and nothing belongs",
        f"app.hpccg {_BRICK}": "wrong: rank [01]: app.hpccg: ",
        "app.minimd nx=8 ny=8 nz=8 steps=5": "wrong: rank [01]: app.minimd: a message of ",
    }
    lines = [f"op={line} method=barrier rule=fixed count=2" for line in (*words, "shmem.put bytes=103")]
    before = ("env", f"LD_PRELOAD={build_preloaded(shmem, _FAULTS, tmp_path)}")
    *wrong, right = ends_of(measure(shmem, 2, 1, lines, tmp_path / "x.jsonl", before), len(lines))
    for end, (line, sentence) in zip(wrong, words.items(), strict=True):
        assert (end.status, bool(re.match(sentence, end.why or ""))) == ("failed", True), (line, end.why)
    assert (right.status, right.verified) == ("ok", True)


@pytest.mark.parametrize(
    ("ranks", "threads", "kernels", "backs"),
    [
        (2, 1, (*_APPS, "npb.cg class=S"), ("nonblocking",)),
        *(
            further(*case, (*_APPS, *(f"npb.{name} class=S" for name in _NPB)), ("blocking", "signal"))
            for case in ((1, 2), (2, 2), (3, 1), (4, 1), (8, 1))
        ),
    ],
)
def test_kernels_answer_as_under_an_mpi(
    shmem: Engine, tmp_path: Path, ranks: int, threads: int, kernels: Sequence[str], backs: Sequence[str]
) -> None:
    """To the last bit, where the order of sums is the same. `signal` needs OpenSHMEM 1.5."""
    cases = [
        *(f"{kernel} backend={back}" for kernel in kernels for back in backs),
        *("npb.is class=S backend=blocking", "npb.cg class=S backend=collective", "npb.ep class=S"),
    ]
    lines = kernel_lines(cases, f" threads={threads}")
    ends = ends_of(measure(shmem, ranks, threads, lines, tmp_path / "shmem.jsonl"), len(lines))
    there = [line for line, end in zip(lines, ends, strict=True) if _LATER not in (end.why or "")]
    ends = [end for end in ends if _LATER not in (end.why or "")]
    all_are_right(there, ends)
    engine = engine_of(mpi_or_skip("openmpi"))
    same = kernel_lines(_APPS, f" threads={threads}")
    under_mpi = ends_of(measure(engine, ranks, threads, same, tmp_path / "mpi.jsonl"), len(same))
    bits = {
        line.split(" ")[0]: end.answer.bits for line, end in zip(same, under_mpi, strict=True) if end.answer
    }
    told = [(line, end.answer) for line, end in zip(there, ends, strict=True) if end.answer]
    assert {line.split(" ")[0] for line, _ in told} == {*bits}
    for line, answer in told:
        assert not answer.exact or answer.bits == bits[line.split(" ")[0]], line


def test_what_openshmem_cannot_carry_is_told(shmem: Engine, tmp_path: Path) -> None:
    refused = {
        "app.hpccg backend=fence": "OpenSHMEM has nothing like backend=fence for this; give backend=blocking",
        "npb.is class=S": "OpenSHMEM has nothing like backend=collective for this; give backend=blocking",
        "app.hpccg threads=2 movers=2": "by OpenSHMEM one thread moves all messages; leave movers=2 out",
    }
    lines = kernel_lines(list(refused))
    all_are_refused(refused, ends_of(measure(shmem, 2, 2, lines, tmp_path / "x.jsonl"), len(lines)))


def _campaign(shmem: Engine, out: Path, *words: str) -> list[str]:
    """The command of a campaign of puts."""
    assert shmem.mpi is not None
    library = ("--shmem", shmem.mpi.prefix or shmem.mpi.name)
    argv = [str(scripts_folder() / "steelyard"), "run", "shmem.put", *library, "-n", "2", "--rule", "fixed"]
    return [*argv, "--param", "count=5", "--oversubscribe", "--out", str(out), *words]


@pytest.mark.further
def test_a_campaign_ends_a_hang_and_goes_on(shmem: Engine, tmp_path: Path) -> None:
    source = tmp_path / "hang.c"
    source.write_text(_HANGS)
    library = build_preloaded(shmem, source, tmp_path)
    words = ("--bytes", "96,8", "--launches", "2", "--hang-after", "20s", "--env", f"LD_PRELOAD={library}")
    run(_campaign(shmem, tmp_path / "out", *words), timeout=600)
    ends = finished(tmp_path / "out")
    assert Counter(end.status for end in ends.values()) == {"ok": 2, "failed": 1, "skipped": 1}
    assert sorted((end.why or "")[:5] for end in ends.values()) == ["", "", "hang:", "it hu"]


@pytest.mark.further
def test_a_campaign_that_was_killed_goes_on(shmem: Engine, tmp_path: Path) -> None:
    argv = _campaign(shmem, tmp_path / "out", "--bytes", "8,96", "--launches", "5", "--keep", "ranks")
    with Child(argv) as child:
        child.pause(2.5)
        child.signal(child.pids(), signal.SIGKILL)
    done = run(argv, timeout=600)
    assert done.code == 0, done.err
    assert [end.status for end in finished(tmp_path / "out").values()] == ["ok"] * 10


def test_contexts_beyond_the_number_of_the_library_are_told(shmem: Engine, tmp_path: Path) -> None:
    source = tmp_path / "contexts.c"
    source.write_text(_ONE_CONTEXT)
    before = ("env", f"LD_PRELOAD={build_preloaded(shmem, source, tmp_path)}")
    refused = {
        "op=shmem.mt.put threads=2 bytes=8 context=private": "refuses 1 of 2 contexts of the kind private; "
        "give fewer threads or another --param context"
    }
    lines = [f"{line} method=batch reps=1 rule=fixed count=1" for line in (*refused, "op=shmem.put bytes=8")]
    all_are_refused(refused, ends_of(measure(shmem, 2, 2, lines, tmp_path / "x.jsonl", before), len(lines)))


def test_a_thread_level_that_is_not_granted_is_told(shmem: Engine, tmp_path: Path) -> None:
    refused = {"op=shmem.mt.put threads=2 bytes=8": "give --thread-level multiple, or take a library that"}
    lines = [f"{line} method=batch reps=1 rule=fixed count=1" for line in (*refused, "op=shmem.put bytes=8")]
    all_are_refused(refused, ends_of(measure(shmem, 2, 1, lines, tmp_path / "x.jsonl"), len(lines)))


def test_a_heap_that_is_too_small_is_told(
    shmem: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SHMEM_SYMMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE"):
        monkeypatch.setenv(name, "16M")
    lines = [f"op=shmem.put bytes={size} method=batch reps=1 rule=fixed count=1" for size in (1 << 26, 8)]
    large, small = ends_of(measure(shmem, 2, 1, lines, tmp_path / "x.jsonl"), len(lines))
    assert large.status == "skipped"
    assert "its size is 16M; set SHMEM_SYMMETRIC_" in (large.why or "")
    assert small.status == "ok"
