"""Messages in English, whatever the locale of the machine that runs the tests."""

import os

os.environ["LC_ALL"] = "C.UTF-8"
# As MindSpore sets it: which test is the first to load protobuf is chance, and the other implementation keeps MindSpore out.
os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")
