// Makes VTK's actors from the layout (app/render/picture.h). Everything is drawn at twice the size and
// averaged down, which smooths lines and letters whether or not the driver can multisample. A child process
// draws, since VTK aborts on a display without suitable OpenGL, and drivers crash without memory.

#include "app/render/scene.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <numbers>
#include <string>
#include <variant>

#include <vtkActor.h>
#include <vtkActor2D.h>
#include <vtkCamera.h>
#include <vtkCellArray.h>
#include <vtkColorTransferFunction.h>
#include <vtkFixedPointVolumeRayCastMapper.h>
#include <vtkFloatArray.h>
#include <vtkImageData.h>
#include <vtkNew.h>
#include <vtkPiecewiseFunction.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkPolyDataMapper.h>
#include <vtkPolyDataMapper2D.h>
#include <vtkProperty.h>
#include <vtkProperty2D.h>
#include <vtkRenderWindow.h>
#include <vtkRenderer.h>
#include <vtkTextActor.h>
#include <vtkTextProperty.h>
#include <vtkUnsignedCharArray.h>
#include <vtkUnsignedShortArray.h>
#include <vtkVolume.h>
#include <vtkVolumeProperty.h>

#include <motes/base/errors.h>
#include <motes/base/quantile.h>
#include <motes/base/system/program.h>
#include <motes/base/system/threads.h>
#include <motes/base/system/worker.h>
#include <motes/io/vtk_messages.h>

namespace motes::app {
namespace {

constexpr int kFiner = 2;
/// Drivers allow pictures of at least this many pixels per side.
constexpr int kLargestSide = 8192;
constexpr double kGridWidth = 1, kEdgeWidth = 1.4;  ///< pixels
/// Opacity of the brightest voxels; tracks behind them are visible.
constexpr double kVolumeOpacity = 0.85;

void set_colour(double out[3], const Colour& colour) {
  for (std::size_t i = 0; i < 3; ++i) out[i] = colour[i] / 255.0;
}

/// Points and lines in VTK's form.
struct Shapes {
  vtkNew<vtkPoints> points;
  vtkNew<vtkUnsignedCharArray> colours;
  vtkNew<vtkCellArray> lines, dots, quads;

