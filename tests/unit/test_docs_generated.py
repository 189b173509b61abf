"""docs/generate.py: what ops of a family share stands on the page once, with the ops that have it."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from pages import ROOT
from steelyard.engines.description import Description, Op, Param

_SCRIPT = ROOT / "docs" / "generate.py"


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", _SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _param(name: str, default: float = 0) -> Param:
    return Param(name=name, unit="us", default=default, least=0, most=9, summary=f"a {name}")


def _op(name: str, *params: Param, base: str | None = None, size: str | None = None, family: str = "f") -> Op:
    return Op(
        name=name,
        class_="local",
        sized=size is not None,
        default_bytes=size,
        methods=("barrier", "batch"),
        default_method="batch",
        params=params,
        family=family,
        base=base or name,
    )


def test_a_parameter_that_ops_share_stands_once(generate: ModuleType) -> None:
    ops = [_op("a", _param("d")), _op("b", _param("d"), _param("e")), _op("c", _param("d", default=2))]
    assert list(generate.params(ops))[2:-1] == [
        "| `d` | a d | us | 0 | 0 to 9 | all but `c` |",
        "| `e` | a e | us | 0 | 0 to 9 | `b` |",
        "| `d` | a d | us | 2 | 0 to 9 | `c` |",
    ]


def test_one_name_stands_for_all_forms_of_an_op(generate: ModuleType) -> None:
    owners = [_op("m.x"), _op("m.ix", base="m.x"), _op("m.y"), _op("m.iy", base="m.y"), _op("m.z")]
    assert generate.owned_by(owners, owners) == "all"
    assert generate.owned_by(owners[:2], owners) == "`m.x`"
    assert generate.owned_by([owners[1]], owners) == "`m.ix`"
    assert generate.owned_by(owners[:3], owners) == "all but `m.iy`, `m.z`"


def test_forms_that_differ_in_nothing_share_a_row(generate: ModuleType) -> None:
    ops = [
        _op("m.x"),
        _op("m.ix", base="m.x"),
        _op("m.y", base="m.x", size="8"),
    ]
    names = [row[0] for row in generate.op_rows(ops)]
    assert names == ["`m.x`, `m.ix`", "`m.y`"]


def test_a_family_has_one_table_wherever_its_ops_stand(generate: ModuleType) -> None:
    ops = (_op("a"), _op("b", family="g"), _op("c"))
    page = generate.page(
        Description(engine="solo", version="0", ops=ops, methods=(), stop_rules=(), clocks=())
    )
    assert page.count("## f\n") == 1
    assert page.index("`c`") < page.index("## g\n")


def test_ops_that_only_another_engine_has_follow(generate: ModuleType) -> None:
    first = Description("mpi", "1", (_op("a"), _op("b", size="8")), (), ())
    merged = generate.merged([first, Description("shmem", "1", (_op("b"), _op("c")), (), ())])
    assert [(op.name, op.sized) for op in merged.ops] == [("a", False), ("b", True), ("c", False)]


def test_the_page_of_columns_has_those_of_today(generate: ModuleType) -> None:
    assert generate.PAGE.with_name("columns.md").read_text(encoding="utf-8") == generate.columns_page()


def test_keys_are_read_from_their_lines(generate: ModuleType) -> None:
    page = (
        "| key | meaning |\n| --- | --- |\n| `a`, `b_low` | both \\| none |\n| `a` | later |\ntext `c` | no |"
    )
    assert generate.described_keys(page) == {"a", "b_low"}


def test_a_column_without_a_meaning_is_named(generate: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate, "TABLE_COLUMNS", {"cases": lambda: {"op": "String", "blurb_ns": "Float64"}})
    with pytest.raises(ValueError, match="says nothing of blurb_ns; describe it there"):
        generate.columns_page()
