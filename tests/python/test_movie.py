"""motes render --movie: what ffmpeg makes of it, and nothing half-written where it fails."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import motes
from test_tracking import STACK

EXECUTABLE = os.environ.get("MOTES_EXECUTABLE")
pytestmark = pytest.mark.skipif(EXECUTABLE is None, reason="MOTES_EXECUTABLE names no program with VTK")


def render(*words, cwd, path=None, size="321x240"):
    environment = dict(os.environ, PATH=path) if path else None
    command = [EXECUTABLE, "render", "t.h5", "--size", size, *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment)


@pytest.fixture
def folder(tmp_path):
    motes.write(tmp_path / "t.h5", motes.track(STACK).tracks)
    tried = render("-o", "try.png", cwd=tmp_path)
    if tried.returncode != 0:
        pytest.skip(tried.stderr.strip())
    (tmp_path / "try.png").unlink()
    return tmp_path


def left(folder):
    return sorted(p.name for p in folder.iterdir())


def programs(folder, ffmpeg=None):
    """A PATH with Xvfb, and an ffmpeg that is this script."""
    place = folder.parent / (folder.name + "-bin")
    place.mkdir()
    if shutil.which("Xvfb"):
        (place / "Xvfb").symlink_to(shutil.which("Xvfb"))
    if ffmpeg:
        (place / "ffmpeg").write_text("#!/bin/sh\n" + ffmpeg)
        (place / "ffmpeg").chmod(0o755)
    return str(place)


def stream(path):
    words = ["-v", "error", "-count_frames", "-show_streams", "-of", "json", path]
    [found] = json.loads(subprocess.run(["ffprobe", *words], capture_output=True, check=True).stdout)["streams"]
    return found["codec_name"], found["width"], found["height"], int(found["nb_read_frames"]), found["r_frame_rate"]


@pytest.mark.skipif(shutil.which("ffprobe") is None, reason="ffmpeg is not installed")
def test_a_movie_plays_the_frames_or_turns(folder):
    done = render("--movie", "a.mp4", "--fps", "5", "--tail", "3", "--json", "a.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert stream(folder / "a.mp4") == ("h264", 320, 240, 12, "5/1")  # even sides, one picture a frame
    assert json.loads((folder / "a.json").read_text())["pictures"] == 12
    assert render("--movie", "b.GIF", "--until", "4", "--frame", STACK, cwd=folder).returncode == 0
    assert stream(folder / "b.GIF")[:4] == ("gif", 321, 240, 5)
    assert render("--movie", "c.mp4", "--turn", cwd=folder, size="120x120").returncode == 0
    assert stream(folder / "c.mp4")[3] == 120
    assert left(folder) == ["a.json", "a.mp4", "b.GIF", "c.mp4", "t.h5"]


@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed")
def test_without_ffmpeg_one_line_says_what_to_install(folder):
    done = render("--movie", "a.mp4", cwd=folder, path=programs(folder))
    assert done.returncode == 4
    assert "ffmpeg is not installed" in done.stderr and done.stderr.count("motes: error") == 1
    assert left(folder) == ["t.h5"]


@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed")
@pytest.mark.parametrize("reads", ["", "while read -r line; do :; done\n"])
def test_where_ffmpeg_fails_its_last_line_is_shown(folder, reads):
    Path(folder / "a.mp4").write_bytes(b"before")
    path = programs(folder, reads + "echo first >&2; echo no such encoder >&2; exit 3\n")
    done = render("--movie", "a.mp4", cwd=folder, path=path)
    assert done.returncode == 4
    assert "a.mp4: ffmpeg failed (exit code 3): no such encoder" in done.stderr
    assert left(folder) == ["a.mp4", "t.h5"] and (folder / "a.mp4").read_bytes() == b"before"


def test_options_that_do_not_go_together(folder):
    for words, what in (
        (("--movie", "a.avi"), "not an .mp4 or .gif file"),
        (("--movie", "a.mp4", "-o", "a.png"), "give one of them"),
        (("--turn", "-o", "a.png"), "only for a movie"),
        (("--movie", "a.mp4", "--fps", "0"), "--fps"),
        ((), "-o PICTURE.png, or --movie"),
    ):
        done = render(*words, cwd=folder)
        assert done.returncode == 2 and what in done.stderr
    assert left(folder) == ["t.h5"]
