"""`python -m rlk`."""

from rlk.cli import main

if __name__ == "__main__":
    main()
