"""Garbage is looked for seldom: what a command makes lives about as long as it does, and looking takes a tenth of a check.

To be imported before what it is to help.
"""

import gc

gc.set_threshold(50_000, 20, 50)
