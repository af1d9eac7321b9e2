#pragma once
/// An X display for off-screen drawing, also on machines without one.

#include <string>

namespace motes::app {

/// A usable display during the object's lifetime: that of the variable DISPLAY if it can be opened and
/// supports OpenGL (GLX); else an Xvfb, which is started and becomes DISPLAY. Nothing is shown on either.
/// Must outlive every window.
class Display {
 public:
  /// Throws ResourceError, with what to install or run, if there is neither.
  Display();
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;
  bool own() const { return server_ > 0; }  ///< whether an Xvfb was started

 private:
  /// Kept open: a server resets itself when its last client disconnects, and drops clients that connect
  /// meanwhile.
  void* connection_ = nullptr;
  int server_ = -1;     ///< process number of Xvfb; -1: none
  std::string former_;  ///< the value of DISPLAY before
  bool had_former_ = false;
};

}  // namespace motes::app
