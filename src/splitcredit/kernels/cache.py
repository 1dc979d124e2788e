"""Keep lists of arrays as long as their forest lives, within a bound on memory."""

from __future__ import annotations

import os
import threading
from weakref import WeakKeyDictionary


class Cache:
    """Lists of named tuples of arrays that are made from a forest and a key.

    For a single row it takes longer to make such a list than to use it. The lists that were made
    last are kept. A list that is larger than the bound by itself is made anew each time, item by
    item. So it is never in memory as a whole.
    """

    def __init__(self, most: int):
        self.most = most
        # Forest -> key -> (list, bytes); a list is None where it is too large.
        self._lists: WeakKeyDictionary = WeakKeyDictionary()
        self._lock = threading.Lock()
        # A thread of the parent may hold the lock when a process is forked.
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._unlock)

    def items(self, forest, key, make):
        """Yield the items that the iterator ``make()`` gives, or gave in an earlier call."""
        of_forest = self._lists.get(forest)
        made = None if of_forest is None else of_forest.get(key)
        if made is None:
            made = self._listed(make())
            with self._lock:  # Other threads must not change what is gone through.
                of_forest = self._lists.setdefault(forest, {})
                of_forest[key] = made
                self._drop_the_oldest(of_forest, key)
        return make() if made[0] is None else made[0]

    def clear(self) -> None:
        """Forget all lists."""
        self._lists.clear()

    def _unlock(self):
        self._lock = threading.Lock()

    def _listed(self, made):
        """Return all items and their bytes, or None and 0 if they exceed the bound."""
        items, size = [], 0
        for item in made:
            items.append(item)
            size += bytes_of(item)
            if size > self.most:
                return None, 0
        return items, size

    def _drop_the_oldest(self, of_newest, newest):
        """Drop lists until the rest fits, the newest last."""
        total = sum(size for lists in list(self._lists.values()) for _, size in lists.values())
        for lists in list(self._lists.values()):
            for key in list(lists):
                if total <= self.most:
                    return
                if lists is not of_newest or key != newest:
                    total -= lists.pop(key, (None, 0))[1]


def bytes_of(parts) -> int:
    """Count the bytes of the arrays in a list or tuple, and in the tuples in it."""
    return sum(
        bytes_of(part) if isinstance(part, tuple) else getattr(part, "nbytes", 0) for part in parts
    )


# What the kernels keep of all forests, up to 256 MB.
ARRAYS = Cache(1 << 28)
