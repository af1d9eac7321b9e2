/// Writes tracks as label masks and their table.

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/io/atomic_file.h>
#include <motes/io/ctc.h>
#include <motes/io/ome_tiff_writer.h>

#include "io/files/atomic_folder.h"
#include "io/tracks/frame_points.h"

namespace motes::io {
namespace {

constexpr std::int64_t kMostLabels = 65535;
constexpr double kMostVoxels = 1 << 24;  // along an axis

/// A detection at the border may have its centre up to a voxel outside the image; it is drawn at the border.
constexpr std::int64_t kOutside = 1;

/// A run of frames without a gap, which is a track in the challenge's format.
struct Piece {
  std::size_t begin, end;  ///< points
  std::int64_t mother;     ///< label, 0 none
  std::int64_t track;      ///< its number
};

/// Cuts tracks at gaps. Labels are 1, 2 ... in the order of tracks.
std::vector<Piece> cut_at_gaps(const TrackSet& tracks) {
  std::vector<Piece> pieces;
  std::unordered_map<std::int64_t, std::int64_t> last_label;  // by track
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const auto end = static_cast<std::size_t>(tracks.track_offsets[t + 1]);
    auto begin = static_cast<std::size_t>(tracks.track_offsets[t]);
    std::int64_t before = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (i + 1 < end && tracks.frame[i + 1] == tracks.frame[i] + 1) continue;
      pieces.push_back({begin, i + 1, before, tracks.track_id[t]});
      before = static_cast<std::int64_t>(pieces.size());
      begin = i + 1;
    }
    last_label[tracks.track_id[t]] = before;
  }
  if (tracks.parent.empty()) return pieces;
  std::unordered_map<std::size_t, std::size_t> first_piece;  // by first point
  for (std::size_t p = 0; p < pieces.size(); ++p) first_piece[pieces[p].begin] = p;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    const auto mother = last_label.find(tracks.parent[t]);
    const auto piece = first_piece.find(static_cast<std::size_t>(tracks.track_offsets[t]));
    if (tracks.parent[t] < 0 || mother == last_label.end() || mother->second == 0 ||
        piece == first_piece.end())
      continue;
    const Piece& from = pieces[static_cast<std::size_t>(mother->second - 1)];
    if (tracks.frame[from.end - 1] < tracks.frame[pieces[piece->second].begin])
      pieces[piece->second].mother = mother->second;
  }
  return pieces;
}

/// The voxel size in the tracks' unit.
Vec3 voxel_of(const TrackSet& tracks, const TrackImage& image) {
  if (image.voxel_um) return *image.voxel_um;
  if (tracks.length_unit == "px") return {1, 1, 1};
  throw UsageError(
      "masks need the size of a voxel; set input.voxel_um, or name the images (convert --like IMAGE)");
}

class MaskWriter {
 public:
  MaskWriter(const TrackSet& tracks, const TrackImage& image)
      : tracks_(tracks),
        options_(image),
        voxel_(voxel_of(tracks, image)),
        pieces_(cut_at_gaps(tracks)),
        frames_(detail::points_by_frame(tracks)) {
    if (static_cast<std::int64_t>(pieces_.size()) > kMostLabels)
      throw UsageError(fmt::format(
          "masks of the challenge have at most 65535 labels, but there are {} tracks without gaps; "
          "write them in parts, or as .geff",
          pieces_.size()));
    label_.resize(tracks.points());
    for (std::size_t p = 0; p < pieces_.size(); ++p)
      std::fill(label_.begin() + static_cast<std::ptrdiff_t>(pieces_[p].begin),
                label_.begin() + static_cast<std::ptrdiff_t>(pieces_[p].end),
                static_cast<std::uint16_t>(p + 1));
    const std::string name = tracks.length_unit == "px" ? "radius_px" : "radius_um";
    for (const PropertyColumn& column : tracks.point_properties)
      if (column.name == name)
        radius_ = &column.values;
      else if (column.name == "label")
        object_ = &column.values;
    settle_shape();
  }

