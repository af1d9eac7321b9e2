// Why not run the whole program again under xvfb-run: a library call must not replace its caller's process
// (tests run commands in theirs), and Xvfb itself says which display number it took (-displayfd), so that no
// number has to be guessed. The server is told to die with us (PR_SET_PDEATHSIG), and stands in a process
// group of its own: Ctrl-C must not take it away from under Xlib, which ends a program that loses its
// display.

#include "app/display.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include <X11/Xlib.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <motes/base/errors.h>
#include <motes/base/system/program.h>

namespace motes::app {
namespace {

constexpr int kStartSeconds = 20;

struct Opened {
  ::Display* connection = nullptr;  ///< null where the display cannot be drawn on
  std::string why_not;
};

/// XOpenDisplay only returns null where it fails; VTK would abort the program.
Opened open_display(const char* name) {
  if (name == nullptr || *name == '\0') return {nullptr, "DISPLAY is not set"};
  const std::string called = "DISPLAY=" + std::string(name);
  ::Display* display = XOpenDisplay(name);
  if (display == nullptr) return {nullptr, called + " cannot be opened"};
  int opcode = 0, event = 0, error = 0;
  if (XQueryExtension(display, "GLX", &opcode, &event, &error) != 0) return {display, ""};
  XCloseDisplay(display);
  return {nullptr, called + " has no OpenGL (GLX)"};
}

[[noreturn]] void give_up(const std::string& why) {
  throw ResourceError(
      "render draws through an X display, and " + why +
      "; install Xvfb (apt-get install xvfb), which motes then starts by itself, or give it a "
      "display: xvfb-run -a motes render ...");
}

/// Starts Xvfb, which writes its display's number to `write_end`.
int start_server(int write_end) {
  return system::start_program({"Xvfb", "-displayfd", std::to_string(write_end), "-screen", "0", "64x64x24",
                                "-nolisten", "tcp", "-noreset", "+extension", "GLX"},
                               {.kept = write_end}, system::Ending::request);
}

/// The number that the server wrote; empty where it ended or the time is over.
std::string read_number(int fd) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(kStartSeconds);
  std::string text;
  while (text.find('\n') == std::string::npos) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(limit - std::chrono::steady_clock::now());
    if (left.count() <= 0) return {};
    pollfd waiting{fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    char buffer[32];
    const ssize_t got = ready > 0 ? read(fd, buffer, sizeof buffer) : 0;
    if (got <= 0) return {};
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text.substr(0, text.find('\n'));
}

}  // namespace

Display::Display() {
  const char* given = std::getenv("DISPLAY");
  const auto [connection, why] = open_display(given);
  connection_ = connection;
  if (connection_ != nullptr) return;
  had_former_ = given != nullptr;
  if (had_former_) former_ = given;

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) give_up(why + " (no pipe to Xvfb: " + std::strerror(errno) + ")");
  const int server = start_server(ends[1]);
  const int error = errno;
  close(ends[1]);
  if (server < 0) {
    close(ends[0]);
    give_up(why + " (Xvfb cannot be started: " + std::strerror(error) + ")");
  }
  const std::string number = read_number(ends[0]);
  close(ends[0]);
  if (number.empty()) {
    const bool missing = system::end_program(server, system::Ending::request) == system::kNotInstalled;
    give_up(why + (missing ? ", and Xvfb is not installed" : ", and Xvfb does not start"));
  }
  const std::string name = ":" + number;
  const Opened own = open_display(name.c_str());
  if (own.connection == nullptr) {
    system::end_program(server, system::Ending::request);
    give_up(why + ", and of Xvfb's " + own.why_not);
  }
  connection_ = own.connection;
  server_ = server;
  setenv("DISPLAY", name.c_str(), 1);
}

Display::~Display() {
  XCloseDisplay(static_cast<::Display*>(connection_));
  if (server_ <= 0) return;
  if (had_former_)
    setenv("DISPLAY", former_.c_str(), 1);
  else
    unsetenv("DISPLAY");
  system::end_program(server_, system::Ending::request);
}

}  // namespace motes::app
