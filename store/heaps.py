"""The C library's heaps. By default each thread gets one, of which little is ever given back."""

from __future__ import annotations

import ctypes
import sys
from typing import Final

_M_ARENA_MAX: Final = -8
"""The GNU C library's number of this setting."""
_HEAPS: Final = 2


def share_heaps() -> None:
    """Have all threads share two heaps, where the C library is GNU's; to be called before threads begin.

    Whoever opens DuckDB again and again starts new threads each time, which would fill one heap after the other.
    """
    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        mallopt(_M_ARENA_MAX, _HEAPS)
