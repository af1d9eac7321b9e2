/// Renders frames and writes them in the chosen format.

#include "app/run/volumes.h"

#include <motes/io/bdv_writer.h>
#include <motes/io/ome_tiff_writer.h>
#include <motes/sim/imaging.h>

#include "app/command.h"
#include "app/interrupt.h"
#include "app/progress.h"

namespace motes::app {
namespace {

template <class Writer>
double render_into(Writer& writer, sim::Renderer& renderer, const TrackSet& truth, std::int32_t frames,
                   Console& console) {
  ProgressBar progress(console, "rendering", "frames", frames);
  VolumeFrame frame;
  for (std::int32_t t = 0; t < frames; ++t) {
    stop_if_interrupted("interrupted while rendering; no volumes were kept, run the command again");
    frame = renderer.render(truth, t, std::move(frame));
    writer.write(frame);
    progress.advance();
  }
  writer.close();
  progress.finish();
  return progress.seconds();
}

}  // namespace

WrittenVolumes write_volumes(const Execution& execution, const Config& config, const TrackSet& truth,
                             const std::filesystem::path& folder, Console& console) {
  const std::int32_t frames = config.simulation.frames;
  const double dt_s = config.simulation.dt_s;
  const bool deflate = config.imaging.deflate;
  sim::Renderer renderer(execution, config.simulation, config.imaging.optics);
  prepare_folder(folder / "frames");
  WrittenVolumes written;
  written.backend = renderer.on_device() ? "cuda" : "cpu";
  if (config.imaging.format == VolumeFormat::bdv_h5) {
    io::BdvWriter writer(folder / "frames" / "frames.h5", {frames, dt_s, deflate});
    written.seconds = render_into(writer, renderer, truth, frames, console);
    written.files = {"frames/frames.h5", "frames/frames.xml"};
  } else {
    io::OmeTiffWriter writer(folder / "frames" / "frames.ome.tif", {frames, dt_s, deflate});
    written.seconds = render_into(writer, renderer, truth, frames, console);
    written.files = {"frames/frames.ome.tif"};
  }
  return written;
}

}  // namespace motes::app