  Shapes() {
    points->SetDataTypeToDouble();
    colours->SetNumberOfComponents(3);
    colours->SetName("colour");
  }
  vtkIdType add(double x, double y, double z, const Colour& colour) {
    colours->InsertNextTypedTuple(colour.data());
    return points->InsertNextPoint(x, y, z);
  }
  void add_line(const Vec3& from, const Vec3& to, const Colour& colour) {
    const vtkIdType ends[] = {add(from.x, from.y, from.z, colour), add(to.x, to.y, to.z, colour)};
    lines->InsertNextCell(2, ends);
  }
  vtkSmartPointer<vtkPolyData> data() {
    auto data = vtkSmartPointer<vtkPolyData>::New();
    data->SetPoints(points);
    data->SetLines(lines);
    data->SetVerts(dots);
    data->SetPolys(quads);
    data->GetPointData()->SetScalars(colours);
    return data;
  }
};

vtkSmartPointer<vtkActor> actor_of(Shapes& shapes, double width) {
  vtkNew<vtkPolyDataMapper> mapper;
  mapper->SetInputData(shapes.data());
  mapper->SetColorModeToDirectScalars();
  auto actor = vtkSmartPointer<vtkActor>::New();
  actor->SetMapper(mapper);
  actor->GetProperty()->SetLineWidth(static_cast<float>(width));
  actor->GetProperty()->SetPointSize(static_cast<float>(width));
  actor->GetProperty()->LightingOff();
  return actor;
}

void aim(vtkRenderer* renderer, const Panel& panel, const Picture& picture) {
  const View& view = panel.view;
  renderer->SetViewport(panel.area.left / picture.width, panel.area.bottom / picture.height,
                        (panel.area.left + panel.area.width) / picture.width,
                        (panel.area.bottom + panel.area.height) / picture.height);
  vtkCamera* camera = renderer->GetActiveCamera();
  camera->SetPosition(view.eye.x, view.eye.y, view.eye.z);
  const double reach = (view.near + view.far) / 2;
  camera->SetFocalPoint(view.eye.x + reach * view.forward.x, view.eye.y + reach * view.forward.y,
                        view.eye.z + reach * view.forward.z);
  camera->SetViewUp(view.up.x, view.up.y, view.up.z);
  camera->SetViewAngle(2 * std::atan(panel.area.height / 2 / view.pixels) * 180 / std::numbers::pi);
  camera->SetWindowCenter(1 - 2 * (view.centre.x - panel.area.left) / panel.area.width,
                          1 - 2 * (view.centre.y - panel.area.bottom) / panel.area.height);
  camera->SetClippingRange(0.9 * view.near, 1.1 * view.far);
}

void add_box(vtkRenderer* renderer, const Panel& panel, const Picture& picture, int finer) {
  Shapes grid, edges;
  for (const auto& [from, to] : panel.grid) grid.add_line(from, to, picture.faint);
  for (const auto& [from, to] : panel.edges) {
    edges.add_line(from, to, mix(picture.ink, picture.background, 0.35));
  }
  renderer->AddActor(actor_of(grid, kGridWidth * finer));
  renderer->AddActor(actor_of(edges, kEdgeWidth * finer));
}

void add_lines(vtkRenderer* renderer, const Panel& panel, const Picture& picture, int finer) {
  Shapes tracks, dots, marks;
  const auto add = [&](Shapes& shapes, std::size_t p) {
    return shapes.add(panel.points[p].x, panel.points[p].y, panel.points[p].z, panel.colours[p]);
  };
  for (const auto& [begin, end] : panel.lines) {
    Shapes& shapes = end - begin == 1 ? dots : tracks;
    vtkCellArray* cells = end - begin == 1 ? shapes.dots.Get() : shapes.lines.Get();
    cells->InsertNextCell(static_cast<int>(end - begin));
    for (std::size_t p = begin; p < end; ++p) cells->InsertCellPoint(add(shapes, p));
  }
  for (const std::size_t p : panel.marks) {
    marks.dots->InsertNextCell(1);
    marks.dots->InsertCellPoint(add(marks, p));
  }
  const double width = picture.line_width * finer;
  renderer->AddActor(actor_of(tracks, width));
  for (auto* shapes : {&dots, &marks}) {
    const auto actor = actor_of(*shapes, (shapes == &dots ? 1.6 : 3.2) * width);
    actor->GetProperty()->RenderPointsAsSpheresOn();
    renderer->AddActor(actor);
  }
}

/// Copies the voxels to the image; a single plane twice, since rays pass between planes.
template <class Array, class T>
void hand_over(vtkImageData* image, const std::vector<T>& voxels) {
  vtkNew<Array> values;
  values->SetNumberOfValues(image->GetNumberOfPoints());
  T* out = values->GetPointer(0);
  if constexpr (std::is_floating_point_v<T>) {
    // Voxels without a value (NaN) are drawn as dark as possible.
    float least = 0;
    for (const T v : voxels) least = std::isfinite(v) ? std::min(least, v) : least;
    std::replace_copy_if(
        voxels.begin(), voxels.end(), out, [](T v) { return !std::isfinite(v); }, least);
  } else {
    std::copy(voxels.begin(), voxels.end(), out);
  }
  if (static_cast<std::size_t>(values->GetNumberOfValues()) > voxels.size())
    std::copy(out, out + voxels.size(), out + voxels.size());
  image->GetPointData()->SetScalars(values);
}

/// The grey levels between which a volume is shown. Nearly all voxels are background and are not drawn; only
/// the very brightest are fully drawn. Estimated from a sample of the voxels.
std::pair<double, double> contrast_of(const VolumeFrame& volume) {
  return std::visit(
      [](const auto& voxels) -> std::pair<double, double> {
        constexpr std::size_t kSample = 2000000;
        const std::size_t stride = std::max<std::size_t>(1, voxels.size() / kSample);
        std::vector<double> values;
        for (std::size_t i = 0; i < voxels.size(); i += stride) {
          const auto value = static_cast<double>(voxels[i]);
          if (std::isfinite(value)) values.push_back(value);
        }
        if (values.empty()) return {0, 1};
        const double low = quantile(values, 0.95), high = quantile(values, 0.9995);
        return {low, high > low ? high : low + 1};
      },
      volume.voxels);
}

vtkSmartPointer<vtkImageData> image_of(const VolumeFrame& volume) {
  auto image = vtkSmartPointer<vtkImageData>::New();
  const bool plane = volume.shape.nz == 1;
  image->SetDimensions(static_cast<int>(volume.shape.nx), static_cast<int>(volume.shape.ny),
                       plane ? 2 : static_cast<int>(volume.shape.nz));
  image->SetSpacing(volume.voxel_um.x, volume.voxel_um.y, plane ? volume.voxel_um.x : volume.voxel_um.z);
  if (const auto* u8 = std::get_if<std::vector<std::uint8_t>>(&volume.voxels))
    hand_over<vtkUnsignedCharArray>(image, *u8);
  if (const auto* u16 = std::get_if<std::vector<std::uint16_t>>(&volume.voxels))
    hand_over<vtkUnsignedShortArray>(image, *u16);
  if (const auto* f32 = std::get_if<std::vector<float>>(&volume.voxels))
    hand_over<vtkFloatArray>(image, *f32);
  return image;
}

/// The volume and its properties for VTK, shared by the renderers of all panels.
struct VolumeLook {
  vtkSmartPointer<vtkImageData> image;
  vtkNew<vtkVolumeProperty> property;

