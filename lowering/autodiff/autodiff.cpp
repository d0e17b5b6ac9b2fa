// The transforms of a whole program.
#include "lowering/autodiff/autodiff.h"

#include <algorithm>

#include "ir/tensor/builder.h"
#include "ir/tensor/op_table.h"
#include "ir/tensor/split_complex.h"
#include "ir/tensor/verifier.h"
#include "lowering/autodiff/module.h"

namespace plumb::lowering {
namespace {

using autodiff::Task;
using Flags = std::vector<bool>;

Flags named(const ir::Function& f, const std::vector<std::string>& wrt) {
  auto flags = autodiff::floats(f, f.params);
  if (wrt.empty()) {
    if (std::none_of(flags.begin(), flags.end(), [](bool x) { return x; })) fail_input("@" + f.name + " takes no floats: there is nothing to differentiate by");
    return flags;
  }
  Flags r(flags.size(), false);
  for (const auto& name : wrt) {
    const auto at = std::find_if(f.params.begin(), f.params.end(), [&](auto v) { return f.value(v).name == name; }) - f.params.begin();
    const auto k = static_cast<std::size_t>(at);
    if (k == f.params.size()) {
      std::string list;
      for (auto v : f.params) list += (list.empty() ? "%" : ", %") + f.value(v).name;
      fail_input("@" + f.name + " has no parameter %" + name + " to differentiate by; it takes " + list);
    }
    if (!flags[k]) fail_input("%" + name + ": " + f.type(f.params[k]).str() + " has no derivative: only floats have");
    r[k] = true;
  }
  return r;
}

/// The module as derivatives see it: real numbers alone.
ir::Module real(const ir::Module& m) {
  const auto& f = m.entry();
  for (const auto* list : {&f.params, &f.results})
    for (auto v : *list)
      if (is_complex(f.type(v).dtype)) fail_unsupported("derivatives by or of complex tensors are not there yet: %" + f.value(v).name + " is " + f.type(v).str() + "; take and give its parts, by complex, real and imag");
  return ir::has_complex(m) ? ir::split_complex(m) : m;
}

ir::Module with_entry(ir::Module m, ir::Function f) {
  const auto name = m.entry().name;
  for (auto& each : m.functions)
    if (each.name == name) each = std::move(f);
  ir::verify(m, ErrorKind::internal);
  return m;
}

bool is_one_scalar(const ir::Function& f) { return f.results.size() == 1 && is_float(f.type(f.results[0]).dtype) && f.type(f.results[0]).rank() == 0; }

}  // namespace

ir::Module vjp(const ir::Module& module, const Differentiate& what) {
  auto m = real(module);
  const ir::Function f = m.entry();
  if (what.ones && !is_one_scalar(f)) fail_input("a gradient is of one float of rank 0; @" + f.name + " gives " + std::to_string(f.results.size()) + " results, the first " + (f.results.empty() ? "missing" : f.type(f.results[0]).str()));
  auto r = autodiff::reversed(f, {m, named(f, what.wrt), autodiff::floats(f, f.results), what.values, what.ones, true});
  return with_entry(std::move(m), std::move(r));
}

ir::Module gradient(const ir::Module& module, std::vector<std::string> wrt) { return vjp(module, {std::move(wrt), true, is_one_scalar(module.entry())}); }

/// The reverse is linear in its seeds, and the reverse of that in turn is the derivative itself: transposed twice. The first
/// reverse's seeds then decide nothing.
ir::Module jvp(const ir::Module& module, const Differentiate& what) {
  auto m = real(module);
  const ir::Function f = m.entry();
  const auto seeded = autodiff::floats(f, f.results), wrt = named(f, what.wrt);
  const auto count = [](const Flags& flags) { return static_cast<std::size_t>(std::count(flags.begin(), flags.end(), true)); };
  const auto seeds = count(seeded), tangents = count(wrt);
  const auto first = autodiff::reversed(f, {m, wrt, seeded, true, false, false});
  Flags by_seeds(first.params.size(), false), of_cotangents(first.results.size(), false);
  std::fill(by_seeds.end() - static_cast<std::ptrdiff_t>(seeds), by_seeds.end(), true);
  std::fill(of_cotangents.end() - static_cast<std::ptrdiff_t>(tangents), of_cotangents.end(), true);
  auto r = autodiff::reversed(first, {m, by_seeds, of_cotangents, true, false, false});
  // r takes the parameters, seeds and tangents, and gives the values, cotangents (dropped) and the tangents of results.
  const auto kept = static_cast<std::ptrdiff_t>(f.results.size());
  r.results.erase(r.results.begin() + kept, r.results.begin() + kept + static_cast<std::ptrdiff_t>(tangents));
  r = autodiff::zeroed(r, f.params.size(), seeds);
  if (!what.values) r.results.erase(r.results.begin(), r.results.begin() + kept);
  return with_entry(std::move(m), autodiff::tidied(std::move(r)));
}

}  // namespace plumb::lowering
