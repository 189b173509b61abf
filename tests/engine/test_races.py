"""The pool of threads and its gates under the sanitizer of threads, with each order of memory and without.

The library of an MPI is not built with the sanitizer, so that engines under it cannot be looked at like that.
What threads of one-sided calls, movers and kernels share of ours is this pool and these gates.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from further import further
from steelyard.engines.build import engine_folder
from steelyard.system.process import Done, run

_SECONDS = 900.0  # far more than any of it takes
_RACE = "WARNING: ThreadSanitizer: data race"
_SANITIZED = ("-O0", "-g1", "-fsanitize=thread")


def _compiled(compiler: str, words: Sequence[str | Path], folder: Path) -> Done:
    flags = json.loads((engine_folder() / "build.json").read_text())
    argv = [compiler, *flags["compile"], *_SANITIZED, *map(str, words)]
    return run(argv, cwd=folder, timeout=_SECONDS)


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory, compiler: str) -> Path:
    """All that `base` has, which needs nothing else of ours, compiled; skips without the sanitizer."""
    folder = tmp_path_factory.mktemp("base")
    (folder / "trial.c").write_text("int main(void) { return 0; }\n")
    for done in (
        _compiled(compiler, ["trial.c", "-o", "trial"], folder),
        run([folder / "trial"], timeout=_SECONDS),
    ):
        if done.code != 0:
            pytest.skip(f"no sanitizer of threads here: {done.err.strip().splitlines()[-1]}")
    (folder / "trial.c").unlink()
    sources = sorted((engine_folder() / "base").glob("*.c"))
    done = _compiled(compiler, ["-c", "-I", engine_folder(), *sources], folder)
    assert done.code == 0, done.err
    return folder


def _raced(compiler: str, objects: Path, changed: Path) -> Done:
    """What tests/engine/test_pool.c says, with the files in `changed`/base in place of the engine's."""
    test = engine_folder().parent / "tests" / "engine" / "test_pool.c"
    own = [*(changed / "base").glob("*.c")]
    names = {one.stem for one in own}
    words: list[str | Path] = ["-I", changed, "-I", engine_folder(), test, *own]
    words += [one for one in objects.glob("*.o") if one.stem not in names]
    done = _compiled(compiler, [*words, "-lm", "-ldl", "-lrt", "-o", "test_pool"], changed)
    assert done.code == 0, done.err
    environment = os.environ | {"TSAN_OPTIONS": "halt_on_error=1"}  # one report is enough, and takes a second
    return run([changed / "test_pool"], env=environment, timeout=_SECONDS)


def test_threads_of_a_pool_race_nowhere(tmp_path: Path, compiler: str, objects: Path) -> None:
    done = _raced(compiler, objects, tmp_path)
    assert (done.code, done.err) == (0, "")


# File, what stands in it once -> what is without its order.
_ORDERS = {
    "a gate says that all have come": ("gate.h", "round + 1, memory_order_release"),
    "who waits hears it": ("gate.h", "while (atomic_load_explicit(&gate->round, memory_order_acquire)"),
    "who comes says so": ("gate.h", "&gate->come, 1, memory_order_acq_rel"),
    "work is given": ("pool.c", "&pool->generation, 1, memory_order_release"),
    "work is taken": ("pool.c", "&pool->generation, memory_order_acquire"),
    "work is done": ("pool.c", "&pool->running, 1, memory_order_release"),
    "all of it is": ("pool.c", "&pool->running, memory_order_acquire"),
}


@pytest.mark.parametrize("what", [one if one == "work is given" else further(one) for one in _ORDERS])
def test_each_order_of_memory_is_missed(what: str, tmp_path: Path, compiler: str, objects: Path) -> None:
    """Races that are planted are found; so nothing of the above would pass without being looked at."""
    name, words = _ORDERS[what]
    text = (engine_folder() / "base" / name).read_text()
    order = words[words.index("memory_order_") :].rstrip(")")
    assert text.count(words) == 1
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / name).write_text(text.replace(words, words.replace(order, "memory_order_relaxed")))
    done = _raced(compiler, objects, tmp_path)
    assert _RACE in done.err
