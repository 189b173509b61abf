"""Tables as text, on terminals of several widths and in pipes."""

from __future__ import annotations

import io

import pytest

from steelyard.render.table import BAD, WARN, Line, Table, number, plain_lines, remark, without_empty, words
from steelyard.render.terminal import Paper, folded, paper_of, prose_text, spell, table_text

SHEET = Table(
    "mpi.pingpong",
    "one way, half the round trip",
    (words("method"), number("bytes"), number("time", strong=True), number("±"), number("p99"), remark()),
    (
        Line(("batch", "8 B", "154 ns", "3 %", "201 ns", "")),
        Line(("batch", "64 KiB", "7.11 us", "10 %", "9.80 us", "not converged"), WARN),
        Line(("batch", "1 MiB", "87.1 us", "1 %", "131 us", "in 83 % of the time; 131 us in 17 %"), WARN),
        Line(("epoch", "1 MiB", "failed in 3 of 10 launches: wrong data on rank 1, byte 17 is 3"), BAD),
        Line(("epoch", "4 MiB", "187 us", "1 %", "-", "")),
    ),
    ("The first note.",),
    grouped=1,
)
NUMBERS = ("154 ns", "7.11 us", "87.1 us", "187 us", "8 B", "64 KiB", "9.80 us", "10 %")


@pytest.mark.parametrize("width", [20, 40, 60, 80, 160])
def test_numbers_are_whole_at_any_width(width: int) -> None:
    text = table_text(SHEET, Paper(width, is_pipe=False))
    for number_ in NUMBERS:
        assert number_ in text


@pytest.mark.parametrize("width", [50, 60, 80, 160])
def test_no_line_is_longer_than_the_terminal(width: int) -> None:
    lines = table_text(SHEET, Paper(width, is_pipe=False)).splitlines()
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def test_a_terminal_is_told_a_group_once() -> None:
    text = table_text(SHEET, Paper(80, is_pipe=False))
    assert text == (
        "mpi.pingpong: one way, half the round trip\n"
        "method   bytes     time     ±      p99\n"
        "batch      8 B   154 ns   3 %   201 ns\n"
        "        64 KiB  7.11 us  10 %  9.80 us  not converged\n"
        "         1 MiB  87.1 us   1 %   131 us  in 83 % of the time; 131 us in 17 %\n"
        "epoch    1 MiB  failed in 3 of 10 launches: wrong data on rank 1, byte 17 is 3\n"
        "         4 MiB   187 us   1 %        -\n"
        "The first note.\n"
    )


def test_a_remark_stands_below_where_there_is_no_room() -> None:
    lines = table_text(SHEET, Paper(50, is_pipe=False)).splitlines()
    assert "    not converged" in lines
    assert "    in 83 % of the time; 131 us in 17 %" in lines
    assert "" not in lines


def test_a_pipe_has_fields() -> None:
    """What `grep -v '^#' | awk '{print $1, $2, $3}'` sees."""
    text = table_text(SHEET, Paper())
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line.split()[:3] for line in lines] == [
        ["batch", "8B", "154ns"],
        ["batch", "64KiB", "7.11us"],
        ["batch", "1MiB", "87.1us"],
        ["epoch", "1MiB", "failed"],
        ["epoch", "4MiB", "187us"],
    ]
    assert lines[4].split() == ["epoch", "4MiB", "187us", "1%", "-"]
    assert lines[2].endswith("  in 83 % of the time; 131 us in 17 %")
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# mpi.pingpong: one way, half the round trip",
        "# method  bytes    time    ±     p99",
        "# The first note.",
    ]
    assert all(line == line.rstrip() for line in text.splitlines())


@pytest.mark.parametrize("columns", [10, 52, 80])
def test_a_line_of_a_pipe_is_whole_whatever_columns_says(columns: int) -> None:
    def rows(text: str) -> list[str]:
        return [line for line in text.splitlines() if not line.startswith("#")]

    assert rows(table_text(SHEET, Paper(columns))) == rows(table_text(SHEET, Paper()))


