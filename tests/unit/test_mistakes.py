"""Wrong input of any kind: exit code 2, and one sentence with the option or key; nothing is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import typer.main

from commands import Steelyard, steelyard_of
from steelyard.base.errors import InputError
from steelyard.base.product import MOST_LAUNCHES
from steelyard.cli.main import app
from steelyard.cli.option_tables import commands
from steelyard.plan.exclude import Exclude
from steelyard.plan.plan import Measure, Plan, read_plan


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    return steelyard_of(capsys, monkeypatch)


def _params(name: str) -> list[Any]:
    found: Any = typer.main.get_command(app)
    words = [name] if found.get_command(None, name) is not None else name.split()
    for word in words:
        found = found.get_command(None, word)
    return list(found.params)


_OPTIONS = [
    (name, max(param.opts, key=len), param)
    for name in commands()
    for param in _params(name)
    if param.param_type_name == "option" and not param.is_flag
]
_SINGLE = [(name, option) for name, option, param in _OPTIONS if not param.multiple]
_TIMES = [(name, option) for name, option, param in _OPTIONS if param.metavar == "TIME"]
_WHOLE = [(name, option) for name, option, param in _OPTIONS if param.type.name.startswith("int")]


def test_options_were_found() -> None:
    assert ("run", "--launches") in _SINGLE
    assert ("run", "--launches") in _WHOLE
    assert ("rerun", "--time-budget") in _TIMES


@pytest.mark.parametrize(("command", "option"), _SINGLE)
def test_an_option_with_one_value_is_not_given_twice(steelyard: Steelyard, command: str, option: str) -> None:
    said = steelyard(*command.split(), option, "9", option, "10")
    assert (said.code, said.out) == (2, "")
    assert said.err == f"steelyard: {option} is given 2 times; give it once\n"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("soon", "'soon' is not a duration; write 90s, 10m or 1.5h"),
        ("-1s", "'-1s' is not a duration"),
        ("1e400", "'1e400' is not a duration"),
        ("٣s", "'٣s' is not a duration"),
        ("9" * 400, "is longer than 30 years; give less"),
        ("0s", "'0s' is no time; give one above 0, such as 90s"),
    ],
)
@pytest.mark.parametrize(("command", "option"), _TIMES)
def test_a_time(steelyard: Steelyard, command: str, option: str, value: str, words: str) -> None:
    said = steelyard(*command.split(), option, value)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith(f"steelyard: {option}: ")
    assert words in said.err


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("1.5", "1.5 is not a whole number; write it in the digits 0 to 9"),
        ("1e3", "1e3 is not a whole number"),
        ("two", "two is not a whole number"),
        ("1" * 5000, "has too many digits; give a smaller number"),
        ("-1", "or more, not -1"),
    ],
)
@pytest.mark.parametrize(("command", "option"), _WHOLE)
def test_a_whole_number(steelyard: Steelyard, command: str, option: str, value: str, words: str) -> None:
    said = steelyard(*command.split(), option, value)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith(f"steelyard: {option} ")
    assert words in said.err


@pytest.mark.parametrize("command", [name for name, option in _WHOLE if option == "--launches"])
def test_a_number_of_launches(steelyard: Steelyard, command: str) -> None:
    said = steelyard(*command.split(), "--launches", str(MOST_LAUNCHES + 1))
    sentence = f"steelyard: --launches is {MOST_LAUNCHES} at most, not {MOST_LAUNCHES + 1}\n"
    assert (said.code, said.out, said.err) == (2, "", sentence)


@pytest.mark.parametrize("value", ["a\nb", "\x1b[31m", "x" * 5000], ids=["line", "escape", "long"])
@pytest.mark.parametrize(
    "words",
    [
        ("show",),
        ("run", "self.empty", "--method"),
        ("run", "self.empty", "--out"),
        ("rerun", "nowhere", "--out"),
        ("run", "self.empty", "--env"),
        ("compare", "nowhere"),
        ("check", "--history"),
        ("list", "--mpi"),
        ("weigh",),
    ],
)
def test_a_value_that_is_quoted_stays_on_the_line(
    steelyard: Steelyard, words: tuple[str, ...], value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = steelyard(*words, value)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert len(said.err) < 1000
    assert "\x1b" not in said.err
    assert not any(tmp_path.iterdir())


# ---- files of plans ----------------------------------------------------------------------------------------

_EMPTIES = {'""', '" "', '[""]', '["a", ""]', "[]"}
_MAY_BE = {  # keys whose defaults are empty, and texts that say nothing to the program
    "summary": {'""', '" "'},
    "mpi": {"[]"},
    "shmem": {"[]"},
    "include": {"[]"},
    "modules": {"[]"},
    "wrapper": {"[]"},
    "files": {"[]"},
    "exclude": {"[]"},
}


def _keys(struct: type[msgspec.Struct]) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(struct) if field.name != "measure"]


def _refusal(text: str, folder: Path) -> str:
    path = folder / "p.toml"
    path.write_text(text)
    with pytest.raises(InputError) as raised:
        read_plan(path)
    sentence = str(raised.value)
    assert sentence.startswith(f"the plan {path}")
    assert "Expected `" not in sentence, "it is in our words"
    return sentence


@pytest.mark.parametrize("key", _keys(Plan))
def test_an_empty_value_of_a_plan(tmp_path: Path, key: str) -> None:
    for value in _EMPTIES - _MAY_BE.get(key, set()):
        assert f", line 1: {key}" in _refusal(f"{key} = {value}\n[[measure]]\nops = 'mpi.bcast'\n", tmp_path)


@pytest.mark.parametrize("key", _keys(Measure))
def test_an_empty_value_of_a_measure(tmp_path: Path, key: str) -> None:
    for value in _EMPTIES - _MAY_BE.get(key, set()):
        ops = "" if key == "ops" else "ops = 'mpi.bcast'\n"
        assert f": {key}" in _refusal(f"[[measure]]\n{key} = {value}\n{ops}", tmp_path)


@pytest.mark.parametrize(
    ("table", "key"),
    [*(("", key) for key in _keys(Plan)), *(("[[measure]]\n", key) for key in _keys(Measure))],
)
def test_a_value_of_another_type(tmp_path: Path, table: str, key: str) -> None:
    for value in ("1979-05-27", "[[[1]]]", "nan", "{a = 1979-05-27}"):
        whole = f"{table}{key} = {value}\n" + ("" if table else "[[measure]]\n")
        assert key in _refusal(whole + ("" if key == "ops" else "ops = 'mpi.bcast'\n"), tmp_path)


_TEXTS = ("include", "mpi", "shmem", "launcher", "stage", "clock", "sync", "arrivals")
_OF_MEASURES = ("ops", "bytes", "method", "rule", "thread_level", "placement")


@pytest.mark.parametrize("key", [*_TEXTS, *_OF_MEASURES])
@pytest.mark.parametrize("value", ["a\\u0000.toml", "./x\\u0000.so", "\\u001b[1m"])
def test_a_value_with_control_characters(tmp_path: Path, key: str, value: str) -> None:
    """No file can have a NUL in its name, and Python has an error of its own for that."""
    ops = "" if key == "ops" else "ops = 'mpi.bcast'\n"
    measure = f'[[measure]]\n{ops}{key} = "{value}"\n'
    plan = measure if key in _OF_MEASURES else f'{key} = "{value}"\n[[measure]]\n{ops}'
    said = _refusal(plan, tmp_path)
    assert f"{key} has control characters in '" in said or f"{key}: " in said


_ANY = (
    *("5", "-5", "1.5", "1e999", "nan", "true", "99999999999999999999", "1979-05-27", "07:32:00"),
    *("'x'", "''", "'a,b'", "','", "'8..4'", "'1Ki..'", "'*'", "'/'", "'../x'", "'/dev/zero'", "'\u00bf'"),
    *('"\\u0000"', '"a\\u0000.toml"', '"\\u001b[1m"', '"\\n"', f"'{'x' * 300}'", "[]", "[1]", "[-1]", "['']"),
    *("[[1]]", "[1, 'x', true]", "{}", "{a = 1}", "{a = []}", "{a = 'x'}", "{a = {b = 1}}", "{'' = 1}"),
    *("{'a b' = '1'}", "{mpi = ['x']}", "{mpi = []}", "[{}]", "[{a = 1}]", "[{bytes = 8}]"),
)


@pytest.mark.parametrize(("table", "kind"), [("", Plan), ("[[measure]]\n", Measure), ("exclude", Exclude)])
def test_any_value_of_a_key_is_read_or_refused_in_a_sentence(
    tmp_path: Path, table: str, kind: type[msgspec.Struct]
) -> None:
    path, said = tmp_path / "p.toml", list[str]()
    for key in _keys(kind):
        for value in _ANY:
            ops = "" if key == "ops" and kind is Measure else "ops = 'mpi.bcast'\n"
            line = f"exclude = [{{ {key} = {value} }}]\n" if kind is Exclude else f"{key} = {value}\n"
            path.write_text(f"{line}[[measure]]\n{ops}" if kind is Plan else f"[[measure]]\n{ops}{line}")
            try:
                read_plan(path)
            except InputError as error:
                said.append(str(error))
    assert len(said) > 100
    assert [one for one in said if "\n" in one or (";" not in one and "," not in one)] == []


@pytest.mark.parametrize("key", _keys(Exclude))
def test_an_empty_value_of_an_exclude(tmp_path: Path, key: str) -> None:
    said = _refusal(f"[[measure]]\nops = 'mpi.bcast'\nexclude = [{{ {key} = [''] }}]\n", tmp_path)
    assert f"line 3: {key}" in said or "line 3: exclude" in said


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("ops = 'mpi.bcast,'", "line 2: ops has an empty value"),
        ("ops = ['mpi.bcast']\nbytes = '8,,16'", "line 3: bytes 8,,16 has an empty value"),
        ("ops = ['mpi.bcast']\nbytes = '8..4'", "line 3: bytes: the range '8..4' runs downwards"),
        ("ops = ['mpi.bcast']\nbytes = '٨'", "line 3: bytes: '٨' is not a size"),
        ("ops = ['mpi.bcast']\nranks = '2,two'", "line 3: ranks: '2,two' is not a number of ranks"),
        ("ops = ['mpi.bcast']\nhosts = 0", "line 3: hosts: the number of hosts must be at least 1"),
        ("ops = ['mpi.bcast']\nthreads = [1, -1]", "line 3: threads: the number of threads must be at least"),
        (
            "ops = ['mpi.bcast']\nthread_level = 'some'",
            "line 3: thread_level: there is no thread level 'some'",
        ),
        ("ops = ['mpi.bcast']\nexclude = [{ bytes = '8q' }]", "line 3: bytes: '8q' is not a size"),
    ],
)
def test_a_value_that_no_engine_is_needed_to_know(tmp_path: Path, lines: str, words: str) -> None:
    assert words in _refusal(f"[[measure]]\n{lines}\n", tmp_path)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("mpi = 'openmpi,'", "line 1: mpi has an empty value"),
        ("include = 'quick,'", "line 1: include has an empty value"),
        ("time_budget = 'soon'", "line 1: time_budget: 'soon' is not a duration"),
        ("spread = '0s'", "line 1: spread: '0s' is no time"),
        ("stage = 'here'", "line 1: stage 'here' is no absolute path"),
        ("arms = { mpi = ['a', ''] }", ": mpi has an empty value"),
        ("launches = 0", f"line 1: launches must be from 1 to {MOST_LAUNCHES}"),
        ("seed = -1", "line 1: seed must be 0 or more, not -1"),
    ],
)
def test_a_value_of_a_plan(tmp_path: Path, lines: str, words: str) -> None:
    assert words in _refusal(f"{lines}\n[[measure]]\nops = 'mpi.bcast'\n", tmp_path)
