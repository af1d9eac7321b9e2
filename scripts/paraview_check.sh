#!/usr/bin/env bash
# Opens a result folder of `motes track` in ParaView and checks it: scripts/paraview_check.sh TRACKS_FOLDER
# PICTURE.png Uses pvpython if it is installed. On Debian, python3-paraview and libvtk9-dev exclude each other; as
# root, this script then installs ParaView into a temporary overlay of the system, which is removed afterwards.
set -euo pipefail
folder=$(realpath "$1") picture=$(realpath -m "$2")
script=$(realpath "$(dirname "$0")/paraview_check.py")
if command -v pvpython >/dev/null; then
  exec xvfb-run -a pvpython "$script" "$folder" "$picture"
fi
[ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || {
  echo "paraview_check: pvpython is not installed (ParaView 5.10 or later), and only root on Debian can set it up aside" >&2
  exit 4
}
overlay=$(mktemp -d)
trap 'umount -l "$overlay"/root/{dev,proc} "$overlay/root" "$overlay" 2>/dev/null; rmdir "$overlay" 2>/dev/null' EXIT
mount -t tmpfs -o size=6g tmpfs "$overlay"
mkdir "$overlay"/{upper,work,root}
mount -t overlay overlay -o "lowerdir=/,upperdir=$overlay/upper,workdir=$overlay/work" "$overlay/root"
mount -t proc proc "$overlay/root/proc"
mount --rbind /dev "$overlay/root/dev"
mkdir -p "$overlay/root/check/in"
cp -r "$folder/." "$overlay/root/check/in/"
cp "$script" "$overlay/root/check/"
echo "Installing ParaView in a throw-away overlay"
chroot "$overlay/root" sh -c 'export DEBIAN_FRONTEND=noninteractive; apt-get update -qq &&
  apt-get install -y -qq --no-install-recommends paraview python3-paraview xvfb xauth >/dev/null 2>&1'
status=0
# In a new process namespace, so that the X server ends with it.
unshare --pid --fork --kill-child chroot "$overlay/root" sh -c 'cd /check && xvfb-run -a pvpython paraview_check.py in out.png' || status=$?
cp "$overlay/root/check/out.png" "$picture" 2>/dev/null || true
cp "$overlay/root/check/out-speed.png" "${picture%.png}-speed.png" 2>/dev/null || true
exit $status
