#pragma once
/// Off-screen drawing with VTK. The only code outside io/ that uses VTK.

#include <motes/base/execution.h>
#include <motes/io/png.h>
#include <motes/tracking/volume_frame.h>

#include "app/render/picture.h"

namespace motes::app {

/// Draws the picture. A volume, if given, is drawn into every panel as a maximum intensity projection, ray
/// cast on the CPU: light on black, dark on white. Needs a display (app/render/display.h) until it returns.
/// Throws ResourceError if VTK cannot draw on it, or if no process can be started.
io::RgbImage draw(const Execution& execution, const Picture& picture, const VolumeFrame* volume = nullptr);

}  // namespace motes::app
