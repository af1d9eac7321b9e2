/// The requests from the parent to the child process, and their answers.

#include "io/hdf5/reader.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <new>
#include <system_error>

#include <motes/base/errors.h>
#include <motes/io/input_policy.h>

#include "io/files/bytes.h"
#include "io/files/text.h"

namespace motes::io::detail::h5 {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";

enum class Operation : std::uint8_t { has, dataset, rows, names, numbers, text, attribute_names, members };

std::string packed(const std::optional<DatasetInfo>& info) {
  std::string out;
  if (!info) return out;
  put(out, static_cast<std::uint8_t>(info->type));
  put(out, static_cast<std::uint64_t>(info->rows_at_once));
  for (const std::int64_t length : info->shape) put(out, static_cast<std::uint64_t>(length));
  return out;
}

std::string packed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) put_text(out, name);
  return out;
}

}  // namespace

struct Reader::Request {
  Operation operation = Operation::has;
  std::string object = "/", attribute = "";  ///< of a dataset of records: a member
  Number as = Number::f64;
  std::int64_t first = 0, count = 0;

  std::string pack() const {
    std::string out;
    put(out, static_cast<std::uint8_t>(operation));
    put_text(out, object);
    put_text(out, attribute);
    put(out, static_cast<std::uint8_t>(as));
    put(out, static_cast<std::uint64_t>(first));
    put(out, static_cast<std::uint64_t>(count));
    return out;
  }
  static Request unpack(std::string_view bytes) {
    Source source(bytes);
    Request request;
    request.operation = static_cast<Operation>(source.number<std::uint8_t>());
    request.object = source.text();
    request.attribute = source.text();
    request.as = static_cast<Number>(source.number<std::uint8_t>());
    request.first = static_cast<std::int64_t>(source.number<std::uint64_t>());
    request.count = static_cast<std::int64_t>(source.number<std::uint64_t>());
    return request;
  }

  /// The answer; computed alike in the child and in this process.
  std::string serve(const CheckedFile& file, std::span<std::byte> out) const {
    switch (operation) {
      case Operation::has:
        return file.has(object) ? "1" : "";
      case Operation::dataset:
        return packed(file.has(object) ? file.dataset(object, attribute) : std::nullopt);
      case Operation::rows:
        file.read_rows(object, as, first, count, out, attribute);
        return "";
      case Operation::names:
        return packed(file.names(object));
      case Operation::numbers: {
        std::string bytes;
        if (const auto values = file.numbers(object, attribute)) put_numbers(bytes, *values);
        return bytes;
      }
      case Operation::text: {
        const auto value = file.text(object, attribute);
        return value ? "1" + *value : "";
      }
      case Operation::attribute_names:
        return packed(file.attribute_names(object));
      case Operation::members:
        return packed(file.has(object) ? file.members(object) : std::vector<std::string>());
    }
    return "";
  }
};

namespace {

std::vector<std::string> unpacked_names(const std::string& bytes) {
  std::vector<std::string> names;
  Source source(bytes);
  while (source.left() > 0 && source.ok()) names.push_back(source.text());
  if (!source.ok()) names.pop_back();
  return names;
}

}  // namespace

Reader::Reader(const std::filesystem::path& path) : path_(path.string()) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) throw InputError(path_ + ": cannot open the file: " + error.message() + "; check the path");
  if (input_policy().trusted) {
    direct_ = std::make_unique<CheckedFile>(path);
    return;
  }
  silence();  // also initialises the library, once for all children
  jail_ = std::make_unique<Jail>(path_, Jail::memory_for(size), [&path]() -> Serve {
    return [file = std::make_shared<CheckedFile>(path)](std::string_view request, std::span<std::byte> out) {
      return Request::unpack(request).serve(*file, out);
    };
  });
}

Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

void Reader::fail(const std::string& what) const {
  throw InputError(path_ + ": " + what + "; restore the file or write it again");
}

std::string Reader::ask(const Request& request, std::span<std::byte> out) const {
  if (direct_) {
    try {
      return request.serve(*direct_, out);
    } catch (const std::bad_alloc&) {
      throw ResourceError(path_ + ": not enough memory to read it; it is damaged, or larger than memory");
    }
  }
  const std::string answer = jail_->ask(request.pack(), out.size());
  if (!out.empty()) std::memcpy(out.data(), jail_->shared().data(), out.size());
  return answer;
}

bool Reader::has(const std::string& name) const { return !ask({Operation::has, name}).empty(); }

std::optional<DatasetInfo> Reader::dataset(const std::string& name, const std::string& member) const {
  const std::string bytes = ask({Operation::dataset, name, member});
  if (bytes.empty()) return std::nullopt;
  Source source(bytes);
  DatasetInfo info;
  const auto type = source.number<std::uint8_t>();
  info.type = static_cast<Number>(type);
  info.rows_at_once = static_cast<std::int64_t>(source.number<std::uint64_t>());
  // A hostile file may control the child, so its answers are checked again.
  constexpr std::int64_t kMost = std::int64_t{1} << 56;
  std::int64_t values = 8;
  while (source.left() > 0 && source.ok()) {
    info.shape.push_back(static_cast<std::int64_t>(source.number<std::uint64_t>()));
    const std::int64_t length = info.shape.back();
    if (length < 0 || length > kMost / std::max<std::int64_t>(values, 1))
      fail(name + " has no readable shape");
    values *= std::max<std::int64_t>(length, 1);
  }
  if (!source.ok() || type > static_cast<std::uint8_t>(Number::f64) || info.rows_at_once < 1)
    fail(name + " has no readable shape");
  return info;
}

