"""`python -m droidgate`."""

from droidgate.cli import main

if __name__ == "__main__":
    main()
