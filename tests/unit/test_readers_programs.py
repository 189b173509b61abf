"""What centres run besides benchmarks of MPI, read with its lines or refused with the line."""

from __future__ import annotations

import pytest

from steelyard.base.errors import InputError
from steelyard.readers.files import numbers_of_text
from suite_texts import (
    HPCG,
    HPL,
    IOR_CSV,
    IOR_JSON,
    MDTEST,
    NETPIPE_FILE,
    NETPIPE_LINES,
    OSU_FULL,
    STREAM,
    TEXTS,
)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        (
            STREAM,
            [
                (name, column, None, None, value)
                for name, values in (
                    ("Copy", (23118.1, 0.007045, 0.006921, 0.007182)),
                    ("Triad", (16377.8, 0.014779, 0.014654, 0.014934)),
                )
                for column, value in zip(("MB/s", "avg s", "min s", "max s"), values, strict=True)
            ],
        ),
        (
            HPL,
            [
                ("WR11C2R4 N=29184 NB=192 2x2", "s", None, 4, 612.26),
                ("WR11C2R4 N=29184 NB=192 2x2", "Gflop/s", None, 4, 27.064),
                ("WR11C2R4 N=29184 NB=192 1x4", "s", None, 4, 700.0),
                ("WR11C2R4 N=29184 NB=192 1x4", "Gflop/s", None, 4, 24.0),
            ],
        ),
        (
            HPCG,
            [
                ("208x104x104", "Gflop/s", None, 2, 1.625),
                ("208x104x104", "raw Gflop/s", None, 2, 1.75),
                ("208x104x104", "raw GB/s", None, 2, 12.5),
                ("208x104x104", "s", None, 2, 61.5),
            ],
        ),
        (
            MDTEST,
            [
                ("Directory creation", "max ops/sec", None, 1, 24000.25),
                ("Directory creation", "min ops/sec", None, 1, 20000.0),
                ("Directory creation", "mean ops/sec", None, 1, 22000.125),
                *(
                    ("Tree removal", f"{column} ops/sec", None, 1, 1000.0)
                    for column in ("max", "min", "mean")
                ),
                ("File stat", "max ops/sec", None, 2, 400.5),
                ("File stat", "min ops/sec", None, 2, 200.25),
                ("File stat", "mean ops/sec", None, 2, 300.375),
            ],
        ),
        (IOR_CSV, [("write", "bw(MiB/s)", None, 2, 2934.5), ("read", "bw(MiB/s)", None, 2, 6401.2)]),
        (IOR_JSON, [("write", "bw(MiB/s)", None, None, 2934.5), ("read", "bw(MiB/s)", None, None, 6401.2)]),
        (
            NETPIPE_LINES,
            [
                ("netpipe", "Mbps", 1, None, 18.5),
                ("netpipe", "us", 1, None, 0.41),
                ("netpipe", "Mbps", 8, None, 148.0),
                ("netpipe", "us", 8, None, 0.43),
            ],
        ),
    ],
    ids=["stream", "hpl", "hpcg", "mdtest", "ior csv", "ior json", "netpipe"],
)
def test_numbers_are_read(text: str, known: list[tuple[object, ...]]) -> None:
    read = numbers_of_text(text)
    assert [
        (number.test, number.column, number.bytes, number.ranks, number.value) for number in read
    ] == known


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            STREAM.replace("Solution Validates", "Failed Validation on array a[]"),
            "line 8 says that STREAM's arrays",
        ),
        (STREAM[: STREAM.index("0.014654")], "line 6 has 2 numbers below 4 columns"),
        (STREAM[: STREAM.index("934\n")], "line 6 ends amid a number"),
        (STREAM.replace("23118.1", "23118,1"), "line 5 has '23118,1' where a number belongs, whose decimal"),
        (HPL.replace("PASSED", "FAILED", 1), "line 9 says that the residual of HPL is too large"),
        (HPL[: HPL.index("612.26")], "line 6 has 4 numbers below 6 columns"),
        (HPL.replace("29184   192", "29184.5 192", 1), "line 6 has '29184.5' where a whole number belongs"),
        (HPCG[: HPCG.index("Final Summary::")], "line 1 begins a report of HPCG without 'Final Summary"),
        (
            HPCG.replace("is VALID with a GFLOP/s rating of=1.625", "is=INVALID."),
            "line 13 says that the result of HPCG",
        ),
        (MDTEST[: MDTEST.index("SUMMARY")], "line 3 begins mdtest without its summary"),
        (MDTEST[: MDTEST.index("22000.125")], "line 10 has 2 numbers below 4 columns"),
        (IOR_CSV[: IOR_CSV.index(",2,0\nread")], "line 2 has 10 fields below 12 columns"),
        (IOR_JSON[:-30], "no JSON of Google Benchmark or of IOR"),
        (
            NETPIPE_LINES[: NETPIPE_LINES.index(" usecs")],
            "line 4 begins as one of NetPIPE and ends otherwise",
        ),
        (NETPIPE_LINES.replace("18.50", "18,50"), "line 3 has '18,50' where a number belongs"),
    ],
)
def test_what_failed_or_was_cut_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(InputError) as raised:
        numbers_of_text(text)
    assert why in str(raised.value)


@pytest.mark.parametrize(
    ("heading", "unit"),
    [
        ("SUMMARY: (of 1 iterations)", "ops/sec"),
        ("SUMMARY rate: (of 1 iterations)", "ops/sec"),  # releases up to 4.0
        ("SUMMARY rate (in ops/sec): (of 1 iterations)", "ops/sec"),
        ("SUMMARY time: (of 1 iterations)", "s"),
        ("SUMMARY time (in ops/sec): (of 1 iterations)", "s"),
        ("SUMMARY time (in ms/op): (of 1 iterations)", "ms/op"),
    ],
)
@pytest.mark.parametrize("row", ["File creation      ", "File creation     :", "File creation:"])
def test_summaries_of_each_version_of_mdtest(heading: str, unit: str, row: str) -> None:
    lines = (
        "mdtest-3.3.0 was launched with 2 total task(s) on 1 node(s)",
        heading,
        "   Operation          Max    Min   Mean  Std Dev",
        f"   {row}  4.500  1.500  3.000  0.000\n",
    )
    read = [(number.test, number.column, number.value) for number in numbers_of_text("\n".join(lines))]
    columns = {"max": 4.5, "min": 1.5, "mean": 3.0}
    assert read == [("File creation", f"{column} {unit}", value) for column, value in columns.items()]


def test_all_of_them_in_one_log() -> None:
    """Also np.out, which has no headings, between tables of others."""
    texts = (
        STREAM,
        HPL,
        NETPIPE_FILE,
        HPCG,
        MDTEST,
        NETPIPE_FILE,
        OSU_FULL,
        NETPIPE_FILE,
        IOR_CSV,
        NETPIPE_LINES,
    )
    assert len(numbers_of_text("".join(texts))) == sum(len(numbers_of_text(text)) for text in texts)


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_that_is_cut_at_any_byte_has_no_number_that_it_had_not(name: str) -> None:
    """It is refused, or a part of its numbers is read."""
    text = TEXTS[name]
    whole = {*numbers_of_text(text)}
    for at in range(len(text)):
        try:
            assert {*numbers_of_text(text[:at])} <= whole, text[:at]
        except InputError:
            continue
