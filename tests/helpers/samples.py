"""What the tests of statistics share: arrays of numbers, and where seeded ones come from."""

from __future__ import annotations

import numpy as np


def generator(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)
