// Derivatives of the functions of a module: what the transforms and control flow share.
#pragma once
#include "ir/tensor/graph.h"

namespace plumb::lowering::autodiff {

/// By which parameters a derivative is taken, and of which results.
struct Task {
  ir::Module& module;             ///< gets the functions that control flow comes to name
  std::vector<bool> wrt;          ///< a flag a parameter
  std::vector<bool> seeded;       ///< a flag a result: whether a cotangent of it comes in
  bool values = false;            ///< the function's own results come first
  bool ones = false;              ///< every seed is 1, and none comes in
  bool guarded = true;            ///< a 0 of what was not selected absorbs any slope; without, the result is linear in the seeds
};

/// Which values depend on the parameters, by floats.
std::vector<bool> active_values(const ir::Function& f, const std::vector<bool>& wrt);
/// The function with the composites that take part taken apart, where they have no rule.
ir::Function expanded(const ir::Function& f, const std::vector<bool>& wrt);
/// A function that takes f's parameters and the cotangents of the seeded results, and gives the cotangents of the parameters.
ir::Function reversed(const ir::Function& f, const Task& task);
/// Equal operations once, none whose result is unused, no conversions there and back; values numbered anew.
ir::Function tidied(ir::Function f);

/// The function without some of its parameters, which are 0.
ir::Function zeroed(const ir::Function& f, std::size_t first, std::size_t count);

/// A flag for each float type.
std::vector<bool> floats(const ir::Function& f, const std::vector<ir::ValueId>& values);
/// A name like this one that no function of the module has.
std::string fresh_name(const ir::Module& module, const std::string& wish);

}  // namespace plumb::lowering::autodiff
