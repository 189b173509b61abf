"""TOML that people write: plans, limits."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from steelyard.base.errors import InputError
from steelyard.base.files import read_regular

_MOST_BYTES = 1 << 20  # of a file; the longest plan that ships has 8 KiB


def read_toml(path: Path, what: str) -> tuple[str, dict[str, Any]]:
    """Read a file as text, and what it holds; `what` names it in sentences: `the plan x.toml`. Raises
    InputError.
    """
    try:
        text = read_regular(path, _MOST_BYTES).decode()
        return text, tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{what} is nested too deeply; make it flatter") from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{what} is not UTF-8 from byte {error.start} on, as TOML is; save it as UTF-8"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{what} is not TOML: {error}") from None
    except ValueError:  # Python reads no more digits than some thousand
        raise InputError(f"{what} has a number of too many digits; give fewer") from None
