"""``python -m dromos``: the command line, also where the ``dromos`` script is not on the path."""

from dromos.cli import main

if __name__ == "__main__":
    main()
