"""The six MedMemoryBench tasks as data: labels, keys, parts, panels, tags. The rubrics' words are in `rubrics`."""

from __future__ import annotations

from judges.benchmarks.benchmark import Label, Panel, Part, TaskDefinition
from judges.benchmarks.medmemorybench import rubrics
from judges.benchmarks.medmemorybench.chain import AGREES, CC, COLUMNS, CONCLUSION, DIFFERS, NO, NODES, YES
from judges.benchmarks.medmemorybench.people import ABSTAINED, EVIDENCE
from judges.benchmarks.medmemorybench.shapes import CORRECT, INCORRECT

COMMON_TAGS = ("stale_state", "family_members_fact", "generic_reasoning", "confident_without_evidence")

QUESTION = Panel("text", "question", "Question", role="question")
REFERENCE = Panel("text", "reference", "Reference answer", role="reference")
EXPLANATION = Panel("text", "explanation", "Why the reference is right")
RESPONSE = Panel("text", "response", "Answer of the system", role="response")
KEY_POINTS = Panel("list", "key_points", "Key points of the record", judge_saw=False, role="gold", folded=True)
RETRIEVED = Panel("list", "retrieved", "Retrieved memories", judge_saw=False, folded=True)
UNSEEN_EXPLANATION = Panel("text", "explanation", "Why the reference is right", judge_saw=False, folded=True)


def _verdict(correct: str, incorrect: str) -> tuple[Label, ...]:
    return (Label(CORRECT, "Correct", "c", "1", correct), Label(INCORRECT, "Incorrect", "i", "2", incorrect))


OPTIONAL_PARTS = (
    Part(
        ABSTAINED,
        "Does the answer abstain?",
        (
            Label("yes", "Abstains", "a", "3", "It says it does not know, or has no record."),
            Label("no", "Asserts", "o", "4", "It claims something."),
        ),
        required=False,
    ),
    Part(
        EVIDENCE,
        "Was the needed evidence retrieved?",
        (
            Label("yes", "Retrieved", "h", "5", "The memories hold what the answer needs."),
            Label("no", "Missing", "m", "6", "They do not."),
        ),
        required=False,
    ),
)

EEM = TaskDefinition(
    task="eem",
    title="Entity match",
    question="Does the answer name the reference entity?",
    level="nominal",
    labels=_verdict("Names every reference entity, in any spelling.", "Another entity, only some, or none."),
    panels=(QUESTION, REFERENCE, RESPONSE, UNSEEN_EXPLANATION, KEY_POINTS, RETRIEVED),
    parts=OPTIONAL_PARTS,
    tags=(*COMMON_TAGS, "number_or_unit", "same_in_other_words", "negated", "several_offered"),
    rubric=rubrics.EEM,
)

TLA = TaskDefinition(
    task="tla",
    title="Point in time",
    question="Is it the reference's point in time, or the event at it?",
    level="nominal",
    labels=_verdict("The same time or event, in any notation.", "Another time or event, or no answer."),
    panels=(QUESTION, REFERENCE, EXPLANATION, RESPONSE, KEY_POINTS, RETRIEVED),
    parts=OPTIONAL_PARTS,
    tags=(*COMMON_TAGS, "wrong_date", "too_vague", "same_in_other_words"),
    rubric=rubrics.TLA,
)

SUA = TaskDefinition(
    task="sua",
    title="Current state",
    question="Does the answer give the current state, from this patient's record?",
    level="nominal",
    labels=_verdict("Agrees, and rests on this patient's record.", "Stale, incomplete, general, unknown, or wrong."),
    panels=(QUESTION, REFERENCE, EXPLANATION, RESPONSE, KEY_POINTS, RETRIEVED),
    parts=OPTIONAL_PARTS,
    tags=(*COMMON_TAGS, "partial_answer", "number_or_unit", "same_in_other_words"),
    rubric=rubrics.SUA,
)

MQ = TaskDefinition(
    task="mq",
    title="Multiple choice",
    question="Does the answer choose exactly the right options?",
    level="nominal",
    labels=_verdict("Exactly the right options.", "One more, one fewer, another, or none."),
    panels=(
        QUESTION,
        REFERENCE,
        RESPONSE,
        Panel("list", "options", "Options, with reasons", judge_saw=False, folded=True),
        Panel("list", "trap", "What makes it a trap", judge_saw=False, folded=True),
        UNSEEN_EXPLANATION,
        KEY_POINTS,
        RETRIEVED,
    ),
    parts=OPTIONAL_PARTS,
    tags=(*COMMON_TAGS, "letters_misread", "only_discussed", "fell_into_trap"),
    rubric=rubrics.MQ,
)

IG = TaskDefinition(
    task="ig",
    title="Inference for this patient",
    question="Does the answer reach the reference's conclusion from this patient's facts?",
    level="nominal",
    labels=_verdict(
        "Uses every fact that had to be remembered, and agrees.", "Falls into the trap, lacks a fact, or is general."
    ),
    panels=(
        QUESTION,
        REFERENCE,
        EXPLANATION,
        Panel("list", "trap", "What makes it a trap"),
        RESPONSE,
        KEY_POINTS,
        RETRIEVED,
    ),
    parts=OPTIONAL_PARTS,
    tags=(*COMMON_TAGS, "fell_into_trap", "lacks_a_fact", "right_for_wrong_reason", "refuses"),
    rubric=rubrics.IG,
)

MCD = TaskDefinition(
    task="mcd",
    title="Multi-hop deduction",
    question="Is it a right deduction from this patient's record?",
    level="nominal",
    labels=_verdict("The right conclusion along this patient's chain.", "Another conclusion, or not along the chain."),
    panels=(
        QUESTION,
        REFERENCE,
        EXPLANATION,
        Panel("list", "chain", "Chain of the reference"),
        Panel("list", "required", "Must be recalled"),
        RESPONSE,
        KEY_POINTS,
        RETRIEVED,
    ),
    parts=(
        Part(
            CONCLUSION,
            "Does the conclusion agree with the reference?",
            (
                Label(AGREES, "Agrees", "a", "3", "The same conclusion, whatever the way to it."),
                Label(DIFFERS, "Differs", "b", "4", "Another conclusion, or none."),
            ),
        ),
        Part(
            NODES,
            "For every node: is it stated, with its causal link, from this patient?",
            (
                Label(YES, "Yes", "y", "1", "It is so, clearly."),
                Label(NO, "No", "n", "0", "It is not, or not clearly."),
            ),
            kind="checklist",
            columns=COLUMNS,
            rows_field="nodes",
        ),
        Part(
            CC,
            "How complete is the chain?",
            (
                Label("1.0", "1.0", "h", "5", "All nodes and all causal links."),
                Label("0.7", "0.7", "k", "6", "At least four fifths of the nodes, and the core links."),
                Label("0.5", "0.5", "l", "7", "At least three fifths of the nodes."),
                Label("0.3", "0.3", "m", "8", "A part of the chain."),
                Label("0.0", "0.0", "o", "9", "None of it, or the wrong way round."),
            ),
        ),
    ),
    tags=(*COMMON_TAGS, "other_mechanism", "skipped_step", "wrong_way_round"),
    rubric=rubrics.MCD,
)

TASKS = (EEM, TLA, SUA, MQ, IG, MCD)
