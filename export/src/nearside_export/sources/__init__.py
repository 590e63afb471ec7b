"""Where weights come from, one file a kind of source.

Each gives a :class:`~nearside_export.sources.model.ModelSource`: a configuration in Hugging Face's
terms, tensors by Hugging Face's names, the tokenizer. Nothing here touches the network.
"""
