// Control flow: what is pulled back through a call is a call, of the function's own reverse. That computes the forward values it
// needs again, so that only a scan's carried values are kept.
#include "lowering/autodiff/control.h"

#include "ir/tensor/op_table.h"

namespace plumb::lowering::autodiff {
namespace {

using ir::Function;
using Flags = std::vector<bool>;

/// Adds a function's reverse to the module; gives its name.
std::string add_reverse(const Task& task, const std::string& name, const Flags& wrt, const Flags& seeded) {
  const Function f = *task.module.find(name);
  Function r = reversed(f, {task.module, wrt, seeded, false, false, task.guarded});
  r.name = fresh_name(task.module, name + "_reverse");
  task.module.functions.push_back(r);
  return task.module.functions.back().name;
}

/// The operands whose flag is set; their types.
std::vector<ValueId> chosen(const std::vector<ValueId>& values, const Flags& flags) {
  std::vector<ValueId> r;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (flags[k]) r.push_back(values[k]);
  return r;
}
std::vector<Type> types_of(const Words& w, const std::vector<ValueId>& values) {
  std::vector<Type> r;
  for (auto v : values) r.push_back(w.type(v));
  return r;
}
void append(std::vector<ValueId>& to, const std::vector<ValueId>& more) { to.insert(to.end(), more.begin(), more.end()); }

/// The results' cotangents; zeros where none arrives at a float.
std::vector<ValueId> cotangents(const Step& s) {
  auto g = s.g;
  for (std::size_t k = 0; k < g.size(); ++k)
    if (g[k] < 0 && is_float(s.w.type(s.out[k]).dtype)) g[k] = s.w.zeros(s.w.type(s.out[k]));
  return g;
}
Flags float_flags(const Words& w, const std::vector<ValueId>& values) {
  Flags r;
  for (auto v : values) r.push_back(is_float(w.type(v).dtype));
  return r;
}
/// Values for the operands that are wanted, at their places.
std::vector<ValueId> placed(const Step& s, const std::vector<ValueId>& values, const Flags& at) {
  auto r = s.nothing();
  std::size_t next = 0;
  for (std::size_t k = 0; k < r.size(); ++k)
    if (at[k]) r[k] = values[next++];
  return r;
}

std::vector<ValueId> pull_if(const Task& task, const Step& s) {
  const Flags wrt(s.wanted.begin() + 1, s.wanted.end()), seeded = float_flags(s.w, s.out);
  const auto then = add_reverse(task, s.a.text("then"), wrt, seeded), otherwise = add_reverse(task, s.a.text("else"), wrt, seeded);
  auto operands = s.in;
  append(operands, chosen(cotangents(s), seeded));
  const auto results = s.w.b.add_typed(ir::op("if"), operands, attrs({{"then", then}, {"else", otherwise}}), types_of(s.w, chosen(s.in, s.wanted)));
  return placed(s, results, s.wanted);
}

/// A type with an axis 0 of n.
Type stacked(const Type& t, ir::Dim n) {
  Shape shape{n};
  for (const auto& d : t.shape) shape.push_back(d);
  return {t.dtype, shape};
}

/// The body, giving also the carried values that it was given, as slices: what the way back starts each step from.
std::string add_keeping_body(const Task& task, const std::string& name, std::size_t carries) {
  Function f = *task.module.find(name);
  for (std::size_t k = 0; k < carries; ++k) f.results.push_back(f.params[k]);
  f.result_names.clear();
  f.name = fresh_name(task.module, name + "_keeping");
  task.module.functions.push_back(f);
  return task.module.functions.back().name;
}

/// A step back as a scan's body: takes the cotangents carried, then the slices (carried values, scanned values, results' cotangents),
/// and gives cotangents of the carried and of the scanned values.
std::string add_body_back(const Task& task, const std::string& reverse, std::size_t inputs, std::size_t carried, std::size_t slices) {
  const Function& r = *task.module.find(reverse);   // takes inputs, carried cotangents, slices' cotangents
  Function f;
  f.name = fresh_name(task.module, reverse + "_step");
  Builder b(f);
  const auto param = [&](std::size_t k) { return b.param(r.type(r.params[k]), r.value(r.params[k]).name); };
  std::vector<ValueId> now(r.values.size(), -1);
  const auto take = [&](std::size_t from, std::size_t count) {
    for (auto k = from; k < from + count; ++k) now[static_cast<std::size_t>(r.params[k])] = param(k);
  };
  take(inputs, carried);
  take(0, inputs);
  take(inputs + carried, slices);
  for (const auto& n : r.nodes) {
    std::vector<ValueId> operands;
    std::vector<Type> types;
    for (auto v : n.operands) operands.push_back(now[static_cast<std::size_t>(v)]);
    for (auto v : n.results) types.push_back(r.type(v));
    b.at(n.where);
    const auto made = b.add_typed(n.op, operands, n.attrs, types);
    for (std::size_t k = 0; k < made.size(); ++k) now[static_cast<std::size_t>(n.results[k])] = made[k];
  }
  std::vector<ValueId> results;
  for (auto v : r.results) results.push_back(now[static_cast<std::size_t>(v)]);
  b.results(results);
  task.module.functions.push_back(tidied(std::move(f)));
  return task.module.functions.back().name;
}

std::vector<ValueId> pull_scan(const Task& task, const Step& s) {
  const auto carries = static_cast<std::size_t>(s.a.integer("carries"));
  const auto n = s.type(carries).shape[0];
  const auto& w = s.w;
  // All float carried values take part: a step may make any of them depend on what takes part.
  Flags wrt = float_flags(w, s.in);
  for (auto k = carries; k < wrt.size(); ++k) wrt[k] = s.wanted[k];
  const Flags seeded = float_flags(w, s.out);
  const auto body = s.a.text("body");

  std::vector<Type> types = types_of(w, s.out);
  for (std::size_t k = 0; k < carries; ++k) types.push_back(stacked(s.type(k), n));
  const auto kept = w.b.add_typed(ir::op("scan"), s.in, attrs({{"body", add_keeping_body(task, body, carries)}, {"carries", s.a.integer("carries")}, {"reverse", s.a.flag("reverse")}}), types);

  const auto g = cotangents(s);
  const auto split = [&](const std::vector<ValueId>& v, const Flags& flags, bool carried) {
    std::vector<ValueId> r;
    for (std::size_t k = carried ? 0 : carries; k < (carried ? carries : v.size()); ++k)
      if (flags[k]) r.push_back(v[k]);
    return r;
  };
  const auto carried_back = split(g, seeded, true), slices_back = split(g, seeded, false);
  auto operands = carried_back;
  append(operands, {kept.end() - static_cast<std::ptrdiff_t>(carries), kept.end()});
  append(operands, {s.in.begin() + static_cast<std::ptrdiff_t>(carries), s.in.end()});
  append(operands, slices_back);
  const auto reverse = add_reverse(task, body, wrt, seeded);
  const auto step = add_body_back(task, reverse, s.in.size(), carried_back.size(), slices_back.size());
  const auto results = w.b.add_typed(ir::op("scan"), operands, attrs({{"body", step}, {"carries", static_cast<std::int64_t>(carried_back.size())}, {"reverse", !s.a.flag("reverse")}}), types_of(w, chosen(s.in, wrt)));
  return placed(s, results, wrt);
}

}  // namespace

std::vector<ValueId> pull_control(const Task& task, const ir::Node& n, const Step& s) {
  if (s.op == "if") return pull_if(task, s);
  if (s.op == "scan") return pull_scan(task, s);
  fail_input(std::string(s.op) + " has no derivative in reverse: how many steps it takes, and so what to keep of them, is not known before it runs; scan, whose steps are counted, has one", n.where);
}

}  // namespace plumb::lowering::autodiff