  VolumeLook(const VolumeFrame& volume, bool on_black) : image(image_of(volume)) {
    const auto [low, high] = contrast_of(volume);
    vtkNew<vtkPiecewiseFunction> opacity;
    opacity->AddPoint(low, 0);
    opacity->AddPoint(high, kVolumeOpacity);
    vtkNew<vtkColorTransferFunction> colour;
    const double dim = on_black ? 0.35 : 0.75, strong = on_black ? 1 : 0.1;
    colour->AddRGBPoint(low, dim, dim, dim);
    colour->AddRGBPoint(high, strong, strong, strong);
    property->SetScalarOpacity(opacity);
    property->SetColor(colour);
    property->SetInterpolationTypeToLinear();
    property->ShadeOff();
  }
};

void add_volume(vtkRenderer* renderer, const VolumeLook& look, const Execution& execution, int finer) {
  vtkNew<vtkFixedPointVolumeRayCastMapper> mapper;
  mapper->SetInputData(look.image);
  mapper->SetBlendModeToMaximumIntensity();
  // Adapting the sample distance to the time that is left would make pictures differ from run to run.
  mapper->AutoAdjustSampleDistancesOff();
  mapper->SetImageSampleDistance(static_cast<float>(finer));
  mapper->SetSampleDistance(static_cast<float>(
      0.5 *
      std::min({look.image->GetSpacing()[0], look.image->GetSpacing()[1], look.image->GetSpacing()[2]})));
  mapper->IntermixIntersectingGeometryOn();
  if (execution.threads > 0) mapper->SetNumberOfThreads(execution.threads);
  vtkNew<vtkVolume> actor;
  actor->SetMapper(mapper);
  actor->SetProperty(look.property);
  renderer->AddVolume(actor);
}

vtkSmartPointer<vtkActor2D> flat_actor(Shapes& shapes, double width) {
  vtkNew<vtkPolyDataMapper2D> mapper;
  mapper->SetInputData(shapes.data());
  mapper->SetColorModeToDirectScalars();
  auto actor = vtkSmartPointer<vtkActor2D>::New();
  actor->SetMapper(mapper);
  actor->GetProperty()->SetLineWidth(static_cast<float>(width));
  return actor;
}

vtkSmartPointer<vtkTextActor> text_actor(const Overlay::Text& text, const Colour& ink, int finer) {
  auto actor = vtkSmartPointer<vtkTextActor>::New();
  actor->SetInput(text.words.c_str());
  vtkTextProperty* look = actor->GetTextProperty();
  look->SetFontFamilyToArial();
  look->SetFontSize(static_cast<int>(std::lround(text.size * finer)));
  double colour[3];
  set_colour(colour, ink);
  look->SetColor(colour);
  // VTK aligns along the text and across it; upright text has its top on the left.
  const int along = text.upright ? text.up : text.across, over = text.upright ? -text.across : text.up;
  if (text.upright) look->SetOrientation(90);
  look->SetJustification(along < 0 ? VTK_TEXT_LEFT : along > 0 ? VTK_TEXT_RIGHT : VTK_TEXT_CENTERED);
  look->SetVerticalJustification(over < 0 ? VTK_TEXT_BOTTOM : over > 0 ? VTK_TEXT_TOP : VTK_TEXT_CENTERED);
  actor->SetPosition(std::round(text.at.x * finer), std::round(text.at.y * finer));
  return actor;
}

void add_overlay(vtkRenderer* renderer, const Picture& picture, int finer) {
  const Overlay& overlay = picture.overlay;
  Shapes swatches, lines;
  for (const Overlay::Swatch& swatch : overlay.swatches) {
    const double left = swatch.area.left * finer, right = left + swatch.area.width * finer;
    const double bottom = swatch.area.bottom * finer, top = bottom + swatch.area.height * finer;
    const vtkIdType corners[] = {
        swatches.add(left, bottom, 0, swatch.colour), swatches.add(right, bottom, 0, swatch.colour),
        swatches.add(right, top, 0, swatch.colour), swatches.add(left, top, 0, swatch.colour)};
    swatches.quads->InsertNextCell(4, corners);
  }
  for (const Overlay::Line& line : overlay.lines) {
    lines.add_line({line.from.x * finer, line.from.y * finer, 0}, {line.to.x * finer, line.to.y * finer, 0},
                   picture.ink);
  }
  renderer->AddActor2D(flat_actor(swatches, 1));
  renderer->AddActor2D(flat_actor(lines, kEdgeWidth * finer));
  for (const Overlay::Text& text : overlay.texts) renderer->AddActor2D(text_actor(text, picture.ink, finer));
}

/// The window's pixels, rows from the top, each the mean of finer x finer pixels drawn.
io::RgbImage shrink(vtkUnsignedCharArray* drawn, const Picture& picture, int finer) {
  io::RgbImage image{picture.width, picture.height, {}};
  const auto width = static_cast<std::size_t>(picture.width),
             height = static_cast<std::size_t>(picture.height);
  const auto fine = static_cast<std::size_t>(finer);
  image.bytes.resize(width * height * 3);
  const std::uint8_t* pixels = drawn->GetPointer(0);
  const unsigned count = static_cast<unsigned>(finer * finer);
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t c = 0; c < 3; ++c) {
        unsigned sum = count / 2;
        for (std::size_t v = 0; v < fine; ++v) {
          for (std::size_t u = 0; u < fine; ++u) {
            sum += pixels[(((height - 1 - y) * fine + v) * width * fine + x * fine + u) * 3 + c];
          }
        }
        image.bytes[(y * width + x) * 3 + c] = static_cast<std::uint8_t>(sum / count);
      }
    }
  }
  return image;
}

