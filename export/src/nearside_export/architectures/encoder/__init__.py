"""Text encoders of BERT's kind, from token ids to one vector a text.

One block serves every family (:mod:`.families`): they differ in names of tensors, in where
positions begin and in whether there are token types. No mask is needed: one text a call, without
padding.
"""
