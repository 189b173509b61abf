"""The command line."""

import _signal  # type: ignore[import-not-found]  # `signal` loads a dozen modules: time for a traceback
import sys

if sys.argv[0].endswith("steelyard") and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
    # The program, and no test of it: until `start` hears Ctrl-C, it ends the process, without a traceback.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
