"""``python -m dromos``: the command line, also if the ``dromos`` script is not on the path."""

from dromos.cli import main

if __name__ == "__main__":
    main()
