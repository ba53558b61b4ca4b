"""The four HaluMem tasks as data: labels, keys, panels, tags. The rubrics' words are in `rubrics`."""

from __future__ import annotations

from judges.benchmarks.benchmark import Label, Panel, Part, TaskDefinition
from judges.benchmarks.halumem import rubrics

COMMON_TAGS = ("fabrication", "error", "conflict", "omission")

DIALOGUE_NOT_SEEN = Panel("dialogue", "dialogue", "Dialogue of the session", judge_saw=False, folded=True)

INTEGRITY = TaskDefinition(
    task="integrity",
    title="Memory integrity",
    question="How much of this memory point is in what the system stored for the session?",
    level="ordinal",
    labels=(
        Label("2", "Covered", "c", "2", "All of the point is stored, or follows from what is stored."),
        Label("1", "Partly", "p", "1", "Some of it is stored, or a detail is missing, vague or slightly wrong."),
        Label("0", "Missing", "m", "0", "It is not there, or what is there is wrong."),
    ),
    panels=(
        Panel("text", "memory_content", "Memory point", role="gold"),
        Panel("list", "extracted", "Stored by the system", role="response"),
        DIALOGUE_NOT_SEEN,
    ),
    tags=(*COMMON_TAGS, "wrong_value", "too_vague", "split_over_entries"),
    rubric=rubrics.INTEGRITY,
)

ACCURACY = TaskDefinition(
    task="accuracy",
    title="Memory accuracy",
    question="Do the dialogue or the memory points support what the system stored?",
    level="ordinal",
    labels=(
        Label("2", "All supported", "a", "2", "Every single fact in it is supported."),
        Label("1", "Mixed", "m", "1", "Some facts are supported, others are not."),
        Label("0", "None supported", "z", "0", "No fact in it is supported, or it is contradicted."),
    ),
    panels=(
        Panel("text", "memory_content", "Stored by the system", role="gold"),
        Panel("list", "gold", "Memory points of the session", role="reference"),
        Panel("dialogue", "dialogue", "Dialogue of the session"),
    ),
    parts=(
        Part(
            "included",
            "Are the fields it speaks of in the memory points?",
            (
                Label("true", "Inside", "i", "7", "Every field it speaks of is one that the memory points have."),
                Label("false", "Outside", "o", "8", "At least one field is not among the memory points."),
            ),
        ),
    ),
    tags=(*COMMON_TAGS, "mixed_facts", "said_by_assistant_only", "outside_knowledge", "not_a_memory"),
    rubric=rubrics.ACCURACY,
)

UPDATE = TaskDefinition(
    task="update",
    title="Memory update",
    question="Has the system taken up the change from the old to the new version?",
    level="nominal",
    labels=(
        Label("Correct", "Correct", "c", "1", "All of the new version is there and the old one no longer stands."),
        Label("Hallucination", "Hallucination", "h", "2", "A related new memory is there, but its facts are wrong."),
        Label("Omission", "Omission", "o", "3", "No related new memory, or one that lacks what matters."),
        Label("Other", "Other", "z", "4", "It failed in a way that is neither."),
    ),
    panels=(
        Panel("list", "original_memories", "Old version"),
        Panel("text", "memory_content", "New version", role="gold"),
        Panel("list", "retrieved", "Retrieved from the system", role="response"),
        DIALOGUE_NOT_SEEN,
    ),
    tags=(*COMMON_TAGS, "wrong_value", "old_version_stands", "both_versions_stand"),
    rubric=rubrics.UPDATE,
)

QA = TaskDefinition(
    task="qa",
    title="Question answering",
    question="Does the response agree with the reference?",
    level="nominal",
    labels=(
        Label("Correct", "Correct", "c", "1", "Says the same as the reference, and nothing that changes it."),
        Label(
            "Hallucination", "Hallucination", "h", "2", "Contradicts it, or claims what the reference calls unknown."
        ),
        Label("Omission", "Omission", "o", "3", "Incomplete, or “don't know” although the evidence is there."),
    ),
    panels=(
        Panel("text", "question", "Question", role="question"),
        Panel("text", "reference", "Reference", role="reference"),
        Panel("list", "evidence", "Evidence", role="gold"),
        Panel("text", "response", "Response", role="response"),
        Panel("text", "context", "Retrieved from the system", judge_saw=False, folded=True),
        DIALOGUE_NOT_SEEN,
    ),
    tags=(*COMMON_TAGS, "partial_answer", "should_be_unknown", "adds_detail", "same_in_other_words"),
    rubric=rubrics.QA,
)

TASKS = (INTEGRITY, ACCURACY, UPDATE, QA)