  void run(const std::filesystem::path& folder) {
    const std::int32_t last = tracks_.frame.empty() ? -1 : frames_.frame.back();
    const std::int32_t count = std::max(options_.frames, last + 1);
    const int digits = count > 1000 ? 4 : 3;
    std::size_t f = 0;
    for (std::int32_t t = 0; t < count; ++t) {
      std::vector<std::uint16_t> mask(static_cast<std::size_t>(shape_.voxels()), 0);
      if (f < frames_.frames() && frames_.frame[f] == t) {
        const auto points = frames_.points_of(f++);
        if (options_.labels)
          renumber(t, points, mask);
        else
          draw(points, mask);
      }
      VolumeFrame frame;
      frame.shape = shape_;
      frame.voxel_um = voxel_;
      frame.voxels = std::move(mask);
      OmeTiffWriter writer(folder / fmt::format("mask{:0{}}.tif", t, digits), {1, 0.0, true});
      writer.write(frame);
      writer.close();
    }
    std::string table;
    for (std::size_t p = 0; p < pieces_.size(); ++p)
      table += fmt::format("{} {} {} {}\n", p + 1, tracks_.frame[pieces_[p].begin],
                           tracks_.frame[pieces_[p].end - 1], pieces_[p].mother);
    write_text(folder / "res_track.txt", table);
  }

 private:
  double radius_of(std::size_t i) const {
    const double known = radius_ == nullptr ? std::nan("") : (*radius_)[i];
    if (std::isfinite(known) && known > 0) return known;
    if (options_.radius_um) return *options_.radius_um;
    throw UsageError("the tracks state no radii for the spheres of the masks; set detection.radius_um");
  }

  void settle_shape() {
    double far_x = 0, far_y = 0, far_z = 0;
    bool below = false;
    for (std::size_t i = 0; i < tracks_.points(); ++i) {
      const double x = tracks_.x_um[i] / voxel_.x, y = tracks_.y_um[i] / voxel_.y,
                   z = tracks_.z_um[i] / voxel_.z;
      far_x = std::max(far_x, x);
      far_y = std::max(far_y, y);
      far_z = std::max(far_z, z);
      below = below || std::min({x, y, z}) < -0.5 - kOutside;
    }
    const auto size = [](double far) {
      return static_cast<std::int64_t>(std::lround(std::min(far, kMostVoxels))) + 1;
    };
    const Shape3 needed{size(far_z), size(far_y), size(far_x)};
    shape_ = options_.shape.value_or(needed);
    if (below || needed.nx > shape_.nx + kOutside || needed.ny > shape_.ny + kOutside ||
        needed.nz > shape_.nz + kOutside || far_x > kMostVoxels || far_y > kMostVoxels || far_z > kMostVoxels)
      throw UsageError(
          fmt::format("points lie outside images of {} x {} x {} voxels [z, y, x]; check input.voxel_um",
                      shape_.nz, shape_.ny, shape_.nx));
  }

  std::size_t index(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return static_cast<std::size_t>((z * shape_.ny + y) * shape_.nx + x);
  }

  std::size_t voxel_at(std::size_t point) const {
    const auto nearest = [](double where, double voxel, std::int64_t count) {
      return std::clamp<std::int64_t>(std::llround(where / voxel), 0, count - 1);
    };
    return index(nearest(tracks_.z_um[point], voxel_.z, shape_.nz),
                 nearest(tracks_.y_um[point], voxel_.y, shape_.ny),
                 nearest(tracks_.x_um[point], voxel_.x, shape_.nx));
  }

