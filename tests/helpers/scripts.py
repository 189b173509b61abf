"""A shell script that stands in for a program."""

from __future__ import annotations

from pathlib import Path


def script(path: Path, text: str) -> Path:
    """An executable shell script, standing in for a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path
