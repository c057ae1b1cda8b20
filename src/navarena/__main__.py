"""`python -m navarena` is the command `navarena`."""

import sys

from navarena.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
