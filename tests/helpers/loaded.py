"""Programs under benchmarks/ as modules, whose functions tests call."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from pages import ROOT


def load_benchmark(name: str) -> ModuleType:
    """Load it once: modules that import each other share their classes."""
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    if (folder := str(ROOT / "benchmarks")) not in sys.path:  # they import each other
        sys.path.append(folder)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
