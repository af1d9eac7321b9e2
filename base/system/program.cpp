/// Processes on Linux: see program.h.

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <motes/base/checksum.h>
#include <motes/base/errors.h>
#include <motes/base/system/descriptor.h>
#include <motes/base/system/program.h>
#include <motes/base/system/signals.h>

namespace motes::system {
namespace {

constexpr int kResources = static_cast<int>(ExitCode::resources);

int signal_of(Ending ending) { return ending == Ending::request ? SIGTERM : SIGKILL; }

/// A number for this machine, its current boot and this container; within these a process number is unique.
/// 0 if unknown.
std::uint32_t this_system() {
  static const std::uint32_t system = [] {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string start;
    std::getline(file, start);
    std::error_code error;
    const std::string processes = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
    return start.empty() || error ? 0 : static_cast<std::uint32_t>(fnv1a64(start + processes));
  }();
  return system;
}

std::string hexadecimal(std::uint32_t value) {
  std::string digits(8, '0');
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit, value >>= 4)
    *digit = "0123456789abcdef"[value & 15];
  return digits;
}

/// Waits for the child and returns its status. If the launcher ends, kills the child, which could otherwise
/// continue alone or wait for other ranks forever. `from_child`: a pipe whose other end is closed when the
/// child ends.
int wait_while_launched(pid_t child, pid_t launcher, int from_child) {
  constexpr int kCheckMs = 200;
  for (;;) {
    pollfd end{from_child, POLLIN, 0};
    poll(&end, 1, kCheckMs);
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return status;
    if (getppid() != launcher) kill(child, SIGKILL);
    if ((end.revents & POLLHUP) != 0) usleep(1000);  // the child has closed the pipe, but has not fully ended
  }
}

}  // namespace

/// Between fork and exec only async-signal-safe calls are allowed, since other threads may hold locks.
int start_program(const std::vector<std::string>& words, const ProgramFiles& files, Ending ending) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, signal_of(ending));
  if (getppid() != parent) _exit(1);
  const int nothing = open("/dev/null", O_RDWR);
  dup2(files.input < 0 ? nothing : files.input, 0);
  dup2(files.output < 0 ? nothing : files.output, 1);
  dup2(files.errors < 0 ? nothing : files.errors, 2);
  if (files.kept >= 0) fcntl(files.kept, F_SETFD, 0);
  execvp(arguments[0], arguments.data());
  _exit(kNotInstalled);
}

int wait_for_program(int process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int end_program(int process, Ending ending) {
  kill(process, signal_of(ending));
  return wait_for_program(process);
}

void continue_in_watched_child(const std::function<void(const EndingSignal&)>& on_signal) {
  const pid_t launcher = getppid(), parent = getpid();
  int error = 0;
  Pipe pipe = make_pipe(error);
  if (error != 0) return;
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) {
    pipe.read_end.close();
    static Descriptor* const open_to_the_end =
        new Descriptor(std::move(pipe.write_end));  // deliberately never closed
    static_cast<void>(open_to_the_end);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kResources);
    return;
  }
  ignore_end_signals();
  pipe.write_end.close();
  const int status = wait_while_launched(child, launcher, pipe.read_end.number());
  if (!WIFSIGNALED(status)) _exit(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  on_signal(
      {strsignal(signal), signal == SIGTERM || signal == SIGINT || signal == SIGHUP, signal == SIGKILL});
  _exit(kResources);
}

int this_process() { return getpid(); }

std::string process_mark() {
  return hexadecimal(this_system()) + hexadecimal(static_cast<std::uint32_t>(getpid()));
}

bool has_ended(std::string_view mark) {
  const std::uint32_t system = this_system();
  if (system == 0 || mark.size() != 16 || mark.substr(0, 8) != hexadecimal(system)) return false;
  int process = 0;
  const auto [end, error] = std::from_chars(mark.data() + 8, mark.data() + 16, process, 16);
  return error == std::errc() && end == mark.data() + 16 && process > 0 && kill(process, 0) != 0 &&
         errno == ESRCH;
}

void set_environment(const char* name, const char* value) {
  if (value != nullptr)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

/// Uses the program's own path, not /proc/self/exe, so that its name in lists of processes does not change.
double seconds_since_start() {
  std::ifstream in("/proc/self/stat");
  std::string text;
  std::getline(in, text);
  const auto name_end = text.rfind(')');  // the name before it may have any characters
  if (name_end == std::string::npos) return 0;
  constexpr int kStartTime = 19;  // number of fields after the name
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  for (int i = 0; i < kStartTime; ++i) fields >> field;
  long long ticks = 0;
  timespec now{};
  if (!(fields >> ticks) || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0;
  const double started = static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec) - started;
}

}  // namespace motes::system
