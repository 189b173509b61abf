"""The type of the arrays that statistics are made of."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
