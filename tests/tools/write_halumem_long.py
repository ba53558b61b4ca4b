"""Writes a HaluMem run of the size and shape of HaluMem-Long: long dialogues, many memories judged against each.

    python -m tests.tools.write_halumem_long FOLDER --records 118000

Its shares are those of a system that remembers much: seven records of ten are extracted memories. Every text is its
own, so that a judge has as many calls to make as there are records.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "halumem"))

from halumem_runs import Run

USERS = 20
SESSION = {"integrity": 20, "update": 5, "accuracy": 72, "qa": 3}
"""Records of one session by task."""
_FILLER = " It went on for a while, with more of the day, of the family and of the weather." * 3


def long_run(records: int) -> Run:
    """A run of `records` judged records or a few more."""
    run = Run()
    sessions = -(-records // sum(SESSION.values()))
    for number in range(sessions):
        memories = [f"Memory {number}.{place}: the user said so on that day." for place in range(SESSION["accuracy"])]
        session = run.session(f"00000000-0000-4000-8000-{number % USERS:012}", extracted=())
        session.say(*(f"Message {number}.{place}.{_FILLER}" for place in range(20)))
        for place in range(SESSION["integrity"]):
            session.point(f"Point {number}.{place}: what the user wants to be remembered.", 2 - place % 3)
        for place in range(SESSION["update"]):
            session.update(f"Update {number}.{place}: now it is so.", "Correct", f"Old {number}.{place}: it was thus.")
        for memory in memories:
            session.memory(memory, 2)
        for place in range(SESSION["qa"]):
            session.question(f"Question {number}.{place}: how is it now?", "Correct", f"Point {number}.{place}")
    return run


def main() -> None:
    """Write the two files of the run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--records", type=int, default=118_000)
    given = parser.parse_args()
    for file in long_run(given.records).files(given.folder):
        print(file)


if __name__ == "__main__":
    main()