@pytest.mark.parametrize("width", [44, 60, 80])
def test_the_name_of_an_op_is_not_broken(width: int) -> None:
    names = ("omp.task_barrier", "omp.worksharing_loop", "omp.for")
    table = Table(
        "OpenMP",
        "",
        (words("op"), words("test case"), number("time", strong=True), number("overhead"), remark()),
        tuple(Line((name, "schedule=static chunk=8", "154 ns", "120 ns", "not converged")) for name in names),
    )
    lines = table_text(table, Paper(width, is_pipe=False)).splitlines()
    assert all(any(line.startswith(name) for line in lines) for name in names)
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("run 'steelyard run mpi.barrier' again", "run\n  'steelyard run mpi.barrier'\n  again"),
        ("it took 203 ns and then, 14 us", "it took 203 ns and then,\n  14 us"),
        ("  steelyard run mpi.pingpong --bytes 8", "  steelyard run mpi.pingpong --bytes 8"),
        ("results/run-20261123-101500-and-more is full", "results/run-20261123-101500-and-more\n  is full"),
        (
            "go on: steelyard run --out 'a; b' --launches 10; wait",
            "go on:\n  steelyard run --out 'a; b' --launches 10;\n  wait",
        ),
        (
            "error: it failed, say so; alone: mpiexec -n 2 --bind-to core hostname; see",
            "error: it failed, say so;\n  alone:\n  mpiexec -n 2 --bind-to core hostname;\n  see",
        ),
        ("short", "short"),
    ],
)
def test_a_message_is_folded_at_its_words(text: str, shown: str) -> None:
    assert folded(text, 29) == shown
    assert folded(text, None) == text


@pytest.mark.parametrize(("encoding", "mark"), [("utf-8", "±"), ("latin-1", "±"), ("ascii", "+-")])
def test_a_terminal_without_a_letter_is_spelled_to(encoding: str, mark: str) -> None:
    text = table_text(SHEET, Paper(80, is_pipe=False, encoding=encoding))
    assert text.splitlines()[1].split() == ["method", "bytes", "time", mark, "p99"]
    text.encode(encoding)
    table_text(SHEET, Paper(52, encoding=encoding)).encode(encoding)


def test_every_letter_is_spelled_somehow() -> None:
    assert spell("± × µ … − → ≤ ≥ – ∞ 数", "ascii") == "+- x u ... - -> <= >= - inf ?"
    assert spell("± × µ … −", "latin-1") == "± × µ ... -"


def test_colours_are_for_terminals() -> None:
    assert "\x1b" not in table_text(SHEET, Paper(80, is_pipe=False))
    coloured = table_text(SHEET, Paper(80, is_pipe=False, has_colour=True))
    assert "\x1b[1mmpi.pingpong: one way, half the round trip\x1b[0m\n" in coloured
    assert "\x1b[33mnot converged\x1b[0m" in coloured
    assert "\x1b[1m 154 ns\x1b[0m" in coloured


class _Tty(io.StringIO):
    encoding = "latin-1"

    def isatty(self) -> bool:
        return True


def test_what_a_stream_is() -> None:
    assert paper_of(_Tty(), {}, 110) == Paper(110, False, True, "latin-1")
    assert paper_of(_Tty(), {"NO_COLOR": "1"}, 110) == Paper(110, False, False, "latin-1")
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    assert paper_of(pipe, {}, 80) == Paper(None, True, False, "utf-8")
    assert paper_of(pipe, {"COLUMNS": "72"}, 80) == Paper(72, True, False, "utf-8")
    assert paper_of(pipe, {"COLUMNS": "wide"}, 80) == Paper(None, True, False, "utf-8")


def test_a_command_is_one_line_in_prose() -> None:
    command = "steelyard run --out results/run-20261123-101500-and-more --launches 10"
    lines = prose_text(f"floor, cannot tell: add launches: {command}", Paper(40, is_pipe=False)).splitlines()
    assert lines == ["floor, cannot tell: add launches:", command]


def test_prose_is_wrapped_and_is_no_line_of_a_table() -> None:
    assert prose_text("one two three", Paper(8, is_pipe=False)) == "one two\nthree\n"
    assert prose_text("one two three", Paper()) == "# one two three\n"


def test_a_column_that_says_nothing_is_left_out() -> None:
    table = Table(
        "t",
        "",
        (words("what"), number("time"), number("p99"), remark()),
        (Line(("a", "1 ns", "-", "")), Line(("b", "failed"), BAD)),
        grouped=1,
    )
    kept = without_empty(table)
    assert [column.name for column in kept.columns] == ["what", "time", ""]
    assert [line.cells for line in kept.lines] == [("a", "1 ns", ""), ("b", "failed")]


def test_why_all_failed_keeps_its_blanks_in_a_pipe() -> None:
    columns = (number("bytes"), number("time"), number("±"), remark())
    table = without_empty(Table("t", "", columns, (Line(("1 KiB", "failed: no record for 4 s"), BAD),)))
    assert table_text(table, Paper()).splitlines()[-1].split() == [
        "1KiB",
        "failed:",
        "no",
        "record",
        "for",
        "4",
        "s",
    ]


def test_a_table_of_remarks_alone_is_its_remarks() -> None:
    table = Table("", "", (remark(),), (Line(("failed: signal 11",)),))
    assert "failed: signal 11" in table_text(table, Paper(80, is_pipe=False))


