#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <motes/base/system/program.h>

namespace motes::system {
namespace {

int signal_of(Ending ending) { return ending == Ending::request ? SIGTERM : SIGKILL; }

}  // namespace

/// Between fork and exec only system calls that are safe there: other threads may hold locks.
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

int this_process() { return getpid(); }

double seconds_since_start() {
  std::ifstream in("/proc/self/stat");
  std::string text;
  std::getline(in, text);
  const auto name_end = text.rfind(')');  // the name before it may hold anything
  if (name_end == std::string::npos) return 0;
  constexpr int kStartTime = 19;  // fields between the name and it
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
