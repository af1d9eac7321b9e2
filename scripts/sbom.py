#!/usr/bin/env python3
"""Prints a software bill of materials of an executable, as CycloneDX 1.5 JSON.

    scripts/sbom.py build/release/bin/motes > motes.cdx.json

It lists every shared library that the loader finds for the executable, with its Debian package and version (unknown
elsewhere) and its SHA-256, the header-only packages that are compiled in, and GCC's OpenMP library if that is linked
statically. Order and contents depend only on the executable and the installed packages.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
from urllib.parse import quote

HEADERS_ONLY = ("libcli11-dev", "libeigen3-dev", "libnanoflann-dev", "nlohmann-json3-dev")


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def package_of(path):
    """(package, version) of the file; ("", "") if it belongs to no package."""
    for name in (path, os.path.realpath(path), re.sub("^/usr", "", os.path.realpath(path))):
        owner = output_of("dpkg-query", "-S", name).split(": ")[0]
        if owner:
            return owner, output_of("dpkg-query", "-W", "-f=${Version}", owner.split(",")[0])
    return "", ""


def component(name, version, package="", file=""):
    entry = {"type": "library", "name": name, "version": version or "unknown"}
    if package:
        entry["purl"] = f"pkg:deb/debian/{package.split(':')[0]}@{quote(version, safe='')}"
    if file:
        with open(file, "rb") as data:
            entry["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(data.read()).hexdigest()}]
    return entry


def main():
    if len(sys.argv) != 2 or not os.path.isfile(sys.argv[1]):
        sys.exit("usage: scripts/sbom.py EXECUTABLE")
    executable = sys.argv[1]
    linked = re.findall(r"^\s*(\S+) => (/\S+)", output_of("ldd", executable), re.M)
    components = []
    for soname, path in sorted(linked):
        package, version = package_of(path)
        components.append(component(soname, version, package, path))
    for package in HEADERS_ONLY:
        version = output_of("dpkg-query", "-W", "-f=${Version}", package)
        if version:
            components.append(component(package, version, package))
    if not any(soname.startswith("libgomp") for soname, _ in linked):
        path = output_of("c++", "-print-file-name=libgomp.a").strip()
        if os.path.isfile(path):
            package, version = package_of(path)
            components.append(component("libgomp.a", version, package, path))
    words = output_of(executable, "--version").split()
    subject = component("motes", words[-1] if words else "", file=executable) | {"type": "application"}
    json.dump({"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
               "metadata": {"component": subject}, "components": components}, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
