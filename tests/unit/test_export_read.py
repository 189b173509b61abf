"""What is exported for other programs is read by their own code, or by what they publish of their formats."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from caliperreader import read_caliper_contents
from line_protocol_parser import parse_line
from markdown_it import MarkdownIt
from prometheus_client import parser as exposition
from prometheus_client.openmetrics import parser as openmetrics

from flat_rows import made_launch, made_row
from steelyard.analyses.analysis import Made
from steelyard.base.errors import InputError
from steelyard.base.printable import visible
from steelyard.export.export_input import Export, ExportedFolder
from steelyard.export.formats import FORMATS
from steelyard.render.markdown import table_markdown
from steelyard.render.table import BAD, Line, Table, number, remark, words
from steelyard.results.row import INDEPENDENT, Row
from steelyard.rows.table import IF_INDEPENDENT

_HOSTILE = 'a "b"\\ c=d,e\n# EOF\x1b[2J|<b>*x*'
# Words of Ramble's language on lines that have more than the word.
_DIRECTIVES = [
    *("tags", "software_spec", "required_package", "workload", "figure_of_merit_context"),
    "success_criteria",
]
_BEGAN = 1_790_000_000_000_000_000
_LAUNCHES = tuple(
    made_launch(i, median=median, began_unix_ns=_BEGAN + i)
    for i, median in enumerate((900.0, 1000.0, 1100.0))
)


def _text(to: str, *folders: tuple[Row, ...]) -> str:
    names = ("monday", "tuesday")
    return FORMATS[to](
        Export(
            tuple(ExportedFolder(Path(name), Made(rows)) for name, rows in zip(names, folders, strict=False))
        )
    ).decode()


def _case(**keys: Any) -> Row:
    return made_row(launches=_LAUNCHES, **keys)


_ROWS = (
    _case(bytes=8, verified=True, bandwidth=5e8, p99=2500.0),
    _case(bytes=16, point=1, mpi=_HOSTILE, verified=True),
    made_row(bytes=32, point=2, status="failed", why="hang", median=None, flag=None, verified=None),
    made_row(bytes=64, point=3, status="skipped", why="no such call", median=None),
)


@pytest.mark.parametrize("read", [openmetrics, exposition], ids=["OpenMetrics", "textfile-collector"])
def test_prometheus_reads_each_number_with_its_tags(read: Any) -> None:
    families = list(read.text_string_to_metric_families(_text("openmetrics", _ROWS)))
    samples = {
        (one.name, one.labels["bytes"]): (one.value, one.labels)
        for family in families
        for one in family.samples
    }
    assert {family.type for family in families} == {"gauge"}
    assert samples["steelyard_time_seconds", "8"] == (
        1e-6,
        {"op": "mpi.bcast", "mpi": "mpich", "bytes": "8", "ranks": "4", "threads": "1", "method": "epoch"},
    )
    assert samples["steelyard_time_low_seconds", "8"][0] == pytest.approx(0.99e-6)
    assert samples["steelyard_time_high_seconds", "8"][0] == pytest.approx(1.01e-6)
    assert samples["steelyard_time_p99_seconds", "8"][0] == pytest.approx(2.5e-6)
    assert samples["steelyard_bandwidth_bytes_per_second", "8"][0] == 5e8
    assert samples["steelyard_measured_timestamp_seconds", "8"][0] == pytest.approx(_BEGAN / 1e9)
    assert samples["steelyard_converged", "8"][0] == 1
    assert samples["steelyard_verified", "8"][0] == 1
    assert samples["steelyard_time_seconds", "16"][1]["mpi"] == _HOSTILE.replace("\n", "\\n").replace(
        "\x1b", "\\x1b"
    )
    assert samples["steelyard_ended", "32"][0] == 0
    assert ("steelyard_time_seconds", "32") not in samples
    assert not [key for key in samples if key[1] == "64"]


def test_no_two_series_have_the_same_tags() -> None:
    text = _text("openmetrics", (_case(), _case(point=1)), (_case(),))
    lines = [line for line in text.splitlines() if line.startswith("steelyard_time_seconds")]
    assert len({line.rpartition(" ")[0] for line in lines}) == 3
    assert 'repeated="2"' in lines[1]
    assert 'folder="tuesday"' in lines[2]


def test_ramble_finds_each_figure_of_merit_in_its_context() -> None:
    """By the expressions of packaging/ramble; Ramble 0.5.0 itself read such lines, too."""
    path = Path(__file__).parents[2] / "packaging/ramble/applications/steelyard/application.py"
    told: dict[str, dict[str, str]] = {}
    appkit = ModuleType("ramble.appkit")
    appkit.ExecutableApplication = object  # type: ignore[attr-defined]
    for word in re.findall(r"^ +(\w+)\($", path.read_text(), re.MULTILINE) + _DIRECTIVES:
        setattr(appkit, word, lambda name, *_, **words: told.update({name: words}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "ramble", ModuleType("ramble"))
        patch.setitem(sys.modules, "ramble.appkit", appkit)
        runpy.run_path(str(path))
    first, _, failed = _text("influx", _ROWS).splitlines()
    found = {
        name: re.search(words["fom_regex"], first)["value"]  # type: ignore[index]
        for name, words in told.items()
        if "fom_regex" in words
    }
    assert {name: float(value) for name, value in found.items()} == pytest.approx(
        {"time": 1e-6, "time_low": 0.99e-6, "time_high": 1.01e-6, "time_p99": 2.5e-6, "bandwidth": 5e8}
    )
    assert "op=mpi.bcast" in re.search(told["case"]["regex"], first)["case"]  # type: ignore[index]
    criteria = [words for words in told.values() if words.get("mode") == "string"]
    assert [len({"match", "anti_match"} & words.keys()) for words in criteria] == [1, 1], (
        "Ramble refuses both"
    )
    good, bad = told["measured"]["match"], told["none_failed"]["anti_match"]
    assert [bool(re.search(good, line)) for line in (first, failed)] == [True, False]
    assert [bool(re.search(bad, line)) for line in (first, failed)] == [False, True]


def test_influx_lines_are_read_with_their_tags_and_numbers() -> None:
    first, second, failed = map(parse_line, _text("influx", _ROWS).splitlines())
    assert first["measurement"] == "steelyard"
    assert first["tags"] == {
        "bytes": "8",
        "method": "epoch",
        "mpi": "mpich",
        "op": "mpi.bcast",
        "ranks": "4",
        "threads": "1",
    }
    assert first["fields"]["time_seconds"] == 1e-6
    assert first["fields"]["bandwidth_bytes_per_second"] == 5e8
    assert first["time"] == _BEGAN
    assert second["tags"]["mpi"].startswith('a "b"/ c=d,e')
    assert failed["fields"]["ended"] == 0
    assert failed["time"] is None


def test_extra_p_gets_a_line_for_each_launch_over_what_varies() -> None:
    rows = tuple(_case(bytes=size, point=size, mpi="x->y") for size in (8, 16))
    lines = list(map(json.loads, _text("extrap", rows).splitlines()))
    assert lines[:3] == [
        {
            "params": {"bytes": 8},
            "callpath": "mpi.bcast->x-y",
            "metric": "time",
            "value": pytest.approx(value),
        }
        for value in (0.9e-6, 1e-6, 1.1e-6)
    ]
    assert len(lines) == 6


def test_extra_p_gets_nothing_that_cannot_grow() -> None:
    with pytest.raises(InputError, match="no size, number of ranks or of threads differs"):
        _text("extrap", (_case(),))


def test_google_benchmark_has_repetitions_and_their_aggregates() -> None:
    found = json.loads(_text("gbench", _ROWS))["benchmarks"]
    mine = [one for one in found if one["run_name"].startswith("mpi.bcast/mpi:mpich/bytes:8/ranks:4")]
    assert [one["real_time"] for one in mine if one["run_type"] == "iteration"] == [900, 1000, 1100]
    assert [one["iterations"] for one in mine if one["run_type"] == "iteration"] == [100, 100, 100]
    aggregates = {one["aggregate_name"]: one for one in mine if one["run_type"] == "aggregate"}
    assert aggregates["median"]["real_time"] == pytest.approx(1000)
    assert aggregates["median"]["bytes_per_second"] == 5e8
    assert aggregates["stddev"]["real_time"] == pytest.approx(100)
    assert [one["error_message"] for one in found if one.get("error_occurred")] == ["hang"]
    assert len({one["name"] for one in found if one["run_type"] == "aggregate"}) == 6


def test_caliper_has_a_region_for_each_row_and_facts_of_the_run(tmp_path: Path) -> None:
    rows = (*_ROWS, _case(op="mpi.barrier", bytes=0, sized=False, point=4))
    file = tmp_path / "monday.cali"
    file.write_text(_text("caliper", rows))
    regions, run = read_caliper_contents(str(file))
    by_path = {tuple(region["path"]): region for region in regions}
    assert len(by_path) == len(regions)
    measured = by_path["mpi.bcast", "mpi:mpich", "bytes:8"]
    assert float(measured["time_seconds"]) == pytest.approx(1e-6)
    assert float(measured["bandwidth_bytes_per_second"]) == 5e8
    hostile = f"mpi:{visible(_HOSTILE)}"
    assert by_path.keys() >= {
        ("mpi.bcast",),
        ("mpi.bcast", "mpi:mpich"),
        ("mpi.bcast", hostile),
        ("mpi.bcast", hostile, "bytes:16"),
        ("mpi.barrier", "mpi:mpich"),
    }
    assert "time_seconds" not in by_path["mpi.bcast", "mpi:mpich"]
    failed = by_path["mpi.bcast", "mpi:mpich", "bytes:32"]
    assert ("time_seconds" in failed, float(failed["ended"])) == (False, 0.0)
    assert (run["folder"], run["ranks"], run["method"]) == ("monday", "4", "epoch")
    assert "mpi" not in run


@pytest.mark.parametrize("name", [b"a\n__rec=globals", b"\xff"])
def test_caliper_has_one_line_for_a_folder_of_any_name(name: bytes, tmp_path: Path) -> None:
    folder = Path(os.fsdecode(name))
    file = tmp_path / "any.cali"
    file.write_bytes(FORMATS["caliper"](Export((ExportedFolder(folder, Made(_ROWS)),))))
    assert read_caliper_contents(str(file))[1]["folder"] == visible(str(folder))


_COMPARE = Path("/usr/share/benchmark/compare.py")  # of libbenchmark-tools


def test_google_benchmark_compares_two_of_ours(tmp_path: Path) -> None:
    """By its own compare.py, which asks a U test of the repetitions."""
    if not _COMPARE.exists():
        pytest.skip("compare.py of Google Benchmark is not installed")
    for name, slower in (("before", 1), ("after", 1.25)):
        launches = tuple(
            made_launch(i, median=slower * (1000.0 + i), began_unix_ns=_BEGAN + i) for i in range(10)
        )
        row = made_row(bytes=8, launches=launches, median=slower * 1004.5)
        (tmp_path / f"{name}.json").write_text(_text("gbench", (row,)))
    words = [sys.executable, str(_COMPARE), "--no-color", "benchmarks", "before.json", "after.json"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=600)
    told = {line.split()[0].rpartition("_")[2]: line.split()[1] for line in done.stdout.splitlines()[3:]}
    assert (told["mean"], told["median"]) == ("+0.2500", "+0.2500")
    assert float(told["pvalue"]) < 0.01


def _cells(text: str) -> list[list[str]]:
    """The rows of all tables, as a reader of Markdown sees them."""
    rows: list[list[str]] = []
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for token, inside in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "tr_open":
            rows.append([])
        if token.type in ("th_open", "td_open"):
            assert inside is not None
            children = inside.children or []
            assert not [one for one in children if one.type not in ("text", "strong_open", "strong_close")]
            rows[-1].append("".join(one.content for one in children))
    return rows


def test_markdown_shows_each_cell_as_it_is() -> None:
    table = Table(
        "t",
        "",
        (words("op"), number("time"), number("±"), remark()),
        (Line(("a|b", "1 us", "2 %", "*x* <i>")), Line(("c", "hang: `y`"), BAD)),
        ("A note.",),
    )
    assert _cells(table_markdown(table)) == [
        ["op", "time", "±", ""],
        ["a|b", "1 us", "2 %", "*x* <i>"],
        ["c", "", "", "hang: `y`"],
    ]


def test_results_in_markdown_are_a_table_of_each_op() -> None:
    text = _text("markdown", _ROWS)
    rows = _cells(text)
    assert rows[0] == ["MPI", "bytes", "time", "±", "p99", "bandwidth", ""]
    assert rows[1][:6] == ["mpich", "8 B", "1.00 us", "1.0 %", "2.50 us", "500 MB/s"]
    assert rows[3][-1] == "failed: hang"
    assert "Skipped: 1 of 4." in text
    assert "\x1b" not in text
    assert IF_INDEPENDENT not in text
    assert IF_INDEPENDENT in _text("markdown", (_case(ci_if=INDEPENDENT),))
