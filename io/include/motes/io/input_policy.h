#pragma once
/// How far the readers believe the files that they are given. One setting for the process: set it before
/// reading, from one thread.

namespace motes::io {

struct InputPolicy {
  /// The files come from a source you trust: formats with a fragile library (HDF5) are read in this process
  /// and not in a child with limits. Files that refer to other files' data are refused all the same.
  bool trusted = false;
  /// BigDataViewer XML and OME companion files may name data outside of their own folder.
  bool allow_outside = false;
};

/// The setting in force; {} at the start.
InputPolicy input_policy();
void set_input_policy(const InputPolicy& policy);

}  // namespace motes::io
