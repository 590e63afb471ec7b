"""Held-out English text that language models are compared on. Written for this project."""

HELD_OUT = """\
The lighthouse keeper wrote in his log every evening, even when there was nothing to say. On most
days he noted the wind, the height of the waves, and the names of the ships that passed. When the
fog came in, the horn sounded twice a minute, and he slept in short pieces between the signals.

In the spring of the third year a young engineer arrived with a crate of instruments. She wanted to
know how far the light could really be seen, and at what angle the lens threw most of it away. They
measured for two weeks. The answer was simpler than either had expected: a film of salt, thinner
than paper, took almost a third of the light before it left the tower.

"Clean the glass more often," she said, and closed her notebook. He laughed, since he had cleaned it
every morning for eleven years. Then he began to clean it at night as well.
"""
