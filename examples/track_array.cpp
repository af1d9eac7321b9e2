// Tracks from arrays of positions: detections of each frame, links between frames, tracks.
#include <iostream>
#include <vector>

#include <motes/tracking/linker.h>

int main() {
  using namespace motes;

  // Positions in um, [frame][particle][x, y, z]. Two particles move along x; a third is there from frame 1.
  const std::vector<std::vector<std::vector<double>>> positions = {
      {{0.0, 0.0, 0.0}, {5.0, 0.0, 0.0}},
      {{5.4, 0.1, 0.0}, {0.5, 0.0, 0.1}, {9.0, 9.0, 9.0}},
      {{1.1, 0.0, 0.0}, {9.0, 9.2, 9.0}, {5.9, 0.0, 0.1}},
  };
  std::vector<Detections> frames;
  for (const auto& points : positions) {
    Detections frame;
    frame.frame = static_cast<int>(frames.size());
    frame.time_s = 0.1 * frame.frame;
    for (const auto& point : points) {
      frame.x_um.push_back(point[0]);
      frame.y_um.push_back(point[1]);
      frame.z_um.push_back(point[2]);
    }
    frames.push_back(frame);
  }

  tracking::LinkOptions options;
  options.candidates.gate = 1;  // longest displacement from one frame to the next
  options.verify = true;        // prove every frame pair's links optimal
  const auto links = tracking::link_frames(Execution{}, frames, options);
  const TrackSet tracks = tracking::build_tracks(frames, links);

  for (std::size_t track = 0; track < tracks.tracks(); ++track) {
    std::cout << "track " << tracks.track_id[track] << ':';
    for (auto point = tracks.track_offsets[track]; point < tracks.track_offsets[track + 1]; ++point) {
      std::cout << "  (" << tracks.x_um[point] << ", " << tracks.y_um[point] << ", " << tracks.z_um[point]
                << ')';
    }
    std::cout << '\n';
  }
  return tracks.tracks() == 3 && tracks.points() == 8 ? 0 : 1;
}
