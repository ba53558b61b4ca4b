"""Items of MedMemoryBench once carried slices that followed from a judge's answer. Such a slice belongs to the verdict
and is made of it where it is asked for: on an item an annotator could have met it before a label, and another verdict
would have made another item.
"""

STATEMENTS = (
    """UPDATE items SET slices = json_merge_patch(slices, '{"self_contradicting": null, "rule_doubt": null}')
        WHERE (slices LIKE '%"self_contradicting"%' OR slices LIKE '%"rule_doubt"%')
            AND (SELECT value FROM study WHERE key = 'benchmark') = '"medmemorybench"'""",
)
