"""The plans that come with this package."""

from __future__ import annotations

from pathlib import Path

from steelyard.base.files import real_path


def shipped_plans() -> dict[str, Path]:
    """Map the name of each to its path."""
    package = real_path(Path(__file__)).parent.parent
    folders = (package.parent.parent / "plans", package / "_plans")
    return {path.stem: path for folder in reversed(folders) for path in sorted(folder.glob("*.toml"))}
