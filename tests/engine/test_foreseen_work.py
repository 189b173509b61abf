"""What a test case costs before anything runs: calls of functions, which no load of the machine changes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from commands import Steelyard, steelyard_of

_FEW, _MANY = 100, 200
# Calls of functions for each further test case: 50,000 of the first kind take 2 s, and so do 5,000 of the
# second, each of which needs a start of an engine and has a line of the table.
_MOST_OF_CASE, _MOST_OF_START = 140, 2000


@pytest.fixture
def steelyard(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Steelyard:
    monkeypatch.chdir(tmp_path)
    # Each command also looks at what other steelyards measure at that time, the other workers' among them.
    monkeypatch.setattr("steelyard.cli.main.clear_abandoned", tuple)
    return steelyard_of(capsys, monkeypatch)


def _joined(values: Iterable[object]) -> str:
    return ",".join(map(str, values))


def _quoted(values: Iterable[object]) -> str:
    return _joined(f'"{value}"' for value in values)


def _copies(sizes: int, more: str = "") -> str:
    return f'[[measure]]\nops = "mem.copy"\nbytes = "{_joined(range(8, 8 * sizes + 8, 8))}"\n{more}'


def _sizes(number: int) -> str:
    return _copies(number)


def _params(number: int) -> str:
    return _copies(4, f'rule = "fixed"\nparams = {{ count = [{_joined(range(3, 3 + number // 4))}] }}\n')


def _excluded(number: int) -> str:
    """Nine tables of ten leave out what others leave out, too."""
    tables = _joined(f"{{ bytes = {8 * (i // 10 + 1)}, method = 'batch' }}" for i in range(100))
    return _copies(number + 10, f"exclude = [{tables}]\n")


def _variables(number: int) -> str:
    return _copies(1, f"env = {{ A = [{_quoted(range(number))}] }}\n")


def _arms(number: int) -> str:
    return f'arms = {{ "env.A" = [{_quoted(range(number))}] }}\n' + _copies(1)


def _wrappers(number: int) -> str:
    return _copies(1, f"wrapper = [{_quoted(f'env A={i}' for i in range(number))}]\n")


@pytest.mark.parametrize(
    ("plan", "most"),
    [
        (_sizes, _MOST_OF_CASE),
        (_params, _MOST_OF_CASE),
        (_excluded, _MOST_OF_CASE),
        (_variables, _MOST_OF_START),
        (_arms, _MOST_OF_START),
        (_wrappers, _MOST_OF_START),
    ],
)
def test_calls_for_each_test_case(
    steelyard: Steelyard, tmp_path: Path, plan: Callable[[int], str], most: int
) -> None:
    def calls(number: int) -> int:
        (tmp_path / "my.toml").write_text(plan(number))
        counted = 0

        def count(_frame: object, event: str, _argument: object) -> None:
            nonlocal counted
            counted += event in ("call", "c_call")

        gc.disable()  # its callbacks are calls, too, and come when they like
        sys.setprofile(count)
        try:
            said = steelyard("plan", "show", "my.toml")
        finally:
            sys.setprofile(None)
            gc.enable()
        assert said.code == 0, said.err
        assert f"{number} test cases" in said.out
        return counted

    for number in (_FEW, _MANY):  # what is loaded and remembered once
        calls(number)
    assert (calls(_MANY) - calls(_FEW)) / (_MANY - _FEW) <= most
