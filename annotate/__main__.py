"""`python -m annotate`: the same as the command `overread`, whatever lies in the current folder."""

from __future__ import annotations

import sys
from pathlib import Path

if (
    sys.path
    and Path(sys.path[0] or ".").resolve() == Path.cwd()
    and Path(__file__).resolve().parent.parent != Path.cwd()
):
    del sys.path[0]

from annotate.entry import run

run()
