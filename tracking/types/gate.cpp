#include <cmath>
#include <sstream>
#include <string>

#include <motes/base/errors.h>
#include <motes/tracking/gate.h>

namespace motes::tracking {

std::string to_string(GateSource source) {
  switch (source) {
    case GateSource::none:
      return "none";
    case GateSource::length:
      return "linking.gate_um";
    case GateSource::speed:
      return "linking.max_speed_um_s";
    case GateSource::estimated:
      return "estimated";
  }
  return "";
}

void require_length(const Gate& gate) {
  if (!(gate.um > 0) || !std::isfinite(gate.um))
    throw UsageError("linking.gate_um must be a positive length, not " + std::to_string(gate.um));
  if (gate.um >= kLeastGate && gate.um <= kMostGate) return;
  std::ostringstream message;
  message << "linking.gate_um is " << gate.um << "; give a length from " << kLeastGate << " to " << kMostGate;
  throw UsageError(message.str());
}

}  // namespace motes::tracking
