"""Ops out of a library of the user, without MPI: loaded, refused, measured, and their failures."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from commands import FIXED, Steelyard, steelyard_of
from own_libraries import EXAMPLES, OWN_OPS, build_library
from steelyard.engines.build import describe, header_folder, solo_engine
from steelyard.engines.description import NotLoaded, load_words
from steelyard.records.campaign_file import read_campaign
from steelyard.system.process import run


@pytest.fixture
def steelyard(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Steelyard:
    monkeypatch.chdir(tmp_path)
    return steelyard_of(capsys, monkeypatch)


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> Path:
    return build_library(compiler, OWN_OPS, tmp_path_factory.mktemp("mine") / "libmine.so")


def _rows(folder: Path) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = json.loads((folder / "results.json").read_bytes())["points"]
    return rows


def test_an_engine_describes_them_as_its_own(mine: Path) -> None:
    ours, both = describe(solo_engine()), describe(solo_engine(), libraries=(str(mine),))
    assert both.ops[: len(ours.ops)] == ours.ops
    count, fault = both.ops[len(ours.ops) :]
    assert (count.name, fault.name) == ("mine.count", "mine.fault")
    assert (count.family, count.library, count.counters) == ("mine", str(mine), ("done",))
    assert count.defaults == {"kind": "none", "amount": 3}
    assert count.methods
    assert both.not_loaded == ()


_AGAIN = 'compile it again with -I"$(steelyard op-header)"'


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("VERSION=2", f" has version 2 of steelyard/op.h, and this engine reads version 1; {_AGAIN}"),
        ("OP_BYTES=8", f" has structs of other sizes than steelyard/op.h of this engine; {_AGAIN}"),
        ('MPI_WORD="Open MPI"', " calls Open MPI, and this engine has no MPI"),
        ('FAMILY="self"', " has the family 'self', which Steelyard has; give it another name"),
        ('FAMILY="mpi"', " has the family 'mpi', which Steelyard has; give it another name"),
        (
            'FAMILY="Mine"',
            " has no family that can be; give STEELYARD_LIBRARY a word of small letters, digits and '_'",
        ),
        (
            'SECOND="other.fault"',
            ": 'other.fault' is no name of an op of the family; names are mine.NAME, in small letters",
        ),
        ('SECOND="mine.count"', " has two ops mine.count; name them differently"),
        ("VERIFY=NULL", ": mine.count lacks one of summary, setup, run, verify, teardown; give all"),
        ("COUNTED=NULL", ": mine.count has counters or counted alone; give both"),
        ('REFERENCE="mine.no"', ": the reference of mine.count, 'mine.no', is no op; correct its name"),
        (
            'PARAM="bytes"',
            ": the parameter 'bytes' of mine.count has a name that Steelyard uses; give it another",
        ),
        ("USUAL=6", ": the usual value of 'kind' of mine.count is not from 0 to 5; correct the row"),
        ("COUNT=0", " has no operation; give STEELYARD_LIBRARY an array of some"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, compiler: str, change: str, sentence: str) -> None:
    library = tmp_path / "l.so"
    build_library(compiler, OWN_OPS, library, f"-D{change}", "-Wno-unused-function")
    said = describe(solo_engine(), libraries=(str(library),))
    assert said.not_loaded == (NotLoaded(str(library), f"{library}{sentence}"),)
    assert not any(op.library for op in said.ops)
    words = [solo_engine().path, "list", *load_words((str(library),))]
    assert (run(words, timeout=600).code, run(words, timeout=600).err.endswith(f"{sentence}\n")) == (2, True)


def test_a_file_that_is_no_library_and_a_second_family_are_refused(mine: Path, tmp_path: Path) -> None:
    text, copy = tmp_path / "text.so", tmp_path / "copy.so"
    text.write_text("no library")
    copy.write_bytes(mine.read_bytes())
    said = describe(solo_engine(), libraries=tuple(map(str, (text, mine, copy))))
    first, second = said.not_loaded
    assert (first.library, second.library) == (str(text), str(copy))
    assert first.why.startswith(f"{text} cannot be loaded: ")
    assert second.why == f"{copy} has the family 'mine', which {mine} has; give one of them another name"


def test_it_is_measured_from_a_relative_path_and_kept_by_hash(steelyard: Steelyard, mine: Path) -> None:
    Path("libmine.so").write_bytes(mine.read_bytes())
    said = steelyard("run", "./libmine.so:mine.count", *FIXED, "--param", "amount=4", "--out", "out")
    assert said.code == 0, said.err
    (row,) = _rows(Path("out"))
    assert (row["op"], row["status"], row["verified"]) == ("mine.count", "ok", True)
    assert row["params"] == {"kind": "none", "amount": 4}
    path = Path("libmine.so").absolute()
    op = read_campaign(Path("out")).ops["mine.count"]
    assert (op.library, op.library_sha256) == (str(path), hashlib.sha256(mine.read_bytes()).hexdigest())


@pytest.mark.parametrize(
    ("kind", "status", "why"),
    [
        ("wrong", "failed", "wrong: rank 0: 4 was counted, should be 3"),
        ("lies", "failed", "wrong: rank 0: the operation returned -1, which is none of its errors"),
        ("crash", "failed", "signal"),
        ("exit", "failed", "5"),
        ("hang", "failed", "1s"),
    ],
)
def test_a_fault_of_it_is_a_failed_row(
    steelyard: Steelyard, mine: Path, kind: str, status: str, why: str
) -> None:
    words = ("--param", f"kind={kind},none", "--hang-after", "1s", "--out", "out")
    assert steelyard("run", f"{mine}:mine.fault", *FIXED, *words).code == 3
    rows = {row["params"]["kind"]: row for row in _rows(Path("out"))}  # type: ignore[index]
    assert rows["none"]["status"] == "ok"
    assert rows[kind]["status"] == status
    assert why in str(rows[kind]["why"])


def test_what_its_setup_refuses_is_skipped(steelyard: Steelyard, mine: Path) -> None:
    steelyard("run", f"{mine}:mine.count", *FIXED, "--param", "amount=7", "--out", "out")
    (row,) = _rows(Path("out"))
    assert (row["status"], row["why"]) == ("skipped", "unsupported: rank 0: seven is not for us")


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("./no.so:mine", "there is no library of ops './no.so'; compile it, or correct its path"),
        ("{mine}:mine.cuont", "did you mean 'mine.count'? it has mine.count, mine.fault"),
        ("{text}", "cannot be loaded: "),
    ],
)
def test_a_word_that_means_nothing_is_a_sentence(
    steelyard: Steelyard, mine: Path, tmp_path: Path, word: str, sentence: str
) -> None:
    (tmp_path / "text.so").write_text("no library")
    said = steelyard("run", word.format(mine=mine, text=tmp_path / "text.so"), *FIXED)
    assert said.code == 2
    assert sentence in said.err


def test_a_changed_library_is_not_mixed_into_a_folder_and_is_seen_by_diff(
    steelyard: Steelyard, mine: Path, compiler: str
) -> None:
    library = Path("libmine.so").absolute()
    words = ("run", "./libmine.so:mine.count", *FIXED)
    library.write_bytes(mine.read_bytes())
    assert steelyard(*words, "--out", "a").code == 0
    library.unlink()
    build_library(compiler, OWN_OPS, library, "-DUSUAL=1")
    said = steelyard("run", "--out", "a")
    assert said.code == 2
    assert f"'{library}' has changed since 'a' was begun" in said.err
    assert steelyard(*words, "--out", "b").code in (0, 3)
    assert "libmine.so" in steelyard("diff", "a", "b").out


def test_a_folder_of_somebody_else_is_asked_for(
    steelyard: Steelyard, mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their library is shown, and its code does not run before it is."""
    assert steelyard("run", f"{mine}:mine.count", *FIXED, "--out", "out").code == 0
    monkeypatch.setenv("STEELYARD_CACHE", str(tmp_path / "stranger"))
    said = steelyard("rerun", "out", "--out", "again")
    assert said.code == 2
    assert f"  library: {mine}\n" in said.err
    assert not Path("again").exists()
    assert steelyard("rerun", "out", "--out", "again", "--yes").code == 0


