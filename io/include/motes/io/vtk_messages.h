#pragma once
/// Collects VTK's errors and warnings instead of letting VTK print them.

#include <memory>
#include <string>

namespace motes::io {

/// Collects what VTK reports during the object's lifetime. VTK reports through globals, so there can be
/// only one such object at a time; the constructor of a second one waits.
class VtkMessages {
 public:
  VtkMessages();
  ~VtkMessages();
  VtkMessages(const VtkMessages&) = delete;
  VtkMessages& operator=(const VtkMessages&) = delete;
  bool any() const;           ///< whether an error or warning was reported
  std::string first() const;  ///< the first one, on one line

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace motes::io
