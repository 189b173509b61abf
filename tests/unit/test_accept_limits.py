"""A site's own limits: met, missed, or neither; a file that is wrong is refused in a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from commands import Steelyard, steelyard_of
from made_machine import machine, weighed
from make_records import FakePoint, steady
from steelyard.base.errors import InputError
from steelyard.judges.accept import Topic, Weighed, accept, read_limits
from steelyard.records.campaign_file import Placement

PINGPONG_NS, TRIAD_NS, ARRAYS = 300.0, 4e6, 48 << 20
LATENCY = 'what = "latency"\nop = "mpi.pingpong"\nbytes = 8\n'
SOUND = {"launches": 10, "plan": {"name": "acceptance", "launches": 10}}


@pytest.fixture(name="steelyard")
def _steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    return steelyard_of(capsys, monkeypatch)


def limits_file(folder: Path, *limits: str) -> Path:
    """A file of such limits."""
    path = folder / "site.toml"
    path.write_text("".join(f"[[limit]]\n{one}\n" for one in limits))
    return path


def judged(folder: Path, told: Weighed, limit: str, name: str = "latency") -> Topic:
    """What is said of one limit."""
    found = accept(told, limits=read_limits(limits_file(folder, limit)))
    return next(one for one in found.topics if one.topic == name)


def pingpong(median: float = PINGPONG_NS, **given: Any) -> FakePoint:
    """Messages of 8 B, whose launches scatter by 2 %."""
    return FakePoint("mpi.pingpong", steady(median, count=100), **given)


@pytest.mark.parametrize(
    ("limit", "verdict", "said"),
    [
        ('below = "350ns"', "well", "Met: 2"),
        ('below = "0.2us"', "not well", "Missed: 2"),
        ('below = "300ns"', "cannot tell", "Neither met nor missed: 2"),
        ('below = "0.2us"\nhosts = 1\nranks = 2\nmpi = "mpich"', "not well", "Missed: "),
        ('below = "350ns"\nmpi = "mpich-4.0.2"\nmethod = "batch"', "well", "Met: "),
        ('below = "0.2us"\nmpi = "openmpi"', "cannot tell", "No test case of this was measured."),
        ('below = "0.2us"\nhosts = 2', "cannot tell", "No test case of this was measured."),
        ('above = "5Mop/s"', "cannot tell", "Neither met nor missed: mpi.pingpong 8 B on 2 ranks"),
    ],
)
def test_a_limit_of_a_time(tmp_path: Path, limit: str, verdict: str, said: str) -> None:
    told = weighed(tmp_path / "out", [pingpong()], **SOUND)
    found = judged(tmp_path, told, LATENCY + limit)
    assert found.verdict == verdict
    assert found.evidence.startswith(said)


def test_what_was_not_measured_is_measured_by_what_is_said(tmp_path: Path) -> None:
    told = weighed(tmp_path / "out", [pingpong()], **SOUND)
    found = judged(tmp_path, told, LATENCY + 'below = "2us"\nhosts = 2')
    assert found.question == "Is mpi.pingpong 8 B on 2 hosts below 2us?"
    assert found.remedy.endswith(": steelyard run mpi.pingpong --bytes 8 --hosts 2")


def test_pairs_of_hosts_are_on_two_hosts(tmp_path: Path) -> None:
    placed = pingpong(3000.0, placement=Placement(kind="other-host", hosts=("a", "b")))
    told = weighed(tmp_path / "out", [pingpong(), placed], **SOUND)
    assert judged(tmp_path, told, LATENCY + 'below = "2us"\nhosts = 2').verdict == "not well"
    assert judged(tmp_path, told, LATENCY + 'below = "2us"\nhosts = 1').verdict == "well"


def test_the_worst_of_all_that_match_decides(tmp_path: Path) -> None:
    told = weighed(tmp_path / "out", [pingpong(), pingpong(900.0, mpi="openmpi-4.1.4")], **SOUND)
    found = judged(tmp_path, told, LATENCY + 'below = "500ns"')
    assert found.verdict == "not well"
    assert "of openmpi-4.1.4, the worst of 2 test cases; below 500ns is asked for." in found.evidence


@pytest.mark.parametrize(
    ("limit", "verdict", "unit"),
    [
        # 48 MiB in 4 ms are 12.6 GB/s of each of 8 ranks: 50 a socket of two, 101 a host.
        ('above = "11GB/s"', "well", "GB/s ("),
        ('above = "14GB/s"', "not well", "GB/s ("),
        ('above = "45GB/s"\nper = "socket"', "well", "GB/s a socket ("),
        ('above = "60GB/s"\nper = "socket"', "not well", "GB/s a socket ("),
        ('above = "90 GB/s"\nper = "host"', "well", "GB/s a host ("),
        ('above = "0.12TB/s"\nper = "host"', "not well", "GB/s a host ("),
    ],
)
def test_a_limit_of_a_rate(tmp_path: Path, limit: str, verdict: str, unit: str) -> None:
    triad = FakePoint(
        "mem.stream.triad",
        steady(TRIAD_NS, count=20),
        bytes=ARRAYS,
        ranks=8,
        mpi=None,
        reps=1,
    )
    told = weighed(tmp_path / "out", [triad], machine={"sockets": 2}, **SOUND)
    found = judged(
        tmp_path, told, f'what = "triad"\nop = "mem.stream.triad"\nbytes = "48Mi"\n{limit}', "triad"
    )
    assert found.verdict == verdict
    assert unit in found.evidence


def test_a_limit_is_not_missed_by_few_launches(tmp_path: Path) -> None:
    for launches, verdict in ((1, "cannot tell"), (4, "cannot tell"), (5, "not well")):
        told = weighed(tmp_path / f"out{launches}", [pingpong()], launches=launches)
        assert judged(tmp_path, told, LATENCY + 'below = "100ns"').verdict == verdict


BAD = {
    "": "has no [[limit]]; write one: what = ",
    "[[limit]": "is not TOML: ",
    "[[limits]]\nwhat = 'a'": "there is no key 'limits'; did you mean 'limit'?",
    "[[limit]]\nop = 'mpi.put'\nbelow = '1us'": "limit 1: it has no what, as in ",
    "[[limit]]\nwhat = 'a'\nbelow = '1us'": "limit 1: it has no op, as in ",
    "[[limit]]\nwhat = 'a'\nop = 'x'\nbelow = '1us'\nbite = 8": "limit 1: there is no key 'bite'; did",
    "[[limit]]\nwhat = 'a'\nop = 'x'": "it has one of below, a time such as 2us, and above, a rate",
    "[[limit]]\nwhat = 'a'\nop = 'x'\nbelow = '1us'\nabove = '1GB/s'": "it has one of below, a time",
    "[[limit]]\nwhat = 'a'\nop = 'x'\nbelow = 'soon'": "'soon' is not a duration",
    "[[limit]]\nwhat = 'a'\nop = 'x'\nabove = '5'": "'5' is not a rate; write 180GB/s, 900MB/s or 500Mop/s",
    "[[limit]]\nwhat = 'a'\nop = 'x'\nabove = '0GB/s'": "is not a rate",
    "[[limit]]\nwhat = 'a'\nop = 'x'\nabove = '5 GiB/s'": "is not a rate",
    "[[limit]]\nwhat = 'a'\nop = 'x'\nbelow = '10KiB'": "bytes are a limit of mpi.memory.*",
    "[[limit]]\nwhat = 'a'\nop = 'mpi.memory.type'\nbelow = '1e3B'": "'1e3B' is not a size",
    "[[limit]]\nwhat = 'a'\nop = 'x'\nbelow = 2": "limit 1: below: ",
    "[[limit]]\nwhat = 'a'\nop = 'x'\nbelow = '2us'\nbytes = 'much'": "'much' is not a size",
    "[[limit]]\nwhat = 'a'\nop = 'x'\nbelow = '2us'\nper = 'socket'": "per is for rates of mem.* and cpu.*",
    "[[limit]]\nwhat = 'a'\nop = 'mem.x'\nabove = '2GB/s'\nper = 'rack'": "per is one of rank, socket, host",
    "[[limit]]\nwhat = ''\nop = 'x'\nbelow = '2us'": "what is a name of at most 60 letters",
    "[[limit]]\nwhat = '\\u001b[31m'\nop = 'x'\nbelow = '2us'".replace(
        "'\\u001b[31m'", '"\\u001b[31m"'
    ): "what is a",
    "[[limit]]\nwhat = 'a'\nop = 'x'\nbelow = '2us'\n" * 2: "has 'a' twice",
    "limit = " + "[" * 5000: "nested too deeply",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_a_file_that_is_wrong_is_refused_in_a_sentence(
    steelyard: Steelyard, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "site.toml"
    path.write_text(text)
    weighed(tmp_path / "out", [pingpong()])
    ended = steelyard("accept", tmp_path / "out", "--limits", path)
    assert ended.code == 2
    assert BAD[text] in ended.err
    assert str(path) in ended.err
    assert len(ended.err.strip().splitlines()) == 1


def test_the_limits_on_the_page_are_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/analysis/acceptance.md").read_text("utf-8")
    path = tmp_path / "site.toml"
    path.write_text(page.partition("```toml\n")[2].partition("```")[0])
    assert [(one.what, one.value) for one in read_limits(path)] == [
        ("latency between hosts", pytest.approx(2000.0)),
        ("triad of a socket", 180e9),
        ("a rank that waits 10 ms", pytest.approx(100e3)),
        ("a victim of incast", 3.0),
    ]


def test_bytes_that_are_no_text_and_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="not UTF-8 from byte 0 on"):
        read_limits(path)
    for other in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError):
            read_limits(other)


def test_the_command_says_each_limit_and_writes_the_letter_anew(steelyard: Steelyard, tmp_path: Path) -> None:
    out = tmp_path / "out"
    weighed(out, machine(), launches=10)
    path = limits_file(tmp_path, LATENCY + 'below = "100ns"')
    ended = steelyard("accept", out, "--limits", path, "--junit", tmp_path / "a.xml")
    assert ended.code == 1
    assert "not well: latency: " in ended.out.replace("\n#   ", " ")  # wherever a long path breaks it
    assert "latency" in (out / "report.html").read_text("utf-8")
    assert 'name="latency"' in (tmp_path / "a.xml").read_text("utf-8")
    assert steelyard("accept", out, "--limits", limits_file(tmp_path, LATENCY + 'below = "1ms"')).code == 0
