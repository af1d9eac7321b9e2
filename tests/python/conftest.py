"""Shared by the tests of the Python package."""

import pytest


def pytest_report_header():
    import motes

    return f"motes from {motes.__path__[0]}"


@pytest.fixture
def rng():
    import numpy as np

    return np.random.default_rng(20261123)
