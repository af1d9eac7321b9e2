#pragma once
/// Shared by the files of the option table.

#include <vector>

#include "app/options/codec.h"
#include "app/options/options.h"

/// The accessor of `config.member` for row(), as a generic lambda.
#define MOTES_AT(member) [](auto& config) -> decltype((config.member)) { return config.member; }

namespace motes::app {

/// Appends the rows of the sections simulation, faults and imaging.
void add_simulation_options(std::vector<Option>& table);

}  // namespace motes::app
