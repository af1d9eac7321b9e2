#pragma once
/// What the files of the option table share.

#include <vector>

#include "app/codec.h"
#include "app/options.h"

/// The row of `config.member`; the macro spares each row a generic lambda spelled out.
#define MOTES_AT(member) [](auto& config) -> decltype((config.member)) { return config.member; }

namespace motes::app {

/// Appends the rows of the sections simulation, faults and imaging.
void add_simulation_options(std::vector<Option>& table);

}  // namespace motes::app
