"""Libraries of LD_PRELOAD and LD_AUDIT: the loader says which of them it does not load."""

from __future__ import annotations

import ctypes.util
from pathlib import Path

import pytest

from steelyard.base.errors import InputError
from steelyard.launch.preloads import check_preloads


@pytest.mark.parametrize(
    ("variable", "value", "named"),
    [
        ("LD_PRELOAD", "/nonexistent.so", "/nonexistent.so"),
        ("LD_AUDIT", "/nonexistent.so", "/nonexistent.so"),
        ("LD_PRELOAD", "libnone_such.so", "libnone_such.so"),
        ("LD_PRELOAD", "{libc} /nonexistent.so", "/nonexistent.so"),
        ("LD_PRELOAD", "{libc}:/nonexistent.so", "/nonexistent.so"),
        ("LD_PRELOAD", "{text}", "{text}"),  # is no library
        ("LD_PRELOAD", "{libc}", None),
        ("LD_PRELOAD", "", None),
        ("PRELOAD", "/nonexistent.so", None),
    ],
)
def test_what_the_loader_does_not_load_is_refused(
    tmp_path: Path, variable: str, value: str, named: str | None
) -> None:
    libc = ctypes.util.find_library("c")  # a name without a slash
    if libc is None:
        pytest.skip("the C library of this machine is no file")
    text = tmp_path / "text.so"
    text.write_text("no library")
    words = {"libc": libc, "text": str(text)}
    if named is None:
        check_preloads({variable: value.format(**words)}, {})
        return
    with pytest.raises(InputError) as refused:
        check_preloads({variable: value.format(**words)}, {})
    assert str(refused.value).startswith(
        f"{variable} names '{named.format(**words)}', which the loader does not"
    )


def test_a_name_is_searched_where_the_launch_searches(tmp_path: Path) -> None:
    libc = ctypes.util.find_library("c")
    with pytest.raises(InputError):
        check_preloads({"LD_PRELOAD": "libown.so"}, {})
    for folder in ("/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64", "/lib/aarch64-linux-gnu"):
        if libc is not None and (Path(folder) / libc).is_file():
            (tmp_path / "libown.so").symlink_to(Path(folder) / libc)
            check_preloads({"LD_PRELOAD": "libown.so"}, {"LD_LIBRARY_PATH": str(tmp_path)})
            return
    pytest.skip("the C library is elsewhere")
