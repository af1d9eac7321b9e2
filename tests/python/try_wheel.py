"""What a wheel must do in an empty environment; scripts/wheel.sh runs it there."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import motes

stack = sys.argv[1]
rows, cols = motes.matching.linear_sum_assignment(np.array([[4.0, 1, 3], [2, 0, 5], [3, 2, 2]]))
assert cols.tolist() == [1, 0, 2]
found = motes.track(stack)
assert len(found.tracks) > 30, found
assert motes.link(found.tracks.to_dataframe(), 0.5).particle.nunique() > 30
with tempfile.TemporaryDirectory() as folder:
    motes.write(Path(folder) / "tracks.h5", found.tracks)
    assert (motes.read(Path(folder) / "tracks.h5").x == found.tracks.x).all()
    command = Path(sys.executable).parent / "motes"
    subprocess.run([command, "track", stack, "-o", "out", "--quiet"], cwd=folder, check=True)
    assert (Path(folder) / "out/tracks.csv").stat().st_size > 1000
maps = Path("/proc/self/maps").read_text()
libraries = {line.split()[-1] for line in maps.splitlines() if ".so" in line and "/usr/lib" in line}
outside = {path for path in libraries if "/lib-dynload/" not in path}  # those are Python's own modules
known = ("libc.so", "libm.so", "libstdc++", "libgcc_s", "libpthread", "libdl", "librt", "libutil", "libresolv", "ld-linux",
         "libz.so", "libffi", "libexpat", "libcrypto", "libssl", "libbz2", "liblzma", "libsqlite", "libuuid",
         "libzstd", "libmpdec")  # fmt: skip; Debian 13's libcrypto loads libzstd, Ubuntu 22.04's decimal libmpdec
strange = sorted(path for path in outside if not Path(path).name.startswith(known))
assert not strange, f"libraries of the system's: {strange}"
print("the wheel works:", found)
