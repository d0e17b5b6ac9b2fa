// Reverse mode through control flow.
#pragma once
#include "lowering/autodiff/module.h"
#include "lowering/autodiff/rules.h"

namespace plumb::lowering::autodiff {

/// The cotangents of an if's or a scan's operands; bad input for a while: how often it runs is not known, nor then what it needs
/// to keep.
std::vector<ValueId> pull_control(const Task& task, const ir::Node& n, const Step& s);

}  // namespace plumb::lowering::autodiff
