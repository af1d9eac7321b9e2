#pragma once
/// How far readers trust input files. One setting for the whole process; set it before reading, from one
/// thread.

namespace motes::io {

struct InputPolicy {
  /// The files come from a source you trust: formats with a fragile library (HDF5) are read in this process
  /// instead of a child process with limits. Files that refer to data in other files are still rejected.
  bool trusted = false;
  /// BigDataViewer XML and OME companion files may refer to data outside their own folder.
  bool allow_outside = false;
};

/// The current setting; {} at the start.
InputPolicy input_policy();
void set_input_policy(const InputPolicy& policy);

}  // namespace motes::io
