/// Several ranks: errors that one rank meets alone, and ranks that are killed.

#include "app/ranks.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <motes/base/errors.h>

#include "app/command.h"

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
  const int here = launched().local_size;
  if (here > 1 && config.execution.threads == 0) {
    // Launchers may bind a rank to some cores; those that it sees are then its own.
    const auto cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    execution.threads = std::max(1, std::min(thread_count(execution), cores / here));
  }
  return execution;
}

namespace {

/// Waits for `child`, and kills it where the launcher is gone: it would else go on alone, or wait for ever
/// for the other ranks. Returns its status.
int wait_while_launched(pid_t child, pid_t launcher, int until_closed) {
  constexpr int kLook = 200;  // ms
  for (;;) {
    pollfd end{until_closed, POLLIN, 0};
    poll(&end, 1, kLook);
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return status;
    if (getppid() != launcher) kill(child, SIGKILL);
    if ((end.revents & POLLHUP) != 0) usleep(1000);  // its end is closed, and it is not quite gone
  }
}

}  // namespace

int run_watched(const std::function<int()>& work) {
  const pid_t launcher = getppid(), parent = getpid();
  int ends[2] = {-1, -1};  // closed at the child's side when it ends
  if (pipe2(ends, O_CLOEXEC) != 0) return work();
  const pid_t child = fork();
  if (child < 0) return work();  // no process is to be had: the launcher tells of a killed rank
  if (child == 0) {
    close(ends[0]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(static_cast<int>(ExitCode::resources));
    return work();
  }
  // The launcher signals both processes; the child answers.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  close(ends[1]);
  const int status = wait_while_launched(child, launcher, ends[0]);
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  const bool by_launcher = signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
  if (!by_launcher) {
    const std::string line = "motes: error: rank " + std::to_string(launched().rank) + " was killed (" +
                             strsignal(signal) +
                             (signal == SIGKILL ? "; where memory ran out, use fewer ranks for each machine"
                                                : "; please report this") +
                             "); all ranks end. motes track --resume goes on after the finished frames\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  }
  _exit(static_cast<int>(ExitCode::resources));
}

}  // namespace motes::app