def test_the_example_is_right_in_one_thread_and_in_several(steelyard: Steelyard, compiler: str) -> None:
    build_library(compiler, EXAMPLES / "sum.c", Path("libexample.so"))
    Path("plan.toml").write_text(
        '[[measure]]\nops = ["./libexample.so:example.*"]\nbytes = "0,4,4Ki"\nthreads = "1,3"\n'
        'rule = "fixed"\nparams = { stride = [1, 7], count = 2 }\n'
    )
    said = steelyard("run", "plan.toml", "--launches", 1, "--oversubscribe", "--out", "out")
    assert said.code == 0, said.err
    rows = _rows(Path("out"))
    assert len(rows) == 3 * 2 * (1 + 2)
    assert all(row["status"] == "ok" and row["verified"] for row in rows)
    planted = [solo_engine().path, "run", *load_words((str(Path("libexample.so").absolute()),))]
    done = run([*planted, "op=example.sum", "bytes=64", "plant=0", "rule=fixed", "count=2"], timeout=600)
    assert "the sum is 137, should be 136" in done.out


def test_they_are_listed(steelyard: Steelyard, mine: Path) -> None:
    said = steelyard("list", f"{mine}:mine.count", "--json")
    (op,) = said.document["ops"]
    assert (op["name"], op["library"], op["available"]) == ("mine.count", str(mine), True)
    assert str(mine) in steelyard("list", f"{mine}:mine.count").out


def test_the_header_is_where_the_command_says(steelyard: Steelyard) -> None:
    said = steelyard("op-header")
    assert (Path(said.out.strip()) / "steelyard" / "op.h").is_file()
    assert Path(said.out.strip()) == header_folder()
