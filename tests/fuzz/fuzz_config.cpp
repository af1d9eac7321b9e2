// The YAML configuration and --set, fed with the fuzzer's bytes.

#include <cstdint>
#include <string>

#include <motes/base/errors.h>

#include "app/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  motes::app::Config config;
  try {
    motes::app::load_yaml_text(text, "fuzz", config);
    motes::app::check_consistency(config);
    motes::app::Config again;
    motes::app::load_yaml_text(motes::app::to_yaml(config), "again", again);
    if (motes::app::to_yaml(again) != motes::app::to_yaml(config)) __builtin_trap();
  } catch (const motes::Error&) {
  }
  try {
    motes::app::apply_assignment(config, text);
  } catch (const motes::Error&) {
  }
  return 0;
}