  /// Relabels the points' objects with the numbers of their tracks.
  void renumber(std::int32_t t, const std::vector<std::size_t>& points,
                std::vector<std::uint16_t>& mask) const {
    if (t >= options_.frames)
      throw UsageError(fmt::format("the labels have {} frames, but there are tracks in frame {}; give all",
                                   options_.frames, t));
    const VolumeFrame frame = options_.labels(t);
    if (frame.shape != shape_)
      throw InputError(
          fmt::format("labels, frame {}: another shape than the first frame; give one shape", t));
    visit_voxels(frame.voxels, [&](auto voxels) {
      std::unordered_map<std::int64_t, std::uint16_t> number;
      for (const std::size_t i : points) {
        const double own = object_ == nullptr ? static_cast<double>(voxels[voxel_at(i)]) : (*object_)[i];
        const auto object = std::isfinite(own) ? std::llround(own) : 0;
        if (object == 0 || !number.emplace(object, label_[i]).second)
          throw InputError(fmt::format(
              "labels, frame {}: the point at {:g}, {:g}, {:g} (x, y, z) of track {} has no object of "
              "its "
              "own; give the labels that were tracked, or --like for balls",
              t, tracks_.x_um[i], tracks_.y_um[i], tracks_.z_um[i], pieces_[label_[i] - 1U].track));
      }
      std::unordered_set<std::uint16_t> seen;
      for (std::size_t k = 0; k < mask.size(); ++k) {
        if (voxels[k] == 0) continue;
        const auto found = number.find(static_cast<std::int64_t>(voxels[k]));
        if (found != number.end()) seen.insert(mask[k] = found->second);
      }
      if (seen.size() < number.size())
        throw InputError(
            fmt::format("labels, frame {}: {} objects of the tracks are missing; give the "
                        "labels that were tracked",
                        t, number.size() - seen.size()));
    });
  }

  /// Every voxel within a radius goes to the nearest centre; the voxels of centres are never changed.
  void draw(const std::vector<std::size_t>& points, std::vector<std::uint16_t>& mask) const {
    std::vector<float> nearest(mask.size(), 1.0F);
    for (const std::size_t i : points) {
      const double r = radius_of(i), x = tracks_.x_um[i], y = tracks_.y_um[i], z = tracks_.z_um[i];
      const Vec3& v = voxel_;
      const auto range = [&](double at, double voxel, std::int64_t count) {
        return std::pair{std::max<std::int64_t>(0, std::llround(std::ceil((at - r) / voxel))),
                         std::min<std::int64_t>(count - 1, std::llround(std::floor((at + r) / voxel)))};
      };
      const auto [z0, z1] = range(z, v.z, shape_.nz);
      const auto [y0, y1] = range(y, v.y, shape_.ny);
      const auto [x0, x1] = range(x, v.x, shape_.nx);
      for (std::int64_t k = z0; k <= z1; ++k)
        for (std::int64_t j = y0; j <= y1; ++j)
          for (std::int64_t l = x0; l <= x1; ++l) {
            const double dx = static_cast<double>(l) * v.x - x, dy = static_cast<double>(j) * v.y - y,
                         dz = static_cast<double>(k) * v.z - z;
            const auto share = static_cast<float>((dx * dx + dy * dy + dz * dz) / (r * r));
            float& best = nearest[index(k, j, l)];
            if (share > best || (share == best && mask[index(k, j, l)] != 0)) continue;
            best = share;
            mask[index(k, j, l)] = label_[i];
          }
    }
    for (const std::size_t i : points) mask[voxel_at(i)] = label_[i];
  }

  const TrackSet& tracks_;
  TrackImage options_;
  Vec3 voxel_;
  std::vector<Piece> pieces_;
  detail::FramePoints frames_;
  std::vector<std::uint16_t> label_;                                ///< [points]
  const std::vector<double>*radius_ = nullptr, *object_ = nullptr;  ///< properties, null if unknown
  Shape3 shape_;
};

}  // namespace

void write_ctc(const std::filesystem::path& path, const TrackSet& tracks, const TrackImage& image) {
  MaskWriter writer(tracks, image);
  detail::write_folder_atomically(path, is_ctc,
                                  [&](const std::filesystem::path& folder) { writer.run(folder); });
}

}  // namespace motes::io
