"""The command line of the wheel."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    from . import _core

    raise SystemExit(_core._command(["motes", *sys.argv[1:]]))
