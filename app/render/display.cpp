/// Opens a display, or starts Xvfb.
///
/// Running the whole program again under xvfb-run would be simpler, but a library call must not replace its
/// caller's process (tests run commands in theirs). Xvfb reports when it is ready (-displayfd). It ends with
/// this process, and has its own process group: Ctrl-C must not end it before this process, since Xlib ends
/// a program that loses its display.
///
/// The number of the display has three digits. Xvfb would choose the first free one from 0, but hwloc, and
/// with it every MPI program, connects to displays 0 to 9 to look for GPUs, and would end with our server.

#include "app/render/display.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include <X11/Xlib.h>

#include <motes/base/errors.h>
#include <motes/base/system/descriptor.h>
#include <motes/base/system/program.h>

namespace motes::app {
namespace {

constexpr std::chrono::seconds kStartTime{20};
constexpr int kFirstNumber = 100, kNumbers = 900;  ///< numbers of our displays

struct Opened {
  ::Display* connection = nullptr;  ///< null if the display cannot be used
  std::string why_not;
};

/// Tries the display before VTK does, which would abort the program.
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

struct Server {
  int process = -1;
  std::string display;  ///< value for DISPLAY; empty if the server does not start
  std::string why_not;
};

/// Starts Xvfb as this display, and waits until it is ready.
Server start_server(int number) {
  int error = 0;
  system::Pipe pipe = system::make_pipe(error);
  if (error != 0) return {-1, "", std::string("no pipe to Xvfb: ") + std::strerror(error)};
  const std::string name = ":" + std::to_string(number);
  const std::string write_end = std::to_string(pipe.write_end.number());
  const int process = system::start_program({"Xvfb", name, "-displayfd", write_end, "-screen", "0",
                                             "64x64x24", "-nolisten", "tcp", "-noreset", "+extension", "GLX"},
                                            {.kept = pipe.write_end.number()}, system::Ending::request);
  if (process < 0) return {-1, "", std::string("Xvfb cannot be started: ") + std::strerror(errno)};
  pipe.write_end.close();
  if (!system::read_line(pipe.read_end, kStartTime).empty()) return {process, name, ""};
  const bool missing = system::end_program(process, system::Ending::request) == system::kNotInstalled;
  return {-1, "", missing ? "Xvfb is not installed" : "Xvfb does not start"};
}

/// Starts Xvfb with a display number that is not in use.
Server start_server() {
  Server server;
  for (int attempt = 0; attempt < 5; ++attempt) {
    server = start_server(kFirstNumber + (system::this_process() + attempt) % kNumbers);
    if (!server.display.empty()) break;
  }
  return server;
}

}  // namespace

Display::Display() {
  const char* given = std::getenv("DISPLAY");
  const auto [connection, why] = open_display(given);
  connection_ = connection;
  if (connection_ != nullptr) return;
  had_former_ = given != nullptr;
  if (had_former_) former_ = given;

  const Server server = start_server();
  if (server.display.empty()) give_up(why + ", and " + server.why_not);
  const Opened own = open_display(server.display.c_str());
  if (own.connection == nullptr) {
    system::end_program(server.process, system::Ending::request);
    give_up(why + ", and Xvfb's " + own.why_not);
  }
  connection_ = own.connection;
  server_ = server.process;
  system::set_environment("DISPLAY", server.display.c_str());
}

Display::~Display() {
  XCloseDisplay(static_cast<::Display*>(connection_));
  if (server_ <= 0) return;
  system::set_environment("DISPLAY", had_former_ ? former_.c_str() : nullptr);
  system::end_program(server_, system::Ending::request);
}

}  // namespace motes::app
