"""Objects of one kind given in the place of another, and how results present themselves."""

import motes
import numpy as np
import pytest

pandas = pytest.importorskip("pandas")


def linked_table():
    rows = [(t, k, 5 * k + 0.1 * t, 3.0 * k) for t in range(5) for k in range(4)]
    return pandas.DataFrame(rows, columns=["frame", "particle", "x", "y"])


def test_results_paths_and_tables_in_the_place_of_tracks(tmp_path):
    linked = linked_table()
    tracks = motes.Tracks.from_dataframe(linked)
    result = motes.Result(tracks, {}, None, None, [], [])
    with pytest.raises(TypeError, match="not Result; give its attribute tracks"):
        motes.analyse(result)
    for call in (lambda: motes.write(linked, tmp_path / "a.csv"), lambda: motes.write(tracks, "a.csv")):
        with pytest.raises(TypeError, match="write takes the path first"):
            call()
    with pytest.raises(TypeError, match="not DataFrame; Tracks.from_dataframe"):
        motes.read(linked)
    with pytest.raises(TypeError, match="not ndarray; motes.track takes images"):
        motes.read(np.zeros(3))
    for gate in (None, "a", [1, 2]):
        with pytest.raises(TypeError, match="gate: .* is not a length"):
            motes.score(tracks, tracks, gate)
    motes.write(bytes(tmp_path / "a.csv"), tracks)
    assert len(motes.read(bytes(tmp_path / "a.csv"), voxel_um=1)) == 4


def test_one_of_a_kind_is_counted_in_the_singular():
    tracks = motes.Tracks.from_dataframe(linked_table())
    assert repr(tracks) == "<Tracks: 4 tracks of 20 points, in um>"
    assert repr(tracks[0]) == "<Tracks: 1 track of 5 points, in um>"
    assert "1 pair, cost 3," in repr(motes.matching.assign([[3]]))
