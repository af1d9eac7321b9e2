#include "matching/device/device.h"

namespace motes::matching {

DeviceReport list_devices() { return {{}, MOTES_NO_CUDA_REASON}; }

}  // namespace motes::matching
