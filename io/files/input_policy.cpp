/// The process-wide input policy.

#include <atomic>

#include <motes/io/input_policy.h>

namespace motes::io {
namespace {

std::atomic<bool> trusted{false}, allow_outside{false};

}  // namespace

InputPolicy input_policy() { return {trusted.load(), allow_outside.load()}; }

void set_input_policy(const InputPolicy& policy) {
  trusted.store(policy.trusted);
  allow_outside.store(policy.allow_outside);
}

}  // namespace motes::io
