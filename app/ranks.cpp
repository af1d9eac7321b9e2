/// Commands on several ranks: errors on a single rank, and killed ranks.

#include "app/ranks.h"

#include <algorithm>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include <motes/base/errors.h>
#include <motes/base/system/program.h>
#include <motes/base/system/terminal.h>
#include <motes/base/system/threads.h>

#include "app/command.h"

namespace motes::app {

void on_ranks(const std::function<void(Communicator*)>& body) {
  if (launched().size == 1) return body(nullptr);
  Communicator& ranks = world();
  const auto end_all = [&](ExitCode code, std::string_view message) {
    if (ranks.has_agreed_error()) throw;  // every rank has it, and rank 0 reports it
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

void everywhere(Communicator* ranks, const std::function<void()>& body) {
  ranks != nullptr ? ranks->agreed(body) : body();
}

void on_first_rank(Communicator* ranks, const std::function<void()>& body) {
  if (ranks == nullptr) return body();
  std::exception_ptr failure;
  if (ranks->rank() == 0) {
    try {
      body();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  ranks->rest();
  ranks->agreed([&] {
    if (failure != nullptr) std::rethrow_exception(failure);
  });
}

Execution share_of_threads(const Config& config) {
  Execution execution = execution_of(config);
  execution.device = share_of_devices(config).front();
  const int here = launched().local_size;
  if (here > 1 && config.execution.threads == 0) {
    // If the launcher bound this rank to some processors, thread_count gives their number.
    execution.threads = std::max(1, std::min(thread_count(execution), system::online_processors() / here));
  }
  return execution;
}

std::vector<int> share_of_devices(const Config& config) {
  const Launched place = launched();
  return devices_of_rank(devices_of(config), place.local_rank, place.local_size);
}

std::vector<int> devices_of_rank(const std::vector<int>& devices, int rank, int ranks) {
  std::vector<int> mine;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (i % static_cast<std::size_t>(ranks) == static_cast<std::size_t>(rank)) mine.push_back(devices[i]);
  if (mine.empty()) mine.push_back(devices[static_cast<std::size_t>(rank) % devices.size()]);
  return mine;
}

int run_watched(const std::function<int()>& work) {
  system::continue_in_watched_child([](const system::EndingSignal& signal) {
    if (signal.by_request) return;  // by the launcher, which prints the reason
    system::write_error(
        "motes: error: rank " + std::to_string(launched().rank) + " was killed (" + signal.name +
        (signal.killed ? "; if memory ran out, use fewer ranks per machine" : "; please report this") +
        "); all ranks end. motes track --resume continues after the finished frames\n");
  });
  return work();
}

}  // namespace motes::app
