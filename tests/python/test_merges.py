"""Tracks that merge: edges, selections, tables, files and scores."""

from dataclasses import replace

import numpy as np

import motes
from test_tracking import mother_and_daughters


def two_that_merge():
    """The same in reversed time: 8 and 9 become 7."""
    t = mother_and_daughters()
    frame = np.array([2, 3, 4, 0, 1, 1], np.int32)
    return replace(t, frame=frame, time_s=frame * 0.5, parent=None, merged_into=np.array([-1, 7, 7]))


def test_merges(tmp_path):
    t = two_that_merge()
    assert t.to_napari()[2] == {7: [8, 9]}
    assert sorted(map(tuple, t._edges().tolist())) == [(0, 1), (1, 2), (3, 4), (4, 0), (5, 0)]
    assert t[[0, 2]].merged_into.tolist() == [-1, 7] and t[1:].merged_into.tolist() == [-1, -1]
    assert motes.Tracks.from_dataframe(t.to_dataframe()).merged_into.tolist() == [-1, 7, 7]
    for name in ("t.h5", "t.csv", "t.geff", "t.trackmate.xml"):
        motes.write(tmp_path / name, t)
        back = motes.read(tmp_path / name)
        assert dict(zip(back.track_id.tolist(), back.merged_into.tolist())) == {7: -1, 8: 7, 9: 7}
        assert back.parent is None
    scores = motes.score(t, t, gate=0.1)
    assert (scores["merge"]["true"], scores["merge"]["f1"], scores["division"]["true"]) == (1, 1, 0)
    assert motes.score(mother_and_daughters(), mother_and_daughters(), gate=0.1)["division"]["f1"] == 1
