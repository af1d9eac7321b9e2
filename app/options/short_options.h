#pragma once
/// Short options of `track` and `detect` for frequently used configuration keys.

#include <map>
#include <string>

#include "app/options/command_options.h"
#include "app/options/config.h"

namespace motes::app {

/// The values as given, by name ("gate"); empty for options that were not given.
using ShortOptions = std::map<std::string, std::string>;

/// Each set includes the ones before it.
enum class ShortOptionSet {
  units,      ///< --voxel, --dt: for files of tracks
  detection,  ///< --channel, --axes, --radius, --threshold
  linking,    ///< --gate, --min-length
};

/// Adds the options of the set. The help of each is the first sentence of its key's description.
void add_short_options(CommandOptions command, ShortOptions& values, ShortOptionSet set);

/// The name of the short option that set this key; empty if none did.
std::string short_option_of(const ShortOptions& values, const std::string& key);

/// Sets the keys of the given options. Throws UsageError that names the option.
void apply_short_options(const ShortOptions& values, Config& config);

}  // namespace motes::app
