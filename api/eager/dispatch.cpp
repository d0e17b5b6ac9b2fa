#include "api/eager/dispatch.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "api/eager/trace.h"
#include "ir/tensor/verifier.h"

namespace plumb::eager {
namespace {

template <class T> void put(std::string& key, const T& value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); }

std::string key_for(std::string_view name, std::string_view key, std::span<const Tensor> inputs) {
  std::string k;
  k.reserve(128);
  k.append(name).push_back('\0');
  k.append(key).push_back('\0');
  for (const auto& t : inputs) {
    const auto& i = *t.impl();
    put(k, i.dtype);
    put(k, static_cast<std::uint8_t>(i.sizes.size()));
    for (auto s : i.sizes) put(k, s);
  }
  return k;
}

struct Cache {
  std::mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<OpProgram>> programs;
};
Cache& cache() {
  static Cache c;
  return c;
}

std::string operands(std::span<const Tensor> inputs) {
  std::string list;
  for (const auto& t : inputs) list += (list.empty() ? "" : ", ") + (t.impl()->weak ? "a number" : describe(t));
  return "(" + list + ")";
}

/// The message without the IR's own place and signature, which the caller has not written.
[[noreturn]] void fail_operation(const Error& e, std::string_view name, std::span<const Tensor> inputs, Here here) {
  std::string what = e.what();
  if (e.where().known() && what.starts_with(e.where().str() + ": ")) what.erase(0, e.where().str().size() + 2);
  throw Error(e.kind(), std::string(name) + operands(inputs) + ": " + what, place(here));
}

thread_local std::vector<int> live_levels;   ///< transforms that have not ended, the innermost last
std::atomic<int> levels_made{0};

/// The innermost transform whose tangents the inputs carry, or 0.
int top_level(std::span<const Tensor> inputs) {
  int level = 0;
  for (const auto& t : inputs)
    for (const auto& u : t.impl()->tangents)
      if (u.level > level && std::find(live_levels.begin(), live_levels.end(), u.level) != live_levels.end()) level = u.level;
  return level;
}

const Tensor* tangent(const Tensor& t, int level) {
  for (const auto& u : t.impl()->tangents)
    if (u.level == level) return &u.value;
  return nullptr;
}

/// The same tensor without its tangent of a level.
Tensor without(const Tensor& t, int level) {
  if (!tangent(t, level)) return t;
  auto impl = std::make_shared<TensorImpl>(*t.impl());
  std::erase_if(impl->tangents, [&](const auto& u) { return u.level == level; });
  if (!impl->grad_fn.node && t.impl()->requires_grad) impl->grad_fn = edge_of(t);
  impl->retains_grad = false;
  return Tensor(std::move(impl));
}

/// Forward mode, of the innermost transform: the operation once with its tangents, of the tensors as the others see them.
std::vector<Tensor> run_forward(int level, const std::shared_ptr<OpProgram>& program, std::string_view name, const std::vector<Tensor>& inputs, Here here) {
  std::vector<bool> wanted;
  std::vector<Tensor> all, tangents;
  for (const auto& t : inputs) {
    const auto* u = tangent(t, level);
    wanted.push_back(u && is_float(t.dtype()));
    if (wanted.back()) tangents.push_back(*u);
    all.push_back(without(t, level));
  }
  if (tangents.empty()) return run(program, name, std::move(all), here);
  all.insert(all.end(), tangents.begin(), tangents.end());
  std::shared_ptr<OpProgram> forward;
  try {
    forward = program->pushforward(wanted);
  } catch (const Error& e) {
    fail_operation(e, name, inputs, here);
  }
  auto out = run(forward, name, std::move(all), here);
  // A tape inside of this transform pulls back through what carries the tangents; one around it, through the tangents too.
  const auto node = record(program, std::string(name), inputs, here);
  const auto results = program->gives().size();
  std::size_t next = results;
  for (std::size_t k = 0; k < results; ++k) {
    if (!is_float(program->gives()[k].dtype)) continue;
    out[k].impl()->tangents.push_back({level, out[next++]});
    if (node) out[k].impl()->grad_fn = {node, k};
  }
  out.resize(results);
  return out;
}

std::vector<Tensor> run_eagerly(const std::shared_ptr<OpProgram>& program, std::span<const Tensor> inputs) {
  std::vector<ir::Literal> in;
  in.reserve(inputs.size());
  for (const auto& t : inputs)
    if (t.impl()->storage->trace) fail_input("an operand is a value of a capture that ended; return it from the captured function, or change a tensor in place there");
  for (const auto& t : inputs) in.push_back(literal_of(*t.impl()));
  std::vector<Tensor> out;
  for (auto& l : program->run(in)) out.push_back(wrap(std::move(l)));
  return out;
}

std::vector<Tensor> run_traced(Trace& trace, const OpProgram& program, std::span<const Tensor> inputs, Here here) {
  Values in;
  for (const auto& t : inputs) in.push_back(trace.read(t, here));
  std::vector<Tensor> out;
  const auto values = trace.append(program.module(), in, here);
  for (std::size_t k = 0; k < values.size(); ++k) out.push_back(wrap_traced(shared_active_trace(), values[k], program.gives()[k]));
  return out;
}

}  // namespace

