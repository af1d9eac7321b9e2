/// Signal handlers of this process, and the thread that handles the signals.

#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include <semaphore.h>

#include <motes/base/system/signals.h>

namespace motes::system {
namespace {

static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only use lock-free atomics");
std::atomic<std::atomic<bool>*> flag{nullptr};
sem_t unanswered;  // counts the signals that the thread has not handled yet

extern "C" void on_signal(int) {
  const int error = errno;
  flag.load()->store(true);
  sem_post(&unanswered);
  errno = error;
}

}  // namespace

bool answer_end_signals(std::atomic<bool>& requested, std::function<void()> answer) {
  flag.store(&requested);
  sem_init(&unanswered, 0, 0);
  try {
    std::thread([answer = std::move(answer)] {
      for (;;)
        if (sem_wait(&unanswered) == 0) answer();
    }).detach();
  } catch (const std::system_error&) {
    return false;
  }
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  if (std::signal(SIGHUP, on_signal) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
  return true;
}

void ignore_end_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
}

void ignore_write_signals() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

}  // namespace motes::system
