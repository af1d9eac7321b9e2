// The library's errors as Python exceptions.

#include <regex>
#include <stdexcept>
#include <string>
#include <utility>

#include <motes/base/errors.h>

#include "python/src/python.h"

namespace motes::python {
namespace {

nb::handle usage_error, input_error, resource_error;

nb::handle make_error(nb::module_& m, const char* name, PyObject* base, const char* doc) {
  const std::string full = std::string("motes.") + name;
  PyObject* type = PyErr_NewExceptionWithDoc(full.c_str(), doc, base, nullptr);
  if (type == nullptr) nb::raise_python_error();
  m.attr(name) = nb::steal(type);
  return m.attr(name);
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const UsageError& e) {
    PyErr_SetString(usage_error.ptr(), in_python(e.what()).c_str());
  } catch (const InputError& e) {
    PyErr_SetString(input_error.ptr(), in_python(e.what()).c_str());
  } catch (const ResourceError& e) {
    PyErr_SetString(resource_error.ptr(), in_python(e.what()).c_str());
  } catch (const Interrupted&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  }
}

/// Writes `--columns "frame=Time Point,x=X"` as settings={"input.columns": {"frame": "Time Point", "x":
/// "X"}}.
std::string with_columns(std::string line) {
  static const std::regex kOption(R"re(--columns (?:"([^"]*)"|([^\s;"]*[^\s;",.])))re");
  static const std::regex kPart(
      R"((frame|time|x|y|z|particle|parent)=(.*?)(?=,(?:frame|time|x|y|z|particle|parent)=|$))");
  std::string out;
  std::smatch option;
  while (std::regex_search(line, option, kOption)) {
    const std::string names = option[1].matched ? option[1] : option[2];
    out += option.prefix().str() + R"(settings={"input.columns": {)";
    const char* comma = "";
    for (std::sregex_iterator part(names.begin(), names.end(), kPart), end; part != end; ++part, comma = ", ")
      out += comma + ('"' + (*part)[1].str()) + R"(": ")" + (*part)[2].str() + '"';
    out += "}}";
    line = std::string(option.suffix());
  }
  return out + line;
}

}  // namespace

std::string in_python(std::string line) {
  static const std::pair<std::regex, const char*> kWords[] = {
      {std::regex(R"(input\.voxel_um \(--voxel Z,Y,X or one number, in um\))"),
       "voxel_um=[z, y, x] or one number, in um"},
      {std::regex(R"(input\.dt_s \(--dt, in seconds\))"), "dt_s=, in seconds"},
      {std::regex(R"(set input\.voxel_um to um per unit \(--voxel; )"), "give voxel_um, um per unit ("},
      {std::regex(R"(set input\.axes \(--axes\))"), "give axes="},
      {std::regex(R"(--axes ([A-Z]+))"), "axes=\"$1\""},
      {std::regex(R"(--set ([a-z_]+\.[a-z_]+)=(\w+))"), R"(settings={"$1": "$2"})"},
      {std::regex("--remove-drift"), "remove_drift=True"},
      {std::regex(R"(--min-length (\d+))"), R"(settings={"linking.min_length": $1})"},
      {std::regex(R"(--min-confidence ([0-9.]+\d))"), R"(settings={"linking.min_confidence": $1})"},
      {std::regex("--allow-outside"), R"(settings={"input.allow_outside": True})"},
      {std::regex(R"(; set input\.voxel_um, or name the images \(convert --like IMAGE\))"),
       "; give voxel_um, or like=IMAGES"},
      {std::regex(R"(spheres of the masks; set detection\.radius_um)"),
       "spheres of the masks; give radius_um"},
      {std::regex(R"(set detection\.polarity=(\w+))"), "give polarity=\"$1\""},
      {std::regex(R"(use execution\.backend: cpu)"), R"(give backend="cpu")"},
      {std::regex(R"( \(input\.path\))"), ""},
      {std::regex(R"(\(motes info --options lists all keys\))"), "(docs/configuration.md lists all keys)"},
      {std::regex(R"(motes (track|link|analyse)\b)"), "motes.$1"}};
  constexpr std::size_t kLongest = 4000;  // std::regex uses stack for each letter
  if (line.size() > kLongest) return line;
  line = with_columns(std::move(line));
  for (const auto& [theirs, ours] : kWords) line = std::regex_replace(line, theirs, ours);
  return line;
}

void translate_error() { translate(std::current_exception(), nullptr); }

void check_signals() {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void bind_errors(nb::module_& m) {
  usage_error = make_error(m, "UsageError", PyExc_ValueError, "A setting or an argument makes no sense.");
  input_error = make_error(m, "InputError", PyExc_ValueError, "Input data cannot be read or makes no sense.");
  resource_error = make_error(m, "ResourceError", PyExc_OSError, "Memory, disk or device is lacking.");
  nb::register_exception_translator(translate);
}

}  // namespace motes::python