def test_a_table_without_lines_is_a_heading() -> None:
    assert table_text(Table("t", "", (number("time"),), ()), Paper()) == "# t\n# time\n"


@pytest.mark.parametrize(
    ("columns", "cells"),
    [((number("a"),), ()), ((number("a"),), ("1", "2")), ((remark(), number("a")), ("", "1"))],
)
def test_a_table_that_cannot_be_is_refused(columns: tuple[object, ...], cells: tuple[str, ...]) -> None:
    with pytest.raises(ValueError):
        Table("t", "", columns, (Line(cells),))  # type: ignore[arg-type]


def test_what_is_foreign_moves_no_cursor() -> None:
    table = Table("a\x1b[2Jb", "", (words("what"), remark()), (Line(("c\x1b]0;title\x07", "d\x1b[31m")),))
    assert "\x1b" not in table_text(table, Paper(80, is_pipe=False, has_colour=False))
    assert "\\x1b[2J" in table_text(table, Paper(80, is_pipe=False))
    assert "\x1b" not in prose_text("e\x1b[2J", Paper())


def test_columns_of_words_that_have_no_room_become_one() -> None:
    columns = (words("sync"), words("complete"), words("window"), number("bytes"), number("time"))
    lines = (
        Line(("lock_shared", "flush_local", "allocate", "8 B", "154 ns")),
        Line(("lock_shared", "flush_local", "create", "8 B", "1.54 us")),
        Line(("fence", "close", "create", "failed: signal 11"), BAD),
    )
    table = Table("", "", columns, lines, grouped=2)
    headings = table_text(table, Paper(80, is_pipe=False)).splitlines()[0]
    assert headings.split() == [
        "sync", "complete", "window", "bytes", "time",
    ]  # fmt: skip
    text = table_text(table, Paper(30, is_pipe=False))
    assert max(map(len, text.splitlines())) <= 30
    assert "8 B   154 ns" in text
    assert "signal 11" in text
    for word in ("shared", "local", "allocate", "create", "fence", "close"):
        assert word in text


_APPS = Table(
    "app.hpccg, omp.for",
    "",
    (
        *(words("op"), number("threads"), words("thread level"), number("nx"), words("backend")),
        *(words("wait_policy"), number("bytes"), number("rate", strong=True), number("±"), number("time")),
        number("of roof"),
    ),
    (
        Line(("app.hpccg", "1", "-", "20", "nonblocking", "-", "-", "2981 Mop/s", "19 %", "10.3 ms", "16 %")),
        Line(("app.hpccg", "2", "multiple", "20", "fence", "passive", "-", "1 Mop/s", "4 %", "1.3 ms", "-")),
        Line(("app.hpccg", "2", "multiple", "20", "lock", "passive", "8 B", "2 Mop/s", "4 %", "1.4 ms", "-")),
        Line(("omp.for", "2", "-", "-", "-", "active", "-", "3 Mop/s", "4 %", "1.5 ms", "-")),
        Line(("omp.for", "4", "failed: signal 11"), BAD),
    ),
)


def test_many_values_that_have_no_room_are_named_and_what_an_op_shares_is_said_once() -> None:
    text = table_text(_APPS, Paper(80, is_pipe=False))
    assert max(map(len, text.splitlines())) <= 80
    said = " ".join(text.split())
    for number_ in ("2981 Mop/s", "10.3 ms", "16 %", "1.4 ms"):
        assert number_ in text
    for named in ("threads=2 thread_level=multiple backend=fence", "omp.for threads=2 wait_policy=active"):
        assert named in said.replace("- 1 Mop/s 4 % 1.3 ms - ", "").replace("3 Mop/s 4 % 1.5 ms - ", "")
    assert "app.hpccg: nx=20 in all rows." in said
    assert "omp.for threads=4 failed: signal 11" in said
    assert "=-" not in text
    assert text.splitlines()[2].split()[:2] == ["op", "bytes"]


def test_few_values_that_have_no_room_stay_without_names() -> None:
    text = table_text(_APPS, Paper(150, is_pipe=False))
    assert "thread" in text.splitlines()[1]
    assert "=" not in text


