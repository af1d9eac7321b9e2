#include "sim/random.h"

#include <stdexcept>

namespace motes::sim::detail {

void refuse_poisson_mean() { throw std::invalid_argument("Random::poisson: mean outside [0, 1e9]"); }

}  // namespace motes::sim::detail
