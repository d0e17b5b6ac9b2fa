// A bound on the memory of the process, so that a tensor too large ends in a message and not in the kernel's OOM killer.
#pragma once

namespace plumb::tools {

/// What the machine or its control group has; no bound where that is not known, or under a sanitizer.
void bound_memory();

}  // namespace plumb::tools
