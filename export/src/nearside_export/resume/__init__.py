"""Results of long stages, kept until the export that they belong to is done.

`folder` finds and cleans the place, `identity` says what a result depends on, `work` keeps the
results of one export, `container` is a file of them.
"""
