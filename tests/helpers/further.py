"""Parameters of tests that `make test` leaves to `make test-all`: one more case of what others are one of."""

from __future__ import annotations

from typing import Any

import pytest


def further(*values: Any) -> Any:
    """The values of one case, for `pytest.mark.parametrize`."""
    return pytest.param(*values, marks=pytest.mark.further)
