"""The command line."""

import signal
import sys

if sys.argv[0].endswith("steelyard") and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    # The program, and no test of it: until `start` hears Ctrl-C, it ends the process, without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
