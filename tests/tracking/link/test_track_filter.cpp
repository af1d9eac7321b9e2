#include <catch2/catch.hpp>

#include <motes/tracking/track_filter.h>

using namespace motes;

TEST_CASE("short tracks are removed with all their data, and no others are") {
  TrackSet tracks;
  tracks.track_offsets = {0, 1, 4, 6};
  tracks.track_id = {5, 7, 9};
  tracks.parent = {-1, 5, 7};
  tracks.merged_into = {7, 9, -1};
  tracks.frame = {3, 0, 1, 2, 4, 5};
  tracks.detection = {10, 11, 12, 13, 14, 15};
  tracks.time_s = tracks.x_um = tracks.y_um = tracks.z_um = {0, 1, 2, 3, 4, 5};
  tracks.point_properties = {{"mass", {0, 1, 2, 3, 4, 5}}};
  tracks.track_properties = {{"mean", {0, 1, 2}}};
  CHECK(without_short_tracks(tracks, 1).track_id == tracks.track_id);

  const TrackSet two = without_short_tracks(tracks, 2);
  CHECK(two.track_offsets == std::vector<std::int64_t>{0, 3, 5});
  CHECK(two.track_id == std::vector<std::int64_t>{7, 9});
  CHECK(two.parent == std::vector<std::int64_t>{-1, 7});
  CHECK(two.merged_into == std::vector<std::int64_t>{9, -1});
  CHECK(two.frame == std::vector<std::int32_t>{0, 1, 2, 4, 5});
  CHECK(two.detection == std::vector<std::int64_t>{11, 12, 13, 14, 15});
  CHECK(two.z_um == std::vector<double>{1, 2, 3, 4, 5});
  CHECK(two.point_properties[0].values == two.x_um);
  CHECK(two.track_properties[0].values == std::vector<double>{1, 2});

  CHECK(without_short_tracks(tracks, 3).track_id == std::vector<std::int64_t>{7});
  const TrackSet none = without_short_tracks(tracks, 4);
  CHECK(none.tracks() == 0);
  CHECK(none.points() == 0);
  CHECK(none.track_offsets == std::vector<std::int64_t>{0});
}
