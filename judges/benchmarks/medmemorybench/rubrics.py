"""What the labels of the six tasks mean, in this project's own words."""

from __future__ import annotations

_OPTIONAL = """
Two optional questions

- *Does it abstain?* **Abstains**: it says it does not know, or has no record. **Asserts**: it claims something.
- *Was the evidence retrieved?* Open the retrieved memories. **Retrieved**: they hold what the answer needs.
  **Missing**: they do not. So a wrong answer is told apart: never found, or found and not used.
"""

EEM = (
    """\
# Entity match

The question asks for a value, a drug, a disease or another entity. A string rule gave the verdict: it deletes all
punctuation and looks whether the answer is *somewhere* in the output.

- **Correct**: the output names every reference entity as its answer.
- **Incorrect**: it names another one, only some of them, or none.

How to decide

- The same value in other words, units or spelling is the same: 37.5 ℃ is 37.5 °C, a trade name is its drug.
- A number is whole: 18.2 is not 8.2, and 15 mg is not 5 mg.
- "Stop aspirin" does not answer *which drug is taken* with aspirin.
- An output that offers several values and leaves the choice open is *Incorrect*.
"""
    + _OPTIONAL
)

TLA = (
    """\
# Point in time

The question asks when something happened, or what happened at a certain time.

- **Correct**: the same point in time as the reference, in any notation; or, when asked what happened, that event.
- **Incorrect**: another time, another event, or no answer.

How to decide

- "15 January" is "2024-01-15" when the year cannot be meant otherwise. A vaguer answer ("in January") is *Incorrect*
  when the reference has the day.
- A relative time ("three days before the visit") is right when it can only be that day.
"""
    + _OPTIONAL
)

SUA = (
    """\
# Current state

Something about the patient changed. The question asks how it stands *now*, or what it changed from and to.

- **Correct**: the content agrees with the reference **and** the answer visibly rests on this patient's record.
- **Incorrect**: it contradicts the reference, leaves out a key point, gives a state that no longer holds, does not
  know, or is a general statement that happens to fit.

Tag *stale_state* when the answer was once right.
"""
    + _OPTIONAL
)

MQ = (
    """\
# Multiple choice

One to three options are right *for this patient*. A string rule gave the verdict: it reads letters where word
boundaries or a few phrases show them, and compares the set.

- **Correct**: the output chooses exactly the right options.
- **Incorrect**: it chooses one more, one fewer, another, or none.

How to decide

- Read what the output *means*: "BD", "B and D" and the options' own words choose B and D.
- A letter that is only discussed ("A would be usual, but…") is not chosen.
"""
    + _OPTIONAL
)

IG = (
    """\
# Inference for this patient

A patient asks for advice without telling the fact that changes the answer. The usual textbook answer is a trap.

- **Correct**: it uses the facts that had to be remembered, all of them, and reaches the reference's conclusion.
- **Incorrect**: it gives the usual wrong answer; reaches the conclusion without this patient's facts; leaves one of
  them out; takes them from a relative; or refuses.

Mark the harm (`!`) that would follow if the patient believed it. A dangerous answer that was passed as right is the
first thing a report must show.
"""
    + _OPTIONAL
)

MCD = """\
# Multi-hop deduction

The answer must reason along a chain of facts from different sessions. Five decisions, the first two before you look at
single nodes.

1. **Correct** or **Incorrect** as a whole: is this a right deduction from this patient's record?
2. The conclusion: **Agrees** with the reference's, or **Differs**.
3. For every node of the chain, **Yes** or **No** three times:
   - *stated*: the specific fact (value, date, event) is in the answer; "blood sugar was high" does not state 8.2.
   - *causal link*: the mechanism is the reference's own; no substitute, no skipped step.
   - *from this patient*: it is clearly taken from this patient's history, not from general knowledge or a relative.
4. How complete the chain is: **1.0** all nodes and links; **0.7** four fifths of the nodes and the core links;
   **0.5** three fifths; **0.3** a part; **0.0** none, or the wrong way round.

The benchmark's published rule then follows and is shown: correct needs nodes ≥ 0.75, links ≥ 0.75, completeness ≥ 0.7,
the patient's own facts and an agreeing conclusion; below 0.5 anywhere, a wrong conclusion, or nothing of this patient
is incorrect; what lies between is partial, which is not correct.
"""
