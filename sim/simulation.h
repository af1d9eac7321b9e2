#pragma once
/// All of the simulator: motion with ground truth, detections with faults, and volumes. docs/simulation.md
/// states the models.

#include "sim/faults.h"
#include "sim/imaging.h"
#include "sim/motion.h"