def test_words_that_would_be_many_lines_high_stand_above_what_they_hold_for() -> None:
    """Phases of two runs; in a pipe each line has its run."""
    columns = (words("what"), words("phase"), *map(number, ("share", "median", "5 % to 95 %")))
    runs = [f"app.hpccg, {mpi}, 2 ranks, nx=64, ny=64, nz=64" for mpi in ("mpich-5.0.2", "mpich-4.0.2")]
    lines = [
        (run, phase, "50.5 %", "54.5 ms", "53.4 - 58.5 ms") for run in runs for phase in ("spmv", "sums")
    ]
    table = Table("time", "", columns, plain_lines(lines), grouped=1)
    _, heading, *rest = table_text(table, Paper(52, is_pipe=False)).splitlines()
    assert heading.split()[:2] == ["phase", "share"]
    assert [line.split()[0] for line in rest] == ["app.hpccg,", "spmv", "sums"] * 2
    assert rest[0] == runs[0]
    piped = [line for line in table_text(table, Paper(52)).splitlines() if not line.startswith("#")]
    assert [line.split()[1] for line in piped] == ["spmv", "sums"] * 2
    assert all("app.hpccg" in line.split()[0] for line in piped)
    failed = Table("", "", columns, (Line((runs[0], "spmv", "failed")),), grouped=1)
    assert table_text(failed, Paper(30, is_pipe=False)).splitlines()[-1].split() == ["spmv", "failed"]


def test_numbers_that_have_no_room_are_named() -> None:
    columns = (number("tolerance"), number("rate"), number("bytes"), number("time", strong=True))
    lines = (
        Line(("0.03", "1000", "8 B", "150 ns")),
        Line(("-", "-", "8 B", "151 ns")),
        Line(("-", "9", "failed")),
    )
    joined = table_text(Table("", "", columns, lines), Paper(29, is_pipe=False))
    assert [line.split() for line in joined.splitlines()] == [
        ["case", "bytes", "time"],
        ["tolerance=0.03", "8", "B", "150", "ns"],
        ["rate=1000"],
        ["-", "8", "B", "151", "ns"],
        ["rate=9", "failed"],
    ]
    wide = table_text(Table("", "", columns, lines), Paper(30, is_pipe=False)).splitlines()
    assert wide[0].split() == ["tolerance", "rate", "bytes", "time"]


def test_a_sign_is_explained_below_the_table_that_has_it() -> None:
    columns = (number("time"), number("±"), remark())
    lines = plain_lines((("≤ 3 ns", "> 10x", ""), ("4 ns", "2 %", "")))
    table = Table("t", "", columns, lines, ("A note.",))
    for is_pipe in (True, False):
        text = table_text(table, Paper(width=None, is_pipe=is_pipe))
        assert "≤: only this upper bound is known." in text
        assert text.count("> 10x: the interval reaches") == 1
        assert "≥" not in text
    plain = Table("t", "", columns, plain_lines((("4 ns", "2 %", ""),)))
    assert len(table_text(plain, Paper()).splitlines()) == 3


def test_a_table_of_notes_alone_begins_with_them() -> None:
    assert (
        table_text(Table("", "", (), (), ("4 rows are not shown.",)), Paper(80, False))
        == "4 rows are not shown.\n"
    )


def test_a_number_keeps_its_unit_and_no_long_word() -> None:
    """The value of a variable is no number with a unit: two of them became one word, which was broken."""
    variables = (
        "OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_alltoall_algorithm=modified_bruck"
    )
    text = (
        f"mpi.alltoall 8 B on 2 ranks of openmpi-4.1.4 with {variables}: start-up: disk took 12.5 ms and more"
    )
    paper = Paper(80, False, False, "utf-8")
    for lines in (
        prose_text(text, paper).splitlines(),
        [line.strip() for line in folded(text, 80).splitlines()],
    ):
        assert " ".join(lines) == text
        assert max(map(len, lines)) <= 80
    assert prose_text("word " * 14 + "12.5 ms", Paper(76, False)).splitlines()[1] == "12.5 ms"


def test_letters_of_owners_quote_nothing() -> None:
    """`core's time ... core's` is no quoted name, which would stay on one line."""
    text = "Noise: fwq saw up to 59 % of a core's time lost; selfish saw up to 60 % of a core's time lost"
    first = prose_text(text, Paper(80, False, False, "utf-8")).splitlines()[0]
    assert first == "Noise: fwq saw up to 59 % of a core's time lost; selfish saw up to 60 % of a"
    assert folded(text, 80).splitlines()[0] == first


def test_names_of_ops_in_a_list_stay_whole() -> None:
    """`mpi.` stood on one line and `pingpong,` on the next."""
    ops = "mpi.pingpong, mpi.bandwidth, mpi.barrier, and 5 more"
    columns = (words("MPI"), number("ranks"), words("ops"), *(number("launches") for _ in range(4)))
    table = Table("", "", columns, (Line(("openmpi-4.1.4", "2", ops, *["8.1 MB"] * 4)),))
    text = table_text(table, Paper(74, is_pipe=False))
    assert max(map(len, text.splitlines())) <= 74
    for name in ("mpi.pingpong,", "mpi.bandwidth,", "mpi.barrier,"):
        assert name in text
