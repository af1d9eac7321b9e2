/// The error of Random::poisson.

#include <stdexcept>

#include <motes/base/random.h>

namespace motes::random_detail {

void refuse_poisson_mean() { throw std::invalid_argument("Random::poisson: mean outside [0, 1e9]"); }

}  // namespace motes::random_detail
