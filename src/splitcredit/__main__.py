"""``python -m splitcredit`` is the command line."""

from splitcredit.views.cli import main

if __name__ == "__main__":
    main()