[[noreturn]] void fail(const io::VtkMessages& messages) {
  throw ResourceError("VTK cannot draw on this display" +
                      (messages.any() ? " (" + messages.first() + ")" : std::string()) +
                      "; it needs OpenGL 3.2: try xvfb-run -a motes render ..., or a smaller --size");
}

io::RgbImage draw_here(const Execution& execution, const Picture& picture, const VolumeFrame* volume) {
  const io::VtkMessages messages;
  const int finer = std::max(picture.width, picture.height) * kFiner <= kLargestSide ? kFiner : 1;
  vtkNew<vtkRenderWindow> window;
  window->SetOffScreenRendering(1);
  window->SetMultiSamples(0);
  window->SetSize(picture.width * finer, picture.height * finer);
  window->SetNumberOfLayers(2);
  if (window->SupportsOpenGL() == 0) fail(messages);

  double background[3];
  set_colour(background, picture.background);
  vtkNew<vtkRenderer> sheet;  // behind and between the panels
  sheet->SetBackground(background);
  window->AddRenderer(sheet);
  std::optional<VolumeLook> look;
  if (volume != nullptr) look.emplace(*volume, picture.on_black);
  for (const Panel& panel : picture.panels) {
    vtkNew<vtkRenderer> renderer;
    renderer->SetBackground(background);
    aim(renderer, panel, picture);
    add_box(renderer, panel, picture, finer);
    add_lines(renderer, panel, picture, finer);
    if (look) add_volume(renderer, *look, execution, finer);
    window->AddRenderer(renderer);
  }
  vtkNew<vtkRenderer> over;
  over->SetLayer(1);
  add_overlay(over, picture, finer);
  window->AddRenderer(over);

  window->Render();
  vtkNew<vtkUnsignedCharArray> drawn;
  window->GetPixelData(0, 0, picture.width * finer - 1, picture.height * finer - 1, 0, drawn);
  const auto expected = static_cast<vtkIdType>(picture.width) * picture.height * finer * finer * 3;
  if (messages.any() || drawn->GetNumberOfValues() != expected) fail(messages);
  return shrink(drawn, picture, finer);
}

