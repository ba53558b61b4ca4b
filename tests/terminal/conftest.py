"""Pseudo-terminals are POSIX: elsewhere these tests are not collected."""

from __future__ import annotations

import sys

collect_ignore_glob = ["test_*.py"] if sys.platform == "win32" else []
