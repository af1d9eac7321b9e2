/// A collector that replaces the output of VTK.

#include <cctype>
#include <mutex>
#include <string_view>

#include <vtkLogger.h>
#include <vtkOutputWindow.h>
#include <vtkSmartPointer.h>

#include <motes/io/vtk_messages.h>

#include "io/files/text.h"

namespace motes::io {
namespace {

std::mutex vtk_mutex;

/// The last line of VTK's message, which states the fault; the others have addresses of objects.
std::string one_line(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  const auto line = text.find_last_of('\n');
  if (line != std::string_view::npos) text.remove_prefix(line + 1);
  const auto address = text.find("): ");
  if (address != std::string_view::npos) text.remove_prefix(address + 3);
  return std::string(detail::trimmed(text));
}

class Collector : public vtkOutputWindow {
 public:
  static Collector* New() {
    auto* made = new Collector;
    made->InitializeObjectBase();
    return made;
  }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  void DisplayText(const char* text) override { keep(text); }
  void DisplayErrorText(const char* text) override { keep(text); }
  void DisplayWarningText(const char* text) override { keep(text); }
  void DisplayGenericWarningText(const char* text) override { keep(text); }
  void DisplayDebugText(const char*) override {}
  bool any() const {
    const std::scoped_lock lock(mutex_);
    return any_;
  }
  std::string first() const {
    const std::scoped_lock lock(mutex_);
    return first_;
  }

 protected:
  Collector() = default;

 private:
  void keep(const char* text) {
    const std::scoped_lock lock(mutex_);  // VTK may report from several threads
    if (!any_ && text != nullptr) first_ = one_line(text);
    any_ = true;
  }

  mutable std::mutex mutex_;
  bool any_ = false;
  std::string first_;
};

}  // namespace

struct VtkMessages::State {
  std::unique_lock<std::mutex> lock{vtk_mutex};
  vtkSmartPointer<Collector> collector = vtkSmartPointer<Collector>::New();
  int verbosity = static_cast<int>(vtkLogger::GetCurrentVerbosityCutoff());
};

VtkMessages::VtkMessages() : state_(std::make_unique<State>()) {
  vtkLogger::SetStderrVerbosity(vtkLogger::VERBOSITY_OFF);
  vtkOutputWindow::SetInstance(state_->collector);
}

VtkMessages::~VtkMessages() {
  vtkOutputWindow::SetInstance(nullptr);  // VTK creates its own when it next needs one
  vtkLogger::SetStderrVerbosity(vtkLogger::ConvertToVerbosity(state_->verbosity));
}

bool VtkMessages::any() const { return state_->collector->any(); }
std::string VtkMessages::first() const { return state_->collector->first(); }

}  // namespace motes::io
