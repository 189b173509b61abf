"""Any value of any option of `run`: the plan is shown, or one sentence says what is wrong; never a bug."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from commands import Steelyard, steelyard_of
from further import further
from steelyard.cli.main import app

# Values that mean nothing, and those that mean something to some option.
_NONSENSE = "\u00bf"
_VALUES = ("2,2", "/", ".")
_MORE = (
    *("-5", "0", "+5", "1e999", "nan", "1e-9", "0x10", "5%", "9" * 20, "9" * 400, "1s", "99999999999h"),
    *("x", "a b", "a,b", "a=b", "=", "a=", "=x", "8..4", "1Ki..", "..", "-", "--", "~", "$HOME", "1;2"),
    *("'", "[1]", "{}", "*", "%s", "{x}", "\U0001f4a5", "\uff41", "\x01", "x" * 300, "a/b", "self.empty"),
    *("/dev/zero", "/proc/self/mem", "../.."),
)
# Options that take any word: the name of a folder, a program.
_ANY_WORD = {"--out", "--wrapper"}


@pytest.fixture
def steelyard(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Steelyard:
    monkeypatch.chdir(tmp_path)
    return steelyard_of(capsys, monkeypatch)


def _options() -> Iterator[str]:
    command: Any = typer.main.get_command(app)
    for param in command.get_command(None, "run").params:
        if param.param_type_name == "option" and not param.is_flag:
            yield max(param.opts, key=len)


def test_a_value_that_means_nothing_is_refused(steelyard: Steelyard) -> None:
    taken = {option for option in _options() if _is_taken(steelyard, option, _NONSENSE)}
    assert taken == _ANY_WORD


@pytest.mark.parametrize("values", [_VALUES, further(_MORE)])
def test_any_value_is_planned_or_refused_in_a_sentence(
    steelyard: Steelyard, tmp_path: Path, values: tuple[str, ...]
) -> None:
    options = list(_options())
    assert len(options) > 30
    for option in options:
        for value in values:
            _is_taken(steelyard, option, value)
    assert list(tmp_path.iterdir()) == []


def _is_taken(steelyard: Steelyard, option: str, value: str) -> bool:
    said = steelyard("run", "self.empty", "--dry-run", option, value)
    if said.code != 0:
        assert (said.code, said.out, said.err.count("\n")) == (2, "", 1), (option, value, said)
        assert said.err.startswith("steelyard: ")
    return said.code == 0