int Reader::dimensions(const std::string& name) const {
  try {
    const auto info = dataset(name);
    return info ? static_cast<int>(info->shape.size()) : -1;
  } catch (const InputError&) {
    return -1;
  }
}

void Reader::read_rows(const std::string& name, Number as, std::int64_t first, std::int64_t count,
                       std::span<std::byte> out, const std::string& member) const {
  const auto info = dataset(name, member);
  if (!info) fail("the dataset " + name + " is missing");
  const std::size_t row = static_cast<std::size_t>(info->row_values()) * size_of(as);
  if (count < 0 || out.size() != static_cast<std::size_t>(count) * row) fail(name + " has changed its shape");
  if (out.empty()) return;
  const std::int64_t chunk = direct_ ? count : info->rows_at_once;
  for (std::int64_t done = 0; done < count;) {
    // Windows begin at chunk boundaries, so that no chunk is decoded twice.
    const std::int64_t step = std::min(count - done, chunk - (direct_ ? 0 : (first + done) % chunk));
    ask({Operation::rows, name, member, as, first + done, step},
        out.subspan(static_cast<std::size_t>(done) * row, static_cast<std::size_t>(step) * row));
    done += step;
  }
  constexpr std::size_t kWorthReleasing = 1 << 20;
  if (jail_ && out.size() > kWorthReleasing) jail_->release_shared();
}

void Reader::read(const std::string& name, Number as, std::span<std::byte> out) const {
  const auto info = dataset(name);
  if (!info) fail("the dataset " + name + " is missing");
  read_rows(name, as, 0, info->shape.empty() ? 1 : info->shape[0], out);
}

template <class T>
std::vector<T> Reader::column(const std::string& name, Number as, std::size_t width,
                              const std::string& member) const {
  if (!has(name)) fail("the dataset " + name + " is missing");
  const auto info = dataset(name, member);
  if (!info) fail(name + " is damaged or not a dataset");
  if (is_float(info->type) && !is_float(as)) fail(name + " holds values of the wrong type");
  if (info->shape.size() != (width == 0 ? 1U : 2U))
    fail(name + (width == 0 ? " is not a one-dimensional dataset" : " is not a table"));
  if (width != 0 && info->shape[1] != static_cast<std::int64_t>(width))
    fail(name + " must have " + std::to_string(width) + " columns");
  std::vector<T> values(static_cast<std::size_t>(info->values()));
  read_rows(name, as, 0, info->shape[0], std::as_writable_bytes(std::span(values)), member);
  return values;
}

std::vector<double> Reader::doubles(const std::string& name) const {
  return column<double>(name, Number::f64, 0);
}
std::vector<double> Reader::doubles(const std::string& name, const std::string& member) const {
  return column<double>(name, Number::f64, 0, member);
}
std::vector<std::int32_t> Reader::int32s(const std::string& name) const {
  return column<std::int32_t>(name, Number::i32, 0);
}
std::vector<std::int64_t> Reader::int64s(const std::string& name) const {
  return column<std::int64_t>(name, Number::i64, 0);
}
std::vector<double> Reader::table(const std::string& name, std::size_t width) const {
  return column<double>(name, Number::f64, width);
}

std::vector<std::string> Reader::members(const std::string& name) const {
  return unpacked_names(ask({Operation::members, name}));
}

std::vector<std::string> Reader::names(const std::string& group) const {
  return unpacked_names(ask({Operation::names, group}));
}

std::optional<std::vector<double>> Reader::list_attribute(const std::string& name,
                                                          const std::string& object) const {
  const std::string bytes = ask({Operation::numbers, object, name});
  if (bytes.empty()) return std::nullopt;
  return Source(bytes).numbers(bytes.size() / sizeof(double));
}

std::optional<double> Reader::number_attribute(const std::string& name, const std::string& object) const {
  const auto values = list_attribute(name, object);
  if (!values) return std::nullopt;
  if (values->size() != 1)
    fail("the attribute " + name + " holds " + std::to_string(values->size()) + " values; one is expected");
  return values->front();
}

std::vector<double> Reader::number_list_attribute(const std::string& name, std::size_t count) const {
  auto values = list_attribute(name);
  if (!values) return {};
  if (values->size() != count)
    fail("the attribute " + name + " must hold " + std::to_string(count) + " numbers");
  return std::move(*values);
}

std::optional<std::string> Reader::text_attribute(const std::string& name, const std::string& object) const {
  std::string answer = ask({Operation::text, object, name});
  if (answer.empty()) return std::nullopt;
  return answer.substr(1);
}

std::vector<std::string> Reader::attribute_names(const std::string& object) const {
  return unpacked_names(ask({Operation::attribute_names, object}));
}

bool holds(const std::filesystem::path& path, const std::vector<std::string>& there,
           const std::vector<std::string>& absent) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::optional<Reader> file;
  try {
    // A user block of 512 bytes, or a power of two times that, may come first; formats that motes reads have
    // none.
    if (!read_file_start(path, kSignature.size()).starts_with(kSignature)) return false;
    file.emplace(path);
  } catch (const InputError&) {
    return false;
  }
  return std::all_of(there.begin(), there.end(), [&](const auto& name) { return file->has(name); }) &&
         std::none_of(absent.begin(), absent.end(), [&](const auto& name) { return file->has(name); });
}

}  // namespace motes::io::detail::h5
