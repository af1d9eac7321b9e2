#pragma once
/// Texts of report.html that the build embeds in the program.

#include <string_view>

namespace motes::app {

extern const std::string_view kPageTemplate;  ///< report_page.html
extern const std::string_view kChartLibrary;  ///< Chart.js, minified; empty if the build did not find it
extern const std::string_view kSceneLibrary;  ///< three.js, minified; empty as above
extern const std::string_view kOrbitLibrary;  ///< its OrbitControls: drag to turn

}  // namespace motes::app
