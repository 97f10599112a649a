"""`python -m evsurf` is `evsurf`."""

import sys

from evsurf.cli import main

if __name__ == "__main__":
    sys.exit(main())
