"""Ctrl-C ends long calls: each of these would take minutes, and is to end when the signal comes."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("scipy")

START = """
import os, signal, sys, threading
import numpy as np, motes, pandas as pd
from scipy import sparse

def points(n, frames, step):
    rng = np.random.default_rng(1)
    at = rng.random((n, 3)) * n ** (1 / 3)
    moved = [at + rng.normal(0, step, at.shape) for _ in range(frames)]
    return pd.DataFrame(np.concatenate(moved), columns=list("zyx")).assign(frame=np.repeat(np.arange(frames), n))

def interrupt_while(call):
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        call()
    except KeyboardInterrupt:
        print("heard")
"""

CALLS = {
    "link, pairs": "f = points(100_000, 8, 0.6)\ninterrupt_while(lambda: motes.link(f, 3.0))",
    "link, memory": "f = points(100_000, 8, 0.6)\ninterrupt_while(lambda: motes.link(f, 3.0, memory=2))",
    "link, series": "f = points(20_000, 40, 0.4)\ninterrupt_while(lambda: motes.link(f))",
    "simulate": """
flow = dict(flow="turbulence", flow_modes=1000)  # little memory, much arithmetic
interrupt_while(lambda: motes.simulate(particles=100_000, frames=100, **flow))
""",
    "simulate, few particles": """
flow = dict(flow="turbulence", flow_modes=4096)
interrupt_while(lambda: motes.simulate(particles=2, frames=1_000_000, **flow))
""",
    "analyse": """
n, frames = 300, 60_000  # a sum over all pairs of points takes minutes
tracks = motes.Tracks(
    offsets=np.arange(n + 1) * frames, track_id=np.arange(n), frame=np.tile(np.arange(frames), n),
    **{axis: np.random.default_rng(1).normal(size=n * frames) for axis in "xyz"},
    time_s=np.zeros(n * frames), detection=np.full(n * frames, -1),
)
interrupt_while(lambda: motes.analyse(tracks, max_lag=frames - 1))
""",
    "sparse assignment": """
rng = np.random.default_rng(1)
n = 1_000_000
pairs = np.r_[rng.integers(0, n, 5 * n), np.arange(n)], np.r_[rng.integers(0, n, 5 * n), rng.permutation(n)]
graph = sparse.coo_array((rng.random(6 * n) + 0.1, pairs), shape=(n, n)).tocsr()
interrupt_while(lambda: motes.matching.min_weight_full_bipartite_matching(graph))
""",
}


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_the_call(name):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", START + CALLS[name]], capture_output=True, text=True, timeout=110
    )
    assert done.stdout.strip() == "heard", done.stderr


def simulating(tmp_path, program):
    """A command that simulates for minutes: the executable, or the command of the wheel."""
    config = tmp_path / "c.yaml"
    config.write_text("simulation: {particles: 2, frames: 1000000, flow: turbulence, flow_modes: 4096}")
    words = ["motes", "simulate", str(config), "-o", str(tmp_path / "out")]
    if program == "executable":
        if "MOTES_EXECUTABLE" not in os.environ:
            pytest.skip("MOTES_EXECUTABLE is not set")
        return [os.environ["MOTES_EXECUTABLE"], *words[1:]]
    return [sys.executable, "-c", f"from motes import _core\nraise SystemExit(_core._command({words!r}))"]


def wait_until_it_computes(command):
    """Until it has taken a processor for half a second."""
    ticks = os.sysconf("SC_CLK_TCK")
    for _ in range(600):
        fields = Path(f"/proc/{command.pid}/stat").read_text().rsplit(")", 1)[1].split()
        if int(fields[11]) > ticks / 2:
            return
        time.sleep(0.05)


@pytest.mark.parametrize("program", ["executable", "wheel"])
def test_ctrl_c_ends_the_command_that_simulates(tmp_path, program):
    with subprocess.Popen(simulating(tmp_path, program), stderr=subprocess.PIPE, text=True) as command:
        wait_until_it_computes(command)
        command.send_signal(signal.SIGINT)
        try:
            _, said = command.communicate(timeout=40)
        finally:
            command.kill()
    assert command.returncode == 130, said
    assert "interrupted" in said
    assert not (tmp_path / "out" / "truth.h5").exists()


SPIN_VARIABLES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")


def run_showing_openmp(command, given):
    """Runs it with these variables; OpenMP's library prints its own on standard error when it is loaded."""
    environment = {k: v for k, v in os.environ.items() if k not in SPIN_VARIABLES}
    return subprocess.run(
        command, env=environment | given | {"OMP_DISPLAY_ENV": "verbose"}, capture_output=True, text=True, check=True
    )


def spins_as_told(ran, given):
    """Whether the library was loaded once, and its idle threads spin as often as `given` says, or briefly."""
    (spins,) = re.findall(r"GOMP_SPINCOUNT = '(\d+)'", ran.stderr)
    if "OMP_WAIT_POLICY" in given:
        return int(spins) > 1000
    return spins == given.get("GOMP_SPINCOUNT", "1000")


@pytest.mark.parametrize("given", [{}, {"OMP_WAIT_POLICY": "active"}, {"GOMP_SPINCOUNT": "7"}])
def test_idle_threads_of_the_program_spin_briefly_unless_told_otherwise(given):
    if "MOTES_EXECUTABLE" not in os.environ:
        pytest.skip("MOTES_EXECUTABLE is not set")
    assert spins_as_told(run_showing_openmp([os.environ["MOTES_EXECUTABLE"], "--version"], given), given)


@pytest.mark.parametrize("given", [{}, {"OMP_WAIT_POLICY": "active"}, {"GOMP_SPINCOUNT": "7"}])
def test_idle_threads_of_the_package_spin_briefly_unless_told_otherwise(given):
    code = f"import os, motes; print({{k: v for k, v in os.environ.items() if k in {SPIN_VARIABLES}}})"
    ran = run_showing_openmp([sys.executable, "-c", code], given)
    assert ran.stdout == f"{given}\n"  # other libraries' threads are left as they are
    assert spins_as_told(ran, given)