constexpr char kDrawn = 'd', kFailed = 'f';

/// In the child process: sends kDrawn and the pixels, or kFailed and the reason.
void send_drawn(system::Channel& channel, const Execution& execution, const Picture& picture,
                const VolumeFrame* volume) {
  // Mesa's renderer hangs if the system refuses to start one of its threads; with 0 it draws without threads.
  const int wanted = std::min(system::online_processors(), 32) + 4;
  if (system::startable_threads(wanted) < wanted) system::set_environment("LP_NUM_THREADS", "0");
  std::string answer(1, kDrawn);
  try {
    const io::RgbImage image = draw_here(execution, picture, volume);
    answer.append(image.bytes.begin(), image.bytes.end());
  } catch (const std::bad_alloc&) {
    answer.assign(1, kFailed).append("not enough memory to draw; use a smaller --size");
  } catch (const std::exception& error) {
    answer.assign(1, kFailed).append(error.what());
  }
  channel.send(answer);
}

}  // namespace

io::RgbImage draw(const Execution& execution, const Picture& picture, const VolumeFrame* volume) {
  constexpr system::Worker::Limits kNone{std::numeric_limits<std::uint64_t>::max(), 1e9};
  constexpr std::size_t kLongestReason = 10'000;
  system::Worker child(kNone,
                       [&](system::Channel& channel) { send_drawn(channel, execution, picture, volume); });
  io::RgbImage image{picture.width, picture.height, {}};
  const std::size_t bytes =
      3 * static_cast<std::size_t>(picture.width) * static_cast<std::size_t>(picture.height);
  std::string answer;
  if (!child.channel().receive(answer, 1 + std::max(bytes, kLongestReason)))
    throw ResourceError("the process that draws " + child.end() +
                        ": OpenGL does not work on this display, or memory is short; try xvfb-run -a motes "
                        "render ..., or a smaller --size");
  if (answer.front() != kDrawn) throw ResourceError(answer.substr(1));
  image.bytes.assign(answer.begin() + 1, answer.end());
  return image;
}

}  // namespace motes::app
