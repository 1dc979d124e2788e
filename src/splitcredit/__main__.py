"""What ``python -m splitcredit`` prints: the version, the methods, and where to go on."""

from __future__ import annotations

from splitcredit import __version__
from splitcredit._methods import methods


def main() -> None:
    """Print it."""
    print(f"splitcredit {__version__}: importances and attributions of tree ensembles\n")
    print(methods())
    print("\nIn Python: import splitcredit; help(splitcredit.explain)")


if __name__ == "__main__":
    main()
