"""Packages side by side: size, quality and speed, measured as apps run them.

:mod:`.subjects` are what is compared; a workload, a file a task, is what they are made to do;
:mod:`.measure` takes turns among them; :mod:`.result` is what came out, :mod:`.table` in words.
"""
