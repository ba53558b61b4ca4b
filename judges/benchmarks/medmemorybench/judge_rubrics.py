"""What an LLM judge of MedMemoryBench is told, in this project's own words, for all six types.

The benchmark scores entities and multiple choice by string rules; an LLM judge of these two is a second reading.
"""

from __future__ import annotations

from judges.rubric import Rubric

_HEAD_EN = """\
You check the answers of a medical assistant that should remember its patient. You are strict: the answer has to be
right for this patient, not only plausible."""
_HEAD_ZH = """\
你负责检查一个应当记得患者情况的医疗助手的回答。请严格评判：回答必须对这位患者是正确的，而不只是看起来合理。"""

_EEM_EN = f"""{_HEAD_EN}

The question asks for one or more entities: a value, a drug, a disease, a test.

- correct: the response gives every entity of the reference as its answer. Another spelling, unit notation or an
  equivalent name is the same entity.
- incorrect: it gives another entity, only some of them, or none; offers several and leaves the choice open; or names it
  only to deny it.

A number is the same only as a whole: 18.2 is not 8.2."""
_EEM_ZH = f"""{_HEAD_ZH}

问题询问一个或多个实体：数值、药物、疾病或检查。

- correct：回答给出了参考答案中的每一个实体。写法、单位表示不同或等价的名称视为同一实体。
- incorrect：给出别的实体、只给出一部分或没有给出；列出多个而不作选择；或只是在否定时提到。

数字必须整体相同：18.2 不是 8.2。"""

_TLA_EN = f"""{_HEAD_EN}

The question asks when something happened, or what happened at a certain time.

- correct: the response reaches the same point in time as the reference, in whatever notation; or, if the question asks
  what happened, the right event.
- incorrect: another time or event, one that is too vague to be the same, or no answer."""
_TLA_ZH = f"""{_HEAD_ZH}

问题询问某事何时发生，或某一时间发生了什么。

- correct：回答得到与参考答案相同的时间点，格式可以不同；如果问的是发生了什么，则事件内容正确。
- incorrect：时间或事件不同，过于含糊而不能视为相同，或没有回答。"""

_SUA_EN = f"""{_HEAD_EN}

Something about the patient changed, and the question asks how it stands now, or what it changed from and to.

- correct: the content agrees with the reference, and the response visibly rests on this patient's record.
- incorrect: it contradicts the reference, leaves out a key point, gives a state that no longer holds, says that it does
  not know, or is a general statement that happens to fit."""
_SUA_ZH = f"""{_HEAD_ZH}

患者的某项情况发生了变化，问题询问现在的状态，或由什么变为什么。

- correct：内容与参考答案一致，并且回答明显依据这位患者的记录。
- incorrect：与参考答案矛盾、遗漏关键点、给出已过时的状态、表示不知道，或只是碰巧说中的笼统说法。"""

_MQ_EN = f"""{_HEAD_EN}

The question has options; one or several are right for this patient.

- correct: the response chooses exactly the options of the reference.
- incorrect: one more, one fewer, another, or none.

Read what the response means. An option that it only discusses is not chosen; options may be named by their words."""
_MQ_ZH = f"""{_HEAD_ZH}

问题带有选项，其中一个或多个对这位患者是正确的。

- correct：回答所选的选项与参考答案完全一致。
- incorrect：多选、少选、选错或没有选择。

以回答的意思为准。只被讨论的选项不算选择；选项也可以用文字内容指明。"""

_IG_EN = f"""{_HEAD_EN}

A patient asks for advice and does not mention the fact that changes it. The usual textbook answer is a trap; what the
trap is stands in the item.

- correct: the response uses facts of this patient, all those that had to be remembered, and its conclusion fully agrees
  with the reference.
- incorrect: it reaches the right conclusion without this patient's facts, lacks one that was needed, gives the common
  wrong answer, or refuses."""
_IG_ZH = f"""{_HEAD_ZH}

患者在咨询时没有提到会改变结论的事实。通常的教科书式回答是一个陷阱；陷阱内容见待评内容。

- correct：回答使用了这位患者的具体事实，且所有必须记住的事实都得到体现，结论与参考答案完全一致。
- incorrect：没有依据患者事实却得出正确结论、缺少必需的事实、给出常见的错误回答，或拒绝回答。"""

_MCD_EN = f"""{_HEAD_EN}

The answer has to be deduced along a chain of facts from different sessions. The chain of the reference stands in the
item, with its nodes. Decide for every node three times:

- stated: the specific fact of the node (value, date, event) is in the response.
- causal: its mechanism is the reference's own; no substitute, no skipped step.
- patient: it clearly comes from this patient's memory, not from general knowledge.

Then decide how complete the chain is (1.0 all nodes and links; 0.7 at least four fifths of the nodes and the core
links; 0.5 at least three fifths; 0.3 a part; 0.0 none, or the wrong way round), and whether the conclusion agrees
with the reference.

- correct needs all of: the share of stated nodes at least 0.75, the share of right causal links at least 0.75,
  completeness at least 0.7, and an agreeing conclusion.
- incorrect if any of: nothing specific to this patient, generic reasoning, another mechanism, another conclusion, or
  one of the three scores below 0.5.
- Between the two the answer is only partly right: that is incorrect."""
_MCD_ZH = f"""{_HEAD_ZH}

答案必须沿着一条由不同会话中的事实构成的链推导出来。参考的推理链及其节点见待评内容。对每个节点作三次判断：

- stated：回答中有该节点的具体事实（数值、日期、事件）。
- causal：因果机制与参考一致；没有用别的机制替代，也没有跳步。
- patient：明显来自这位患者的记忆，而不是常识。

然后判断推理链的完整程度（1.0 全部节点与联系；0.7 至少五分之四的节点和核心联系；0.5 至少五分之三；0.3 只有一部分；
0.0 没有或方向相反），并判断结论是否与参考一致。

- correct 需要同时满足：具体陈述的节点比例不低于 0.75，正确因果联系的比例不低于 0.75，完整程度不低于 0.7，且结论一致。
- incorrect：有任何一项即是——没有患者特有的信息、推理笼统、机制不同、结论不同，或三项分数中有一项低于 0.5。
- 介于两者之间只是部分正确，判为 incorrect。"""

RUBRICS = {
    "eem": Rubric({"en": _EEM_EN, "zh": _EEM_ZH}),
    "tla": Rubric({"en": _TLA_EN, "zh": _TLA_ZH}),
    "sua": Rubric({"en": _SUA_EN, "zh": _SUA_ZH}),
    "mq": Rubric({"en": _MQ_EN, "zh": _MQ_ZH}),
    "ig": Rubric({"en": _IG_EN, "zh": _IG_ZH}),
    "mcd": Rubric({"en": _MCD_EN, "zh": _MCD_ZH}),
}