ForwardLevel::ForwardLevel() : number(++levels_made) { live_levels.push_back(number); }
ForwardLevel::~ForwardLevel() { std::erase(live_levels, number); }

std::shared_ptr<OpProgram> program_of(std::string_view name, std::string_view key, std::span<const Tensor> inputs, Build build, Here here) {
  for (const auto& t : inputs) get(t, here, std::string(name).c_str());
  auto full = key_for(name, key, inputs);
  {
    const std::lock_guard lock(cache().mutex);
    if (const auto at = cache().programs.find(full); at != cache().programs.end()) return at->second;
  }
  try {
    ir::Module m;
    auto& f = m.functions.emplace_back();
    ir::Builder b(f);
    b.at(place(here));
    Values in;
    for (const auto& t : inputs) in.push_back(b.param(type_of(*t.impl()), "x" + std::to_string(in.size())));
    b.results(build(b, in));
    ir::verify(m, ErrorKind::internal);
    auto program = std::make_shared<OpProgram>(std::move(m), Execution{});
    const std::lock_guard lock(cache().mutex);
    return cache().programs.emplace(std::move(full), std::move(program)).first->second;
  } catch (const Error& e) {
    fail_operation(e, name, inputs, here);
  }
}

std::vector<Tensor> run(const std::shared_ptr<OpProgram>& program, std::string_view name, std::vector<Tensor> inputs, Here here) {
  if (const int level = top_level(inputs); level > 0) return run_forward(level, program, name, inputs, here);
  std::vector<Tensor> out;
  try {
    auto* trace = active_trace();
    out = trace ? run_traced(*trace, *program, inputs, here) : run_eagerly(program, inputs);
  } catch (const Error& e) {
    if (e.where().known() && e.where() == place(here)) throw;
    fail_operation(e, name, inputs, here);
  }
  if (auto node = record(program, std::string(name), inputs, here))
    for (std::size_t k = 0; k < out.size(); ++k)
      if (is_float(out[k].dtype())) out[k].impl()->grad_fn = {node, k};
  return out;
}

std::vector<Tensor> call(std::string_view name, std::string_view key, std::vector<Tensor> inputs, Here here, Build build) {
  const auto program = program_of(name, key, inputs, build, here);
  return run(program, name, std::move(inputs), here);
}

std::string key_of(const ir::AttrMap& attrs) {
  std::string key;
  for (const auto& [name, value] : attrs.entries()) {
    key.append(name).push_back('=');
    key.push_back(static_cast<char>(value.index()));
    std::visit([&]<class T>(const T& v) {
      if constexpr (std::is_same_v<T, std::string>) key.append(v).push_back('\0');
      else if constexpr (std::is_same_v<T, ir::Ints> || std::is_same_v<T, ir::Reals>) {
        put(key, v.size());
        for (auto x : v) put(key, x);
      } else if constexpr (std::is_same_v<T, ir::Shape>) {
        put(key, v.size());
        for (const auto& d : v) put(key, d.size());
      } else if constexpr (std::is_same_v<T, ir::Literal>) fail_internal("a literal is no part of a key");
      else put(key, v);
    }, value);
  }
  return key;
}

ir::AttrMap attrs(std::initializer_list<std::pair<std::string_view, ir::AttrValue>> entries) {
  ir::AttrMap m;
  for (const auto& [name, value] : entries) m.set(name, value);
  return m;
}

std::vector<Tensor> apply(std::string_view op, std::vector<Tensor> inputs, const ir::AttrMap& attributes, Here here) {
  return call(op, key_of(attributes), std::move(inputs), here, [&](ir::Builder& b, const Values& in) { return b.add(op, in, attributes); });
}

Tensor apply1(std::string_view op, std::vector<Tensor> inputs, const ir::AttrMap& attributes, Here here) { return apply(op, std::move(inputs), attributes, here).at(0); }

}  // namespace plumb::eager
