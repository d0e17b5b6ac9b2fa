// Which buffers need watching for races: those for which plain arithmetic does not show that iterations cannot meet.
#pragma once
#include <vector>

#include "ir/kernel/kernel.h"

namespace plumb::interp::kernel {

/// For each buffer, whether two unordered iterations might touch one element, as far as its accesses' indices tell.
std::vector<bool> may_race(const kir::Kernel& kernel);

}  // namespace plumb::interp::kernel
