"""An empty value is refused, whatever option or argument of whatever command it is given to."""

from __future__ import annotations

from typing import Any

import pytest
import typer.main

from commands import Steelyard, steelyard_of
from steelyard.cli.main import app
from steelyard.cli.option_tables import commands


def _command(name: str) -> Any:
    found: Any = typer.main.get_command(app)
    if (whole := found.get_command(None, name)) is not None:
        return whole
    for word in name.split():
        found = found.get_command(None, word)
    return found


_PARAMS = [(name, param) for name in commands() for param in _command(name).params]
_OPTIONS = [
    (name, word, max(param.opts, key=len))
    for name, param in _PARAMS
    if param.param_type_name == "option" and not param.is_flag
    for word in param.opts
]
_ARGUMENTS = [
    (name, param.metavar.strip("[].")) for name, param in _PARAMS if param.param_type_name == "argument"
]


@pytest.fixture
def steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    return steelyard_of(capsys, monkeypatch)


def test_options_were_found() -> None:
    assert {("run", "-n", "--ranks"), ("plan show", "--bytes", "--bytes"), ("plot", "--out", "--out")} <= {
        *_OPTIONS
    }
    assert ("show", "DIR") in _ARGUMENTS


@pytest.mark.parametrize("value", ["", " \t"])
@pytest.mark.parametrize(("command", "word", "name"), _OPTIONS)
def test_an_empty_value_of_an_option(
    steelyard: Steelyard, command: str, word: str, name: str, value: str
) -> None:
    said = steelyard(*command.split(), word, value)
    sentence = f"steelyard: {name} is empty; give a value, or leave the option out\n"
    assert (said.code, said.out, said.err) == (2, "", sentence)


@pytest.mark.parametrize(("command", "metavar"), _ARGUMENTS)
def test_an_empty_argument(steelyard: Steelyard, command: str, metavar: str) -> None:
    said = steelyard(*command.split(), "")
    assert (said.code, said.out, said.err) == (2, "", f"steelyard: {metavar} is empty; give a value\n")


def test_a_variable_may_be_empty(steelyard: Steelyard) -> None:
    assert steelyard("plan", "show", "self.empty", "--env", "NAME=").code == 0


_LISTS = [
    (name, max(param.opts, key=len), "a=" if "=" in param.metavar else "")
    for name, param in _PARAMS
    if param.param_type_name == "option" and (param.metavar or "").endswith(",...")
]
_NUMBERS = [
    (name, max(param.opts, key=len))
    for name, param in _PARAMS
    if param.param_type_name == "option" and param.type.name.startswith(("int", "float"))
]


def test_lists_and_numbers_were_found() -> None:
    assert {("run", "--mpi"), ("run", "--thread-level"), ("plan show", "--class")} <= {
        (name, option) for name, option, _ in _LISTS
    }
    assert {("run", "--launches"), ("run", "--seed")} <= {*_NUMBERS}


@pytest.mark.parametrize("value", [",", "a,", "a,,b", ",a"])
@pytest.mark.parametrize(("command", "option", "before"), _LISTS)
def test_a_list_with_an_empty_value(
    steelyard: Steelyard, command: str, option: str, before: str, value: str
) -> None:
    said = steelyard(*command.split(), option, before + value)
    sentence = f"{option} {before}{value} has an empty value; write values between commas, as a,b"
    assert (said.code, said.out, said.err) == (2, "", f"steelyard: {sentence}\n")


@pytest.mark.parametrize("value", ["１０", "1_0", "١"])
@pytest.mark.parametrize(("command", "option"), _NUMBERS)
def test_a_number_in_digits_that_only_python_reads(
    steelyard: Steelyard, command: str, option: str, value: str
) -> None:
    said = steelyard(*command.split(), option, value)
    assert (said.code, said.out) == (2, "")
    assert f"{option} {value} is not a number; write it in the digits 0 to 9" in said.err
