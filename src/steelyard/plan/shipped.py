"""The plans that come with this package."""

from __future__ import annotations

from pathlib import Path


def shipped_plans() -> dict[str, Path]:
    """Map the name of each to its path."""
    package = Path(__file__).resolve().parent.parent
    folders = (package.parent.parent / "plans", package / "_plans")
    return {path.stem: path for folder in reversed(folders) for path in sorted(folder.glob("*.toml"))}
