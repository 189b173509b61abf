"""The plans that come with this package."""

from __future__ import annotations

import tomllib
from pathlib import Path

from steelyard.base.files import read_regular, real_path

_MOST_BYTES = 1 << 20  # as of any plan


def shipped_plans() -> dict[str, Path]:
    """Map the name of each to its path."""
    package = real_path(Path(__file__)).parent.parent
    folders = (package.parent.parent / "plans", package / "_plans")
    return {path.stem: path for folder in reversed(folders) for path in sorted(folder.glob("*.toml"))}


def summary_of(path: Path) -> str:
    """Read the summary of a plan that ships, which stands above its first table; the tables are not read."""
    head, _, _ = read_regular(path, _MOST_BYTES).decode().partition("\n[")
    return str(tomllib.loads(head).get("summary", ""))
