/// Copies of problems between host and device.

#include <motes/matching/device_costs.h>

namespace motes::matching {
namespace {

/// Replaces a view's spans by spans of copies, which `arrays` owns.
struct DeviceCopier {
  std::vector<gpu::DeviceBytes>& arrays;
  int device;

  template <class T>
  void operator()(std::span<const T>& values) const {
    if (values.empty()) return;
    arrays.emplace_back(values.size_bytes(), device);
    arrays.back().upload(values.data(), values.size_bytes());
    values = {static_cast<const T*>(arrays.back().data()), values.size()};
  }
  void operator()(SparseCostsView& view) const {
    (*this)(view.graph.row_offsets);
    (*this)(view.graph.col_index);
    (*this)(view.cost);
  }
  void operator()(DenseCostsView& view) const {
    if (view.rows == 0 || view.cols == 0) return;
    // The last row ends with its last column, whatever the stride.
    const Offset count = (view.rows - 1) * view.row_stride + view.cols;
    std::visit(
        [&](const auto* data) {
          std::span entries(data, static_cast<std::size_t>(count));
          (*this)(entries);
          view.data = entries.data();
        },
        view.data);
  }
  void operator()(GeometricCostsView& view) const {
    for (PointsView* side : {&view.row_points, &view.col_points})
      for (std::span<const double>* axis : {&side->x, &side->y, &side->z}) (*this)(*axis);
  }
};

}  // namespace

DeviceCosts::DeviceCosts(const CostsView& host, int device) : view_(host) {
  const DeviceCopier copy{arrays_, device};
  std::visit(
      [&](auto& view) {
        copy(view);
        copy(view.unmatched_row_cost);
        copy(view.unmatched_col_cost);
        view.space = Space::device;
      },
      view_);
}

}  // namespace motes::matching
