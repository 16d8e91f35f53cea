"""From a plan in a file back to a RunSpec.

What is in the plan and not in the run has one word for each reason. *Lost*: a setting that no file
holds. *Not passed again*: code, or an object. *Not installed*: a component, here. *Left out*: by
`no:NAME`. *Gone*: a component that the run does not have in the end, for any of these reasons or
because acting does without it.
"""
