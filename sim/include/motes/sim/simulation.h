#pragma once
/// All of the simulator: motion with ground truth, detections with faults, and volumes.
/// docs/method/simulation.md describes the models.

#include <motes/sim/faults.h>
#include <motes/sim/imaging.h>
#include <motes/sim/motion.h>
