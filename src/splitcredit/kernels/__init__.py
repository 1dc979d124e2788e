"""Compiled loops: numba only, one file an algorithm, no input or output.

A block of rows (or a tree) is the work of one thread and owns its part of the output; no sum is
shared between threads. So results do not depend on the number of threads.
"""
