// The functions that draw with VTK, in builds without it: they throw.

#include <motes/base/errors.h>

#include "app/render/display.h"
#include "app/render/scene.h"

namespace motes::app {

Display::Display() {
  throw UsageError("render: this build of motes has no VTK; use one that has it, or napari");
}
Display::~Display() = default;

io::RgbImage draw(const Execution&, const Picture&, const VolumeFrame*) {
  throw UsageError("render: this build of motes has no VTK; use one that has it, or napari");
}

}  // namespace motes::app
