#pragma once
/// The layout of a picture of tracks in pixels, independent of any graphics library: panels with lines in
/// space seen by a camera, and axes, labels and a colour bar drawn over them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <motes/tracking/track_set.h>

#include "app/render/colours.h"
#include "app/render/view.h"

namespace motes::app {

struct RenderOptions {
  std::string colour = "track";                    ///< "track", "time", "speed", or the name of a property
  std::optional<std::pair<double, double>> range;  ///< ends of the colour scale; none: those of the data
  int width = 1600, height = 1200;
  double azimuth_deg = 30, elevation_deg = 20;
  std::optional<std::int32_t> until;  ///< last frame drawn; none: the last one
  std::optional<std::int32_t> tail;   ///< number of frames drawn, up to the last; none: all
  double line_width = 2;              ///< pixels
  bool on_black = false, axes = true, points = false;
};

/// The tracks of one panel.
struct RenderInput {
  std::string path;   ///< for error messages
  std::string title;  ///< empty: none
  TrackSet tracks;
};

/// Drawn over the panels, in pixels from the picture's lower left corner.
struct Overlay {
  struct Line {
    Pixel from, to;
  };
  struct Swatch {
    Rect area;
    Colour colour;
  };
  struct Text {
    Pixel at;
    std::string words;
    double size;     ///< pixels
    int across, up;  ///< -1: the text begins (lies above) there, 0: is centred, 1: ends (lies below) there
    bool upright = false;  ///< written from bottom to top
  };
  std::vector<Line> lines;
  std::vector<Swatch> swatches;
  std::vector<Text> texts;
};

/// One set of tracks in the box.
struct Panel {
  Rect area;
  View view;
  std::vector<Vec3> points;     ///< [points]
  std::vector<Colour> colours;  ///< [points]
  std::vector<std::pair<std::size_t, std::size_t>>
      lines;                                       ///< joined points [first, second); a single one is a dot
  std::vector<std::size_t> marks;                  ///< points with a marker: the last of each track
  std::vector<std::pair<Vec3, Vec3>> edges, grid;  ///< of the box, behind the tracks
};

struct Picture {
  int width = 0, height = 0;
  bool on_black = false;
  double line_width = 2;
  Colour background{}, ink{}, faint{};             ///< ink: labels and edges; faint: the grid
  Box3 box;                                        ///< shown by every panel
  std::optional<std::pair<double, double>> range;  ///< of the colour bar; none: colours distinguish tracks
  std::vector<Panel> panels;
  Overlay overlay;
};

/// The smallest box around all finite points and `contents` (if given), extended to ticks nearby. Every side
/// has a length. Throws InputError if there is no finite point.
Box3 box_of(std::span<const RenderInput> inputs, const std::optional<Box3>& contents);

/// Lays the picture out: one panel per input, all with the same box and colour scale, so that they can be
/// compared. A line is broken at missing frames and at points that are not finite. `contents`: the box of the
/// volume, if there is one. Throws UsageError for an unknown property (naming the nearest), inputs in
/// different length units, or a picture too small for its panels; InputError if no point is finite.
/// O(points).
Picture lay_out(const RenderOptions& options, std::span<const RenderInput> inputs,
                const std::optional<Box3>& contents = std::nullopt);

}  // namespace motes::app
