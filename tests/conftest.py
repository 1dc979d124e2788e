"""Settings that must stand before numba is imported."""

import os

# The tests compare one thread with two, on any machine: also with one core.
os.environ.setdefault("NUMBA_NUM_THREADS", "2")
