#pragma once
/// All of the simulator: motion with ground truth, and volumes of it. docs/simulation.md states the models.

#include "sim/imaging.h"
#include "sim/motion.h"
