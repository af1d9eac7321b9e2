#pragma once
/// Every reader of motes under one name, for the fuzzer and for the inputs that are kept.

#include <string>
#include <string_view>
#include <vector>

namespace motes::fuzz {

std::vector<std::string> reader_names();

/// The reader reads these bytes, or refuses them with one of the project's errors; anything else (another
/// exception, a sanitizer's report, a hang, too much memory) is a finding. Returns false if there is no
/// reader of that name.
bool run_reader(std::string_view name, std::string_view bytes);

}  // namespace motes::fuzz
