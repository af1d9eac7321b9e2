#include <motes/sim/simulation.h>
#include <motes/tracking/linker.h>
#include <motes/version.h>

int main() { return motes::tracking::build_tracks({}, {}).tracks() == 0 ? 0 : 1; }
