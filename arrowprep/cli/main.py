"""`arrowprep COMMAND`: finds the command's module and runs it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

import arrowprep
from arrowprep.errors import ArrowprepError

# a module of this package each: SUMMARY, add_arguments(parser), run(arguments)
COMMANDS = ("demo", "env", "cache", "chat", "tokenizer")


def parser() -> argparse.ArgumentParser:
    """The whole command line; a command's module is small, so all are asked for their options."""
    main = argparse.ArgumentParser("arrowprep", description="Prepare text and chat datasets for training.")
    main.add_argument("--version", action="version", version=f"arrowprep {arrowprep.__version__}")
    commands = main.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        module = import_module(f"arrowprep.cli.{name}")
        command = commands.add_parser(name, help=module.SUMMARY, description=module.__doc__)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return main


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status. An error of ours is one line, not a traceback."""
    options = parser().parse_args(arguments)
    try:
        options.run(options)
    except ArrowprepError as error:
        print(f"arrowprep {options.command}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
