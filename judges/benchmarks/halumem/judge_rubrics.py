"""What an LLM judge of HaluMem is told, in this project's own words; written from what the benchmark's judge is asked.

Where the benchmark's own wording is in tension with itself (one wrong detail of a compound point), it is decided here.
"""

from __future__ import annotations

from judges.rubric import Rubric

_INTEGRITY_EN = """\
You check how completely a memory system stored what it should have stored.

You get one memory point that should be in the memory, and everything the system stored for that session. Decide how
much of the point the stored entries cover.

- 2: the whole point is stored, or follows necessarily from what is stored.
- 1: a part of it is stored; or something that matters is missing, vague or slightly wrong.
- 0: it is not stored at all, or what is stored about it is wrong.

Rules
- Compare meaning, not wording. The point may be spread over several entries.
- Entries about other things never lower the label.
- If entries contradict each other, count the one that covers the point best.
- If the point is definite and the entry only says "may", "seems to" or "possibly", that is normally 1.
- In a point of several facts one wrong or missing detail gives 1; if its core is wrong or missing, 0."""

_INTEGRITY_ZH = """\
你负责检查记忆系统是否完整地存下了应当记住的内容。

你会看到一条应当被记住的记忆点，以及系统在该会话中存下的全部条目。请判断这些条目覆盖了该记忆点的多少。

- 2：记忆点的全部内容都已存下，或可由已存内容必然推出。
- 1：只存下一部分；或缺少重要信息，或表述含糊，或有轻微错误。
- 0：完全没有存下，或关于它所存的内容是错误的。

规则
- 比较含义，不比较措辞。一个记忆点可以分散在多条条目中。
- 与该记忆点无关的条目不会降低评分。
- 条目互相矛盾时，以覆盖得最好的一条为准。
- 记忆点是确定的事实，而条目只说“可能”“似乎”，通常评 1。
- 由多个事实组成的记忆点：某一细节错误或缺失评 1；核心错误或缺失评 0。"""

_ACCURACY_EN = """\
You check whether what a memory system stored is true to its source.

You get one stored memory, the whole dialogue of the session, and the memory points that were expected from it. Take the
memory apart into its single facts. A fact is supported if the dialogue or a memory point says it. Both speakers'
words are part of the dialogue. Your own knowledge of the world supports nothing.

- 2: every fact is supported.
- 1: some facts are supported, others are not or are contradicted.
- 0: no fact is supported, or what it says is contradicted.

Decide also, apart from that, on the fields: for each fact ask what kind of thing it speaks of (residence, favourite
drink, a certain event). `true` only if every one of these fields occurs among the memory points too. Whether the values
are right plays no part here, nor does whether something is affirmed or denied."""

_ACCURACY_ZH = """\
你负责检查记忆系统存下的内容是否忠于来源。

你会看到一条已存的记忆、该会话的完整对话，以及应当从中提取的记忆点。把这条记忆拆成一个个单独的事实。只要对话或某个记忆点说到了，
该事实就算有依据。对话双方所说的都算。你自己的常识不能作为依据。

- 2：每个事实都有依据。
- 1：部分事实有依据，其余没有依据或与来源矛盾。
- 0：没有任何事实有依据，或内容与来源矛盾。

另外单独判断字段：对每个事实，问它说的是哪一类内容（居住地、喜欢的饮料、某个事件）。
只有当所有这些字段都出现在记忆点中时才选 `true`。
这里不考虑取值是否正确，也不考虑是肯定还是否定。"""

_UPDATE_EN = """\
You check whether a memory system took up a change.

A fact about the user changed from an old version to a new one. You get both versions and what the system retrieved when
it was asked for the new version.

- Correct: everything in the new version is retrieved with its key details exact, and the old version is replaced or
  marked as past.
- Hallucination: a new memory about the change is retrieved, but what it states is wrong.
- Omission: no memory about the change is retrieved, or one that lacks a key detail.
- Other: the update failed in a way that is neither of the two.

What is retrieved besides has no influence. If the old and the new version both stand there as if they were true, decide
which of the labels fits best and say why."""

_UPDATE_ZH = """\
你负责检查记忆系统是否采纳了一次变更。

关于用户的某个事实从旧版本变为新版本。你会看到这两个版本，以及系统在被问到新版本时检索出的内容。

- Correct：新版本的全部内容都被检索到，关键细节准确，且旧版本已被替换或标明已成过去。
- Hallucination：检索到与该变更相关的新记忆，但其陈述是错误的。
- Omission：没有检索到与该变更相关的记忆，或检索到的记忆缺少关键细节。
- Other：更新失败，但不属于以上两种。

同时检索到的其他内容不影响判断。如果旧版本与新版本同时被当作事实保留，请判断哪个标签最合适并说明理由。"""

_QA_EN = """\
You check an answer against a reference.

You get a question, the reference answer, the evidence it rests on (none if the question asks for something that was
never said), and the system's response.

- Correct: the response says the same as the reference, contradicts neither it nor the evidence, and adds no unsupported
  detail that changes the conclusion.
- Hallucination: the response contradicts the reference or the evidence, or states a specific fact where the reference
  says that this is not known.
- Omission: the response is incomplete, or says that it does not know although the evidence has the answer. An answer
  that lacks one of several parts is incomplete.

If both apply, it is Hallucination. Wording, order and length do not matter."""

_QA_ZH = """\
你负责对照参考答案检查回答。

你会看到问题、参考答案、其依据（如果问题问的是从未提到过的内容，则没有依据），以及系统的回答。

- Correct：回答与参考答案意思一致，不与参考答案或依据矛盾，也没有添加会改变结论的无依据细节。
- Hallucination：回答与参考答案或依据矛盾；或者参考答案说“未知”，回答却给出了具体事实。
- Omission：回答不完整；或依据中明明有答案，却说不知道。缺少多个部分中的任何一个都算不完整。

两者同时成立时选 Hallucination。措辞、顺序和长短不影响判断。"""

RUBRICS = {
    "integrity": Rubric({"en": _INTEGRITY_EN, "zh": _INTEGRITY_ZH}),
    "accuracy": Rubric({"en": _ACCURACY_EN, "zh": _ACCURACY_ZH}),
    "update": Rubric({"en": _UPDATE_EN, "zh": _UPDATE_ZH}),
    "qa": Rubric({"en": _QA_EN, "zh": _QA_ZH}),
}
