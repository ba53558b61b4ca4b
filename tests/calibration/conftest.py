"""Property tests of statistics run on loaded machines: no deadline for a single example."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("calibration", deadline=None)
settings.load_profile("calibration")
