"""What the labels of the four tasks mean, in this project's own words."""

from __future__ import annotations

INTEGRITY = """\
# Memory integrity

Compare **one memory point** with **everything the system stored** for the session.

- **Covered (2)**: all of the point is stored, or follows from what is stored.
- **Partly (1)**: part of it is stored; or something that matters is missing, vague or slightly wrong.
- **Missing (0)**: it is not stored, or what is stored about it is wrong.

How to decide

- Meaning counts, not wording. It may be spread over several entries.
- What is stored besides the point never lowers the label.
- If entries contradict each other, take the one that covers the point best.
- A definite point that is stored only as a possibility ("may", "seems to") is *Partly*.
- A point of several facts: one detail wrong and the rest right is *Partly*; the heart of it wrong is *Missing*.
"""

ACCURACY = """\
# Memory accuracy

Take **one stored memory** apart into its single facts. Each is supported when the **dialogue** or a **memory point** of
the session says so. There are two decisions.

**1. Support**

- **All supported (2)**: every fact is.
- **Mixed (1)**: some are, others are not or are contradicted.
- **None supported (0)**: no fact is, or they are contradicted.

What you know of the world supports nothing. Both speakers count: what only the assistant said is in the dialogue.

**2. Fields**

Ask only *what kind of thing* each fact speaks of (home, favourite drink, a certain event), not whether it is right.

- **Inside**: each of these fields is one that the memory points have too.
- **Outside**: at least one is not.
"""

UPDATE = """\
# Memory update

A fact about the user changed. Look at what the system **retrieves** when it is asked for the **new version**.

- **Correct**: all of the new version is retrieved, key details exact; the old version is replaced or marked as past.
- **Hallucination**: a memory about the change is there, but it states it wrongly.
- **Omission**: nothing about the change is there, or what is there lacks a key detail.
- **Other**: the update failed in a way that is neither of these.

If old and new version both stand as if true, the rubric gives no rule: decide, tag it, and say why in a note.
"""

QA = """\
# Question answering

Compare the **response** with the **reference**, in the light of the **evidence**.

- **Correct**: it says the same, contradicts nothing, and adds nothing that changes the conclusion.
- **Hallucination**: it contradicts the reference or the evidence; or it names a fact where the reference says that this
  is not known.
- **Omission**: it is incomplete, or says "I don't know" although the evidence has the answer. An answer that lacks one
  of several parts is incomplete.

Both at once is *Hallucination*. A question without evidence asks for something that was never said: the right answer is
that this is not known.
"""
