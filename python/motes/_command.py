"""The command line of the wheel."""

import sys


def main():
    from . import _core

    raise SystemExit(_core._command(["motes", *sys.argv[1:]]))
