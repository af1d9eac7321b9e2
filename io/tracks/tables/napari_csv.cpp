/// Writes rows in napari's layout.

#include <motes/io/atomic_file.h>
#include <motes/io/napari_csv.h>

#include "io/files/text.h"

namespace motes::io {

void write_napari_csv(const std::filesystem::path& path, const TrackSet& tracks) {
  const bool parents = !tracks.parent.empty();
  std::string out = parents ? "track_id,t,z,y,x,parent_track_id\n" : "track_id,t,z,y,x\n";
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    for (auto i = static_cast<std::size_t>(tracks.track_offsets[t]);
         i < static_cast<std::size_t>(tracks.track_offsets[t + 1]); ++i) {
      detail::append_number(out, tracks.track_id[t]);
      out += ',';
      detail::append_number(out, static_cast<std::int64_t>(tracks.frame[i]));
      for (const auto* axis : {&tracks.z_um, &tracks.y_um, &tracks.x_um}) {
        out += ',';
        detail::append_number(out, (*axis)[i]);
      }
      if (parents) {
        out += ',';
        detail::append_number(out, tracks.parent[t]);
      }
      out += '\n';
    }
  }
  write_text(path, out);
}

}  // namespace motes::io
