"""The time that idle threads of the compiled side spin before they sleep."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def spin_briefly() -> Iterator[None]:
    """Loads the compiled side with threads that spin for microseconds, not milliseconds, as the command does.

    Where other programs want the processors too, spinning threads take the time of those that have
    work. GCC's OpenMP reads its variables once, when it is loaded.
    """
    if "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ:
        yield
        return
    os.environ["GOMP_SPINCOUNT"] = "1000"
    try:
        yield
    finally:
        del os.environ["GOMP_SPINCOUNT"]
