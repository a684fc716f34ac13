"""The entry point of the frozen program. PyInstaller reads this file; nothing else imports it."""

from __future__ import annotations

import multiprocessing
import sys

multiprocessing.freeze_support()  # first: a child that a library starts this way comes through here too

if __name__ == "__main__":
    from sanderling.__main__ import main

    sys.exit(main())
