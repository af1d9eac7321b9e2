#pragma once
/// Ticks, axes and the colour bar.

#include <string>
#include <vector>

#include "app/render/picture.h"

namespace motes::app {

struct Ticks {
  double step = 1;
  std::vector<double> values;       ///< multiples of the step in [low, high]
  std::vector<std::string> labels;  ///< with the decimals that the step needs
};

/// Steps are 1, 2 or 5 times a power of ten; at most `most` + 1 ticks, at least about 0.4 `most`. low < high.
Ticks ticks_between(double low, double high, int most);

/// Adds the box's far edges and a grid on its far faces to the panel; adds ticks, numbers and the names of
/// the axes (with the unit) along three outer edges to the overlay. `size`: of the letters, in pixels.
void add_axes(Panel& panel, Overlay& overlay, const Box3& box, const std::string& unit, double size);

/// Adds a colour bar in `area`, with numbers on its right and the upright name beside them.
void add_colour_bar(Overlay& overlay, const Rect& area, std::pair<double, double> range,
                    const std::string& name, double size, bool on_black);

/// The approximate width of a text in pixels.
double text_width(const std::string& words, double size);

/// The unit with its symbol: "um" becomes a micro sign and "m".
std::string unit_text(const std::string& unit);

}  // namespace motes::app
