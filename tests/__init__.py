"""The tests; a package so that `tests.terminal.harness` and `python -m tests.performance` mean this folder."""
