"""Run every measuring script of this folder: `python -m tests.performance`. Options are passed on to each."""

from __future__ import annotations

import importlib
from pathlib import Path


def scripts() -> list[str]:
    """The modules of this folder that have a `main`, by name."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return [
        file.stem for file in files if "\ndef main(" in file.read_text(encoding="utf-8") and file.stem != "__main__"
    ]


def main() -> None:
    """Run them one after the other."""
    for name in scripts():
        print(f"== {name}", flush=True)
        importlib.import_module(f"tests.performance.{name}").main()


if __name__ == "__main__":
    main()
