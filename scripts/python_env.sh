# Sourced by scripts that build the Python package. python_env makes an environment for it in build/python-env, and sets
# $python_bin to its interpreter; if that fails, $python_bin is empty, and a message gives the reason.

python_needs=(nanobind numpy scipy pandas pytest pytest-timeout "trackpy>=0.6" networkx h5py tifffile zarr dask geff
  pyarrow matplotlib nbclient ipykernel mypy numpydoc xarray polars)
python_must=(nanobind numpy scipy pandas pytest pytest-timeout)

# no_python REASON: the build continues without the package.
no_python() {
  echo "motes: the Python package is left out: $1"
  python_bin=""
}

python_env() {
  local python=${MOTES_PYTHON:-python3} env=$root/build/python-env log=$root/build/python-env.log
  python_bin=""
  [ "$python" = OFF ] && { no_python "MOTES_PYTHON=OFF"; return; }
  command -v "$python" >/dev/null || { no_python "there is no $python"; return; }
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { no_python "it needs Python 3.10"; return; }
  "$python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    { no_python "there is no Python.h (Debian: python3-dev)"; return; }
  python_bin=$env/bin/python
  local stamp="${python_needs[*]} $("$python" --version)"
  [ "$(cat "$env/stamp" 2>/dev/null)" = "$stamp" ] && return
  mkdir -p "$root/build"
  rm -rf "$env"
  "$python" -m venv "$env" >"$log" 2>&1 || { no_python "python3 -m venv fails (Debian: python3-venv); see $log"; return; }
  # Packages that only some tests use may be missing: those tests are then skipped, with a message.
  timeout 300 "$python_bin" -m pip install -q --prefer-binary "${python_needs[@]}" >"$log" 2>&1 ||
    timeout 300 "$python_bin" -m pip install -q --prefer-binary "${python_must[@]}" >>"$log" 2>&1 ||
    { no_python "pip cannot install ${python_must[*]} (no network?); see $log"; return; }
  echo "$stamp" >"$env/stamp"
}
