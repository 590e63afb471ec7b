"""The decoder of `architectures.decoder` out of operators of ours alone, weights packed.

It is made of a `Decoder` whose weights were rounded (:mod:`.build`) and computes the same.
"""
