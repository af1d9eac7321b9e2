"""Ctrl-C ends long calls: each of these would take minutes, and is to end when the signal comes."""

import signal
import subprocess
import sys
import time

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


def test_ctrl_c_ends_the_command_that_simulates(tmp_path):
    config = tmp_path / "c.yaml"
    config.write_text("simulation: {particles: 2, frames: 1000000, flow: turbulence, flow_modes: 4096}")
    words = ["motes", "simulate", str(config), "-o", str(tmp_path / "out")]
    run = f"from motes import _core\nprint('begins', flush=True)\nraise SystemExit(_core._command({words!r}))"
    with subprocess.Popen([sys.executable, "-c", run], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        assert command.stdout.readline() == "begins\n"
        time.sleep(1)
        command.send_signal(signal.SIGINT)
        _, said = command.communicate(timeout=100)
    assert command.returncode == 130, said
    assert "interrupted" in said
    assert not (tmp_path / "out" / "truth.h5").exists()
