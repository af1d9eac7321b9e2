#include <catch2/catch.hpp>

#include <motes/io/frame_source.h>
#include <motes/io/input_policy.h>

#include "tests/io/images/frame_errors.h"
#include "tests/io/images/tiff_bytes.h"
#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;
using io::open_frames;

namespace {

/// OME-XML of t 2, z 3, c 1, with one file per time: the planes of time t are the pages of "t<t>.ome.tif".
std::string set_xml(const std::string& second = "t1.ome.tif", const std::string& planes = "") {
  std::string xml =
      "<?xml version=\"1.0\"?><OME xmlns=\"http://www.openmicroscopy.org/Schemas/OME/2016-06\"><Image "
      "ID=\"Image:0\">"
      "<Pixels ID=\"Pixels:0\" DimensionOrder=\"XYZCT\" Type=\"uint16\" SizeX=\"13\" SizeY=\"11\" "
      "SizeZ=\"3\" SizeC=\"1\" "
      "SizeT=\"2\" PhysicalSizeX=\"0.5\" PhysicalSizeY=\"0.5\" PhysicalSizeZ=\"2\"><Channel/>";
  for (int t = 0; t < 2; ++t)
    for (int z = 0; z < 3; ++z)
      xml += "<TiffData FirstT=\"" + std::to_string(t) + "\" FirstZ=\"" + std::to_string(z) + "\" IFD=\"" +
             std::to_string(2 - z) + "\" PlaneCount=\"1\"><UUID FileName=\"" +
             (t == 0 ? "t0.ome.tif" : second) + "\">urn:uuid:" + std::to_string(t) + "</UUID></TiffData>";
  return xml + planes + "</Pixels></Image></OME>";
}

std::filesystem::path save_set(const TempDir& dir, const std::string& xml) {
  for (int t = 0; t < 2; ++t) {
    TiffSpec spec;
    spec.pages = 3;
    spec.description = xml;
    spec.white_is_zero = false;
    save_tiff(dir / ("t" + std::to_string(t) + ".ome.tif"), spec);
  }
  return dir / "t0.ome.tif";
}

std::string plane_times(const std::vector<double>& ms) {
  std::string text;
  for (std::size_t t = 0; t < ms.size(); ++t)
    for (int z = 0; z < 3; ++z)
      text += "<Plane TheT=\"" + std::to_string(t) + "\" TheZ=\"" + std::to_string(z) +
              "\" TheC=\"0\" DeltaT=\"" + std::to_string(ms[t] + z) + "\" DeltaTUnit=\"ms\"/>";
  return text;
}

}  // namespace

TEST_CASE("an OME-TIFF set in several files, by any of its files, its folder or its companion",
          "[frames][ome]") {
  const TempDir dir;
  save_set(dir, set_xml());
  const auto check = [&](const std::filesystem::path& path) {
    INFO(path);
    const auto source = open_frames(path);
    CHECK(source->info().frames == 2);
    CHECK(source->info().shape == Shape3{3, 11, 13});
    CHECK(source->info().voxel_um == Vec3{0.5, 0.5, 2});
    for (int t = 0; t < 2; ++t)
      for (int z = 0; z < 3; ++z) CHECK(plane_is_page(source->read(t), z, 2 - z));
  };
  check(dir / "t0.ome.tif");
  check(dir / "t1.ome.tif");
  check(dir.path());
  spill(dir / "all.companion.ome", set_xml());
  check(dir / "all.companion.ome");
}

TEST_CASE("an OME-TIFF set that is damaged or leads elsewhere", "[frames][ome]") {
  const TempDir dir;
  const auto refusal = [&](const std::string& xml) {
    const auto path = save_set(dir, xml);
    return message_of<InputError>([&] { open_frames(path)->read(1); });
  };
  CHECK_THAT(refusal(set_xml("absent.ome.tif")), Contains("absent.ome.tif"));
  CHECK_THAT(refusal(set_xml("../t1.ome.tif")), Contains("not the name of a file beside"));
  CHECK_THAT(refusal(set_xml("/etc/passwd")), Contains("not the name of a file beside"));
  std::string holed = set_xml();
  holed.replace(holed.find("FirstT=\"1\" FirstZ=\"2\""), 21, "FirstT=\"1\" FirstZ=\"1\"");
  CHECK_THAT(refusal(holed), Contains("no TiffData for plane 5"));
  std::string beyond = set_xml();
  beyond.replace(beyond.rfind("IFD=\"0\""), 7, "IFD=\"7\"");
  CHECK_THAT(refusal(beyond), Contains("names page 8"));
  const std::string elsewhere =
      "<OME><BinaryOnly MetadataFile=\"all.companion.ome\" UUID=\"urn:uuid:1\"/></OME>";
  CHECK_THAT(refusal(elsewhere), Contains("give that file") && Contains("all.companion.ome"));
}

TEST_CASE("an OME-TIFF set in other folders is read only when asked to", "[frames][ome]") {
  const TempDir dir;
  std::filesystem::create_directory(dir / "other");
  save_set(dir, set_xml("other/t1.ome.tif"));
  std::filesystem::rename(dir / "t1.ome.tif", dir / "other/t1.ome.tif");
  const auto open = [&] { open_frames(dir / "t0.ome.tif")->read(1); };
  CHECK_THAT(message_of<InputError>(open), Contains("--allow-outside"));
  spill(dir / "other/a.companion.ome",
        "<OME><Image><Pixels><TiffData><UUID FileName=\"../t0.ome.tif\"/></TiffData></Pixels></Image></OME>");
  CHECK_THAT(message_of<InputError>([&] { open_frames(dir / "other/a.companion.ome"); }),
             Contains("--allow-outside"));
  io::InputPolicy policy = io::input_policy();
  policy.allow_outside = true;
  io::set_input_policy(policy);
  CHECK_NOTHROW(open());
  policy.allow_outside = false;
  io::set_input_policy(policy);
}

TEST_CASE("an OME-TIFF set that names an impossible page", "[frames][ome]") {
  const TempDir dir;
  std::string xml = set_xml();
  const std::string stated = "IFD=\"2\" PlaneCount=\"1\"";
  xml.replace(xml.find(stated), stated.size(), "IFD=\"9223372036854775807\" PlaneCount=\"3\"");
  const auto path = save_set(dir, xml);
  CHECK_THROWS_AS(open_frames(path)->read(0), InputError);
  std::string many = set_xml();
  many.replace(many.find("SizeT=\"2\""), 9, "SizeT=\"30000000\"");
  save_set(dir, many);
  CHECK_THAT(message_of<InputError>([&] { open_frames(path); }), Contains("more than its 2 files can have"));
}

TEST_CASE("the planes' own times give the interval that OME-XML does not state", "[frames][ome]") {
  const TempDir dir;
  const auto info = [&](const std::string& xml) { return open_frames(save_set(dir, xml))->info(); };
  CHECK_FALSE(info(set_xml()).dt_s);
  CHECK(info(set_xml("t1.ome.tif", plane_times({10, 260}))).dt_s == Approx(0.25));
  CHECK_THAT(info(set_xml("t1.ome.tif", plane_times({10, 260}))).notes.front(), Contains("DeltaT"));
  std::string stated = set_xml("t1.ome.tif", plane_times({10, 260}));
  stated.replace(stated.find("PhysicalSizeX"), 0, "TimeIncrement=\"0.5\" ");
  CHECK(info(stated).dt_s == 0.5);
  CHECK_THAT(info(stated).notes.front(), Contains("0.25 s"));
}
