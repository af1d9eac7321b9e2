/// motes match under mpirun or srun: errors that one rank meets alone.

#include <iostream>

#include "app/match.h"

namespace motes::app {

void on_ranks(const std::function<void(Communicator*)>& body) {
  if (launched().size == 1) return body(nullptr);
  Communicator& ranks = world();
  const auto end_all = [&](ExitCode code, std::string_view message) {
    if (ranks.has_agreed_error()) throw;  // all ranks have it, and rank 0 tells
    std::cerr << "motes: error: rank " << ranks.rank() << ": ";
    write_one_line(std::cerr, message);
    std::cerr << std::endl;
    ranks.abort(static_cast<int>(code));
  };
  try {
    body(&ranks);
  } catch (const Error& error) {
    end_all(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    end_all(ExitCode::resources, "not enough memory; use more ranks, or a smaller problem");
  } catch (const std::exception& error) {
    end_all(ExitCode::resources, error.what());
  }
}

}  // namespace motes::app
