"""Messages in English, whatever the locale of the machine that runs the tests."""

import os

os.environ["LC_ALL"] = "C.UTF-8"
