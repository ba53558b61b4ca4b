"""TOML that somebody else wrote: read whole, or refused as TOML, whatever is wrong with it."""

from __future__ import annotations

import tomllib
from typing import Any


def read_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text.

    Raises:
        tomllib.TOMLDecodeError: it is none, is nested too deeply, or holds a number that no program reads.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except ValueError:  # Python reads no whole number of thousands of digits, and no 32nd of a month
        raise tomllib.TOMLDecodeError("a number or a date in it is none") from None
