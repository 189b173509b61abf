"""Texts of other suites, as these print them, are read whole or refused with the line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from bounds import bounded
from steelyard.base.errors import InputError
from steelyard.cli.load import LoadOptions, load
from steelyard.readers.files import numbers_of_text, read_printed
from suite_texts import (
    GOOGLE,
    GOOGLE_CONSOLE,
    IMB,
    IMB_IBARRIER,
    IOR,
    NETPIPE_FILE,
    NPB,
    OSU,
    OSU_BARRIER,
    OSU_FULL,
    OSU_IBARRIER,
)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (OSU, [("MPI Latency Test", "Avg Latency(us)", 1, None, 1.23, 5), (..., ..., 1024, None, 2.0, 6)]),
        (
            OSU_FULL,
            [
                ("MPI Allreduce Latency Test", column, 4, None, value, 5)
                for column, value in (("Avg Latency(us)", 2), ("Min Latency(us)", 1), ("Max Latency(us)", 4))
            ],
        ),
        (OSU_BARRIER, [("MPI Barrier Latency Test", "Avg Latency(us)", None, None, 2.5, 4)]),
        (
            IMB,
            [
                ("PingPong", "t[usec]", 0, 2, 0.25, 7),
                ("PingPong", "Mbytes/sec", 0, 2, 0.0, 7),
                ("PingPong", "t[usec]", 1024, 2, 0.75, 8),
                ("PingPong", "Mbytes/sec", 1024, 2, 1365.33, 8),
                ("Allreduce", "t_min[usec]", 8, 4, 1.0, 15),
                ("Allreduce", "t_max[usec]", 8, 4, 3.0, 15),
                ("Allreduce", "t_avg[usec]", 8, 4, 2.0, 15),
            ],
        ),
        (NPB, [("cg.A", "Time in seconds", None, 4, 0.36, 5), ("cg.A", "Mop/s total", None, 4, 4156.76, 7)]),
        (IOR, [("write", "bw(MiB/s)", None, None, 2934.5, 4), ("read", "bw(MiB/s)", None, None, 6401.2, 5)]),
        (
            NETPIPE_FILE,
            [
                ("netpipe", column, size, None, value, line)
                for line, size, values in (
                    (1, 1, (0.04, 0.039, 0.041, 0.2)),
                    (2, 8, (0.32, 0.31, 0.33, 0.2)),
                )
                for column, value in zip(
                    ("Gbit/s", "Gbit/s, least", "Gbit/s, most", "us"), values, strict=True
                )
            ],
        ),
        (GOOGLE, [("BM_x/8", "real_time (ns)", None, None, 12.5, 1)]),
    ],
    ids=["osu", "osu -f", "osu without sizes", "imb", "npb", "ior", "netpipe", "google benchmark"],
)
def test_numbers_are_read_with_their_lines(text: str, told: list[tuple[object, ...]]) -> None:
    found = [
        (one.test, one.column, one.bytes, one.ranks, one.value, one.line) for one in numbers_of_text(text)
    ]
    assert len(found) == len(told)
    for mine, theirs in zip(found, told, strict=True):
        assert all(value == known for value, known in zip(mine, theirs, strict=True) if known is not ...)


# Name, text, and how many numbers are in it.
_TAKEN = [
    ("a mark of UTF-8", "\ufeff" + OSU.lstrip(), 2),
    ("old line ends of the Macintosh", IMB.replace("\n", "\r"), 7),
    ("no end of the last line", OSU.rstrip("\n"), 2),
    ("a table of IMB without an end of its last line", IMB.rstrip("\n"), 7),
    ("the same test again", OSU + OSU, 4),
    ("a size for which IMB had no memory", IMB + "  4194304 out-of-mem.; needed X= 3 GB\n", 7),
    ("a size whose count overflows", IMB + "  4194304 int-overflow.; The production rank*size\n", 7),
    ("words of OSU between its lines", OSU.replace("1024  ", "# a word\n\n[n1:7] UCX WARN x\n1024  "), 2),
    ("an older OSU", OSU.replace("MPI Latency Test v7.4", "MPI-CUDA Latency Test v5.9"), 2),
    ("pairs and a window", OSU.replace("# Datatype", "# [ pairs: 1 ] [ window size: 64 ]\n# Datatype"), 2),
    ("NPB with threads", NPB.replace("Total processes", "Total threads  "), 2),
    ("NPB that knows no answer", NPB.replace("SUCCESSFUL", "NOT PERFORMED"), 2),
    ("IOR that removes", IOR.replace("\n\nSummary", "\nremove - - - - - - - - 0\n\nSummary"), 2),
    ("an IOR that was cut behind its lines", IOR[: IOR.index("Max(MiB)")], 2),
    ("Google Benchmark on a console", GOOGLE_CONSOLE, 2),
    ("Google Benchmark behind warnings", "***WARNING*** scaling\n" + GOOGLE, 1),
    ("Google Benchmark indented", json.dumps(json.loads(GOOGLE), indent=2), 1),
    ("comments in np.out", "# NetPIPE\n" + NETPIPE_FILE, 8),
    ("a barrier of OSU in the background", OSU_IBARRIER, 4),
    ("a barrier of IMB, with sizes below no heading", IMB_IBARRIER, 8),
    ("all of them", OSU + NPB + IMB + IOR + GOOGLE_CONSOLE, 2 + 2 + 7 + 2 + 2),
]  # fmt: skip


@pytest.mark.parametrize(("text", "numbers"), [case[1:] for case in _TAKEN], ids=[case[0] for case in _TAKEN])
def test_what_users_have_is_read(text: str, numbers: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(text.encode())
    assert len(read_printed(path)) == numbers
    path.write_bytes(text.removeprefix("\ufeff").encode("utf-16"))  # as PowerShell redirects it
    assert len(read_printed(path)) == numbers


def test_several_suites_in_one_log_are_read_whatever_stands_between_them() -> None:
    noise = "srun: job 17 queued\n[node1:42] a warning of UCX\n"
    found = numbers_of_text("\r\n".join([*noise.splitlines(), *(OSU + noise + IMB + NPB).splitlines()]))
    assert len(found) == 2 + 7 + 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            OSU.replace("1.23 ", "1,23 "),
            "line 5 has '1,23' where a number belongs, whose decimal sign is a comma",
        ),
        (OSU[: OSU.index("2.00")], "line 6 has 1 field below 3 columns"),
        (OSU.replace("1024 ", "1e3 "), "line 6 has '1e3' where a whole number belongs"),
        (OSU.replace("2.00", "inf"), "line 6 has a number that is none"),
        ("\n".join(OSU.splitlines()[:3]), "line 2 begins a table of OSU without headings"),
        ("\n".join(OSU.splitlines()[:4]), "no table of OSU"),
        (IMB[: IMB.index("1365.33")], "line 8 has 3 fields below 4 columns"),
        (NPB.replace(" Mop/s total", " Mops"), "line 2 begins a summary of NPB without 'Mop/s total'"),
        (IOR[: IOR.index("0.000003")], "line 5 has 8 fields below 10 columns"),
        (NETPIPE_FILE + "16 0.6\n", "line 3 has 2 fields below 5 columns"),
        (GOOGLE[:-5], "no JSON of Google Benchmark"),
        ("nothing of all this\n", "no table of OSU"),
        (
            OSU[: OSU.index("00              Pass\n", OSU.index("1024"))],
            "line 6 has 2 fields below 3 columns",
        ),
        (
            IMB.rstrip("\n") + "\n   16  1000  1.00  3.00  2.",
            "line 16 ends amid a number, for 2.00 has more",
        ),
        (
            OSU.replace("2.00              Pass", "2.00              Fail"),
            "line 6 has the validation 'Fail'",
        ),
        (NPB.replace("SUCCESSFUL", "UNSUCCESSFUL"), "line 8 says that the verification was not successful"),
        (NPB.replace("0.36", "******"), "line 5 has '******' where a number belongs"),
        (OSU + "1024  3.00  Pass\n", "line 7 has 1024 bytes again"),
        (OSU.replace("1.23", "1_000.23"), "line 5 has '1_000.23' where a number belongs"),
        (OSU.replace("1.23", "1.000,23"), "line 5 has '1.000,23' where a number belongs, whose decimal"),
        (OSU.replace("1.23", "1'000.23"), "line 5 has '1'000.23' where a number belongs"),
        (OSU.replace("1.23", "\u0661.23"), "line 5 has '\u0661.23' where a number belongs"),
        (GOOGLE_CONSOLE[: GOOGLE_CONSOLE.index("0.10 ms          215")], "line 8 ends amid a benchmark"),
        (GOOGLE + GOOGLE, "no JSON of Google Benchmark"),
        (
            IOR.replace("2934.50    2936.12", "2934,50    2936,12"),
            "line 4 has '2934,50' where a number belongs",
        ),
        ("# OSU MPI Latency Test v7.4\n# Size\n8\n", "no table of OSU"),  # with a number
        ("", "no table of OSU"),
    ],
)
def test_what_is_cut_or_in_another_locale_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(InputError) as raised:
        numbers_of_text(text)
    assert why in str(raised.value)


@pytest.mark.parametrize(("line", "numbers"), [("\n", 2), (" \t\n", 2)])
def test_blank_lines_take_no_more_than_others(line: str, numbers: int) -> None:
    with bounded():
        assert len(numbers_of_text(50_000 * line + OSU)) == numbers


def test_files_stand_side_by_side_and_say_that_they_have_no_interval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.write_text(OSU)
    after.write_text(OSU.replace("2.00", "3.00"))
    load(LoadOptions(paths=[before, after]))
    text = capsys.readouterr().out
    assert "has no interval" in " ".join(text.replace("#", "").split())
    assert "1.5" in next(line for line in text.splitlines() if "1 KiB" in line or "1KiB" in line)
    assert "several times" not in text
    load(LoadOptions(paths=[after], json=True))
    assert [one["value"] for one in json.loads(capsys.readouterr().out)[str(after)]] == [1.23, 3.0]
    with pytest.raises((InputError, typer.Exit), match="given twice"):
        load(LoadOptions(paths=[after, after]))


def test_what_a_file_has_of_several_runs_is_their_median_and_said_to_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    once, twice = Path("once"), Path("twice")
    once.write_text(OSU)
    twice.write_text(OSU + OSU.replace("2.00", "3.00"))
    load(LoadOptions(paths=[once, twice]))
    text = " ".join(capsys.readouterr().out.replace("#", "").split())
    assert "1KiB 2 2.5 1.25" in text
    assert "What twice has several times, as of several runs, is their median." in text
