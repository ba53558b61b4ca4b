"""Run a command with the network blocked, and read afterwards what it tried to reach.

    def test_label_stays_offline(overread_cli, no_network):
        overread_cli("label", "--plain", env=no_network.env)
        assert no_network.attempts() == []

It sees connections made by Python code, in the command and in every Python process it starts; not those of native code.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tests.commands import ROOT

GUARD = ROOT / "tests" / "hygiene" / "network_guard"


@dataclass(frozen=True, slots=True)
class NoNetwork:
    """The blocked network of one test. `log` is the file that collects the attempts."""

    log: Path

    @property
    def env(self) -> dict[str, str]:
        """Variables for the command; `PYTHONPATH` begins with the guard and the source tree."""
        path = os.pathsep.join(part for part in (str(GUARD), str(ROOT), os.environ.get("PYTHONPATH", "")) if part)
        return {"PYTHONPATH": path, "NETWORK_GUARD_LOG": str(self.log)}

    def attempts(self) -> list[str]:
        """What the command tried to reach, one line each."""
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
