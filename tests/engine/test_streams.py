"""Streams of sockets, where another process of the network connects before the other rank does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.engines.build import solo_engine
from steelyard.records.read import read_records
from steelyard.records.schema import End
from steelyard.system.process import run

# Who listens is connected to at once, and gets some bytes.
_STRANGER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
int listen(int file, int backlog)
{
    int (*real)(int, int) = (int (*)(int, int))dlsym(RTLD_NEXT, "listen");
    const int code = real(file, backlog);
    struct sockaddr_storage there;
    socklen_t length = sizeof there;
    static const char words[] = "what nobody has asked for";
    if (code == 0 && getsockname(file, (struct sockaddr *)&there, &length) == 0) {
        const int stranger = socket(there.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(stranger, (struct sockaddr *)&there, length) == 0)
            send(stranger, words, sizeof words, MSG_NOSIGNAL);
    }
    return code;
}
"""


@pytest.mark.parametrize("op", ["sock.tcp", "sock.unix"])
def test_a_stranger_who_connects_first_is_not_the_other_rank(tmp_path: Path, compiler: str, op: str) -> None:
    (tmp_path / "stranger.c").write_text(_STRANGER)
    library, out = tmp_path / "stranger.so", tmp_path / "out.jsonl"
    argv = [compiler, "-shared", "-fPIC", "-o", str(library), str(tmp_path / "stranger.c")]
    assert run(argv, timeout=600).code == 0
    words = ["--ranks", "2", "--out", str(out), f"op={op}", "bytes=8", "rule=fixed", "count=2"]
    environment = os.environ | {"LD_PRELOAD": str(library)}
    done = run([solo_engine().path, "run", *words], env=environment, timeout=600)
    (end,) = (one for one in read_records(out).records if isinstance(one, End))
    assert (done.code, end.status, end.why, end.verified) == (0, "ok", None, True), done.err
