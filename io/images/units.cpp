/// Parses units and numbers in metadata.

#include "io/images/units.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

namespace motes::io::detail {
namespace {

using Unit = std::pair<std::string_view, double>;

constexpr std::array kLengthUnits = {
    Unit{"um", 1.0},          Unit{"micron", 1.0},     Unit{"microns", 1.0},     Unit{"micrometer", 1.0},
    Unit{"micrometers", 1.0}, Unit{"micrometre", 1.0}, Unit{"micrometres", 1.0}, Unit{"nm", 1e-3},
    Unit{"nanometer", 1e-3},  Unit{"nanometre", 1e-3}, Unit{"mm", 1e3},          Unit{"millimeter", 1e3},
    Unit{"millimetre", 1e3},  Unit{"cm", 1e4},         Unit{"m", 1e6},           Unit{"meter", 1e6},
    Unit{"metre", 1e6},       Unit{"in", 25400.0},     Unit{"inch", 25400.0},    Unit{"inches", 25400.0},
    Unit{"pm", 1e-6},         Unit{"\xC3\x85", 1e-4},  Unit{"angstrom", 1e-4},   Unit{"picometer", 1e-6},
    Unit{"centimeter", 1e4}};

constexpr std::array kTimeUnits = {
    Unit{"s", 1.0},          Unit{"sec", 1.0},      Unit{"second", 1.0},       Unit{"seconds", 1.0},
    Unit{"ms", 1e-3},        Unit{"msec", 1e-3},    Unit{"us", 1e-6},          Unit{"ns", 1e-9},
    Unit{"min", 60.0},       Unit{"minute", 60.0},  Unit{"minutes", 60.0},     Unit{"h", 3600.0},
    Unit{"hr", 3600.0},      Unit{"hour", 3600.0},  Unit{"hours", 3600.0},     Unit{"d", 86400.0},
    Unit{"day", 86400.0},    Unit{"days", 86400.0}, Unit{"millisecond", 1e-3}, Unit{"microsecond", 1e-6},
    Unit{"nanosecond", 1e-9}};

/// The text in lower case, with every spelling of the micro sign as u.
std::string normalised(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kMicro = {"\\u00B5", "\\u00b5", "\xC2\xB5", "\xCE\xBC",
                                                             "\xB5"};
  std::string out(trimmed(name));
  for (const std::string_view micro : kMicro) {
    if (out.starts_with(micro)) {
      out.replace(0, micro.size(), "u");
      break;
    }
  }
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
    return c < 128 ? static_cast<char>(std::tolower(c)) : static_cast<char>(c);
  });
  return out;
}

template <std::size_t N>
std::optional<double> find_unit(const std::array<Unit, N>& units, std::string_view name) {
  const std::string wanted = normalised(name);
  const auto found =
      std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.first == wanted; });
  if (found == units.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::optional<double> length_unit_um(std::string_view name) { return find_unit(kLengthUnits, name); }
std::optional<double> time_unit_s(std::string_view name) { return find_unit(kTimeUnits, name); }
std::optional<double> parse_positive(std::string_view text) {
  const std::optional<double> value = parse_trimmed_number(text);
  if (!value || !std::isfinite(*value) || *value <= 0) return std::nullopt;
  return value;
}

}  // namespace motes::io::detail
