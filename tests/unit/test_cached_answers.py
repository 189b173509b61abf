"""What the cache keeps of engines and their sources holds while nothing has changed, and no longer."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from described import described
from few_ops import METHODS, RULES, SOLO
from steelyard.engines import source_digests
from steelyard.engines.build import Engine
from steelyard.engines.cached_descriptions import description_before
from steelyard.engines.source_digests import digest_of_sources


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("STEELYARD_CACHE", str(folder))
    return folder


def _damage(folder: Path) -> None:
    (kept,) = folder.iterdir()
    data = bytearray(kept.read_bytes())
    data[-5] ^= 1
    kept.write_bytes(data)


def test_an_engine_is_asked_once(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, path = tmp_path / "asked", tmp_path / "steelyard-solo"
    said = described(SOLO, METHODS, RULES)
    (tmp_path / "said").write_bytes(msgspec.json.encode(said))
    path.write_text(f"#!/bin/sh\necho >>{asked}\ncat {tmp_path}/said\n")
    path.chmod(0o755)
    engine = Engine(str(path), "solo", None)

    def look() -> int:
        """How often it has been asked."""
        assert description_before(engine) == said
        return len(asked.read_text())

    assert [look(), look()] == [1, 1]
    monkeypatch.setenv("COLUMNS", "77")
    assert look() == 1
    monkeypatch.setenv("UCX_TLS", "self")
    assert [look(), look()] == [2, 2]
    _damage(cache / "descriptions")
    monkeypatch.setenv("A_NEW_ONE", "1")  # in this process it was asked, too
    assert look() == 3
    path.write_text(path.read_text() + "# another\n")
    assert look() == 4


def test_sources_are_read_again_once_they_have_changed(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources, reads = tmp_path / "engine", []
    (sources / "core").mkdir(parents=True)
    for name in ("build.json", "core/run.c"):
        (sources / name).write_text("int a;\n")
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: reads.append(self) or read(self))

    def look() -> tuple[bytes, int]:
        """The digest, and how many files were read for it by a program that has just begun."""
        source_digests._digest.cache_clear()
        reads.clear()
        return digest_of_sources(sources), len(reads)

    made = max((sources / name).stat().st_ctime_ns for name in ("build.json", "core/run.c"))
    monkeypatch.setattr(source_digests.time, "time_ns", lambda: made + 10**9)
    first, read_first = look()
    assert read_first == 2
    assert look() == (first, 2)  # the files are too new to prove anything
    monkeypatch.setattr(source_digests.time, "time_ns", lambda: made + 3 * 10**9)
    assert look() == (first, 2)
    assert look() == (first, 0)
    _damage(cache / "sources")
    assert look() == (first, 2)
    stat = (sources / "core" / "run.c").stat()
    (sources / "core" / "run.c").write_text("int b;\n")
    os.utime(sources / "core" / "run.c", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    changed, read_then = look()
    assert (changed != first, read_then) == (True, 2)
