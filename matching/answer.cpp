/// Texts for the statuses of an answer.

#include <motes/matching/answer.h>

namespace motes::matching {

std::string_view to_string(Status status) {
  switch (status) {
    case Status::optimal:
      return "optimal";
    case Status::within_epsilon:
      return "within_epsilon";
    case Status::heuristic:
      return "heuristic";
    case Status::infeasible:
      return "infeasible";
    case Status::iteration_limit:
      return "iteration_limit";
  }
  return "unknown";
}

}  // namespace motes::matching
