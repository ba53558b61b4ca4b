"""What labelling costs a person: seconds a label and seconds a shared text, measured where the study has labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from judges.calibration.planner import CHARACTERS_PER_SECOND, Effort
from judges.draw_frame import FrameItem
from store.events import DECIDED
from store.study import Study

SECONDS_A_LABEL = 30.0
"""Taken until labels are there to measure by."""
LEAST_MEASURED = 10
"""Labels (or texts) from which seconds are taken as measured."""
BEYOND_CHANCE = 2.0
"""Standard errors by which the first label of a text must take longer than others: less may be chance."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of work, and how many labels and texts they were measured on (0: assumed)."""

    seconds: float
    labels: int
    characters_per_second: float
    texts: int

    def words(self) -> str:
        """Where the numbers are from."""
        label = (
            f"{self.seconds:.0f} s a label, measured on {self.labels} labels"
            if self.labels
            else f"{self.seconds:.0f} s a label, assumed: measured once {LEAST_MEASURED} labels are there"
        )
        reading = (
            f"shared texts at {self.characters_per_second:.0f} characters a second, measured on {self.texts} texts"
            if self.texts
            else f"shared texts at {self.characters_per_second:.0f} characters a second, assumed"
        )
        return f"{label}; {reading}"


def effort_of(study: Study, frame: Sequence[FrameItem], within: int = 0) -> Effort:
    """What labels of these items take."""
    sizes = Counter(one.group for one in frame if one.group)
    single = sum(1 for one in frame if not one.group)
    characters = group_characters(study, {one.task for one in frame})
    shared = [characters.get(group, 0) for group, size in sizes.items() if size > 1]
    mean = fmean(shared) if shared else 0.0
    pace = measured_pace(study, {one.task for one in frame}, characters)
    return Effort(pace.seconds, [*sizes.values(), *[1] * single], mean, within, pace.characters_per_second)


def group_characters(study: Study, tasks: set[str]) -> dict[str, int]:
    """Characters of the texts that items of each group share, each text once."""
    marks = ", ".join("?" for _ in tasks)
    rows = study.rows(
        f"""SELECT group_key, sum(characters) FROM (
            SELECT group_key, text_hash FROM (
                SELECT group_key, item_id, unnest(map_values(from_json(texts, '"MAP(VARCHAR, VARCHAR)"'))) AS text_hash
                FROM current_items WHERE group_key <> '' AND task IN ({marks}))
            GROUP BY group_key, text_hash HAVING count(DISTINCT item_id) > 1)
        JOIN (SELECT text_hash, length(body) AS characters FROM texts) USING (text_hash) GROUP BY group_key""",
        list(tasks),
    )
    return {group: int(count) for group, count in rows}


def measured_pace(study: Study, tasks: set[str], characters: dict[str, int] | None = None) -> Pace:
    """Active seconds of a label, and of reading a shared text: what the first label of a text takes beyond the rest."""
    marks = ", ".join("?" for _ in tasks)
    rows = study.rows(
        f"""SELECT group_key, seconds, opens FROM (
            SELECT task, group_key, ms / 1000.0 AS seconds, group_key <> '' AND row_number() OVER (
                PARTITION BY annotator, group_key ORDER BY first_clock) = 1 AS opens
            FROM (SELECT item_id, annotator, sum(active_ms) AS ms, min(clock) AS first_clock FROM label_events
                WHERE round = 0 GROUP BY item_id, annotator HAVING sum(active_ms) > 0
                    AND bool_or(kind = 'label' AND {DECIDED}))
            JOIN (SELECT item_id, task, group_key FROM current_items) USING (item_id))
        WHERE task IN ({marks})""",
        list(tasks),
    )
    later = [float(seconds) for _, seconds, opens in rows if not opens]
    first = [(float(seconds), (characters or {}).get(group, 0)) for group, seconds, opens in rows if opens]
    measured = len(later) >= LEAST_MEASURED
    seconds = fmean(later) if measured else SECONDS_A_LABEL
    read = sum(count for _, count in first)
    if measured and len(first) >= LEAST_MEASURED and read > 0:
        reading = fmean(taken for taken, _ in first) - seconds
        chance = math.sqrt(variance(later) / len(later) + variance(taken for taken, _ in first) / len(first))
        if reading > BEYOND_CHANCE * chance:
            return Pace(seconds, len(later), read / (reading * len(first)), len(first))
    return Pace(seconds, len(later) if measured else 0, CHARACTERS_PER_SECOND, 0)
