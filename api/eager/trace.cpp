#include "api/eager/trace.h"

#include <algorithm>
#include <atomic>

namespace plumb::eager {
namespace {

thread_local std::shared_ptr<Trace> active;
std::atomic<std::uint64_t> captures_made{0};

/// "@name" in an attribute, by the new names.
ir::AttrMap renamed(const ir::AttrMap& attrs, const std::map<std::string, std::string>& names) {
  ir::AttrMap r;
  for (const auto& [key, value] : attrs.entries()) {
    const auto* text = std::get_if<std::string>(&value);
    const auto at = text && !text->empty() && text->front() == '@' ? names.find(text->substr(1)) : names.end();
    r.set(key, at == names.end() ? value : ir::AttrValue("@" + at->second));
  }
  return r;
}

ir::Shape flat(const ir::Type& t) { return {ir::Dim(t.elements())}; }

}  // namespace

ir::ValueId strided_read(ir::Builder& b, ir::ValueId storage, const Sizes& sizes, const Sizes& strides, std::int64_t offset) {
  const auto line = b.reshape(storage, flat(b.type(storage)));
  ir::AttrMap attrs;
  attrs.set("size", ir::Ints(sizes));
  attrs.set("strides", ir::Ints(strides));
  attrs.set("offset", offset);
  return b.op("as_strided", {line}, attrs);
}

ir::ValueId strided_write(ir::Builder& b, ir::ValueId storage, ir::ValueId update, const Sizes& sizes, const Sizes& strides, std::int64_t offset) {
  const ir::Type type = b.type(storage);
  const auto elements = count(sizes);
  if (elements == 0) return storage;
  const auto shape = ir::to_shape(sizes);
  ir::ValueId at = b.broadcast_to(b.scalar(DType::i64, static_cast<double>(offset)), shape);
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    ir::AttrMap attrs;
    attrs.set("dtype", DType::i64);
    attrs.set("shape", shape);
    attrs.set("axis", static_cast<std::int64_t>(d));
    const auto index = b.op("iota", std::span<const ir::ValueId>(), attrs);
    at = b.op("add", {at, b.op("mul", {index, b.broadcast_to(b.scalar(DType::i64, static_cast<double>(strides[d])), shape)})});
  }
  const ir::Shape line{ir::Dim(elements)};
  ir::AttrMap attrs;
  attrs.set("axis", std::int64_t{0});
  const auto written = b.op("scatter", {b.reshape(storage, flat(type)), b.reshape(at, line), b.reshape(update, line)}, attrs);
  return b.reshape(written, type.shape);
}

Trace* active_trace() { return active.get(); }
std::shared_ptr<Trace> shared_active_trace() { return active; }

Capturing::Capturing(std::shared_ptr<Trace> trace) : before_(std::move(active)) { active = std::move(trace); }
Capturing::~Capturing() {
  for (const auto& [leaf, before] : active->gradients) leaf->grad = before;   // nothing has really happened
  active->keeps.clear();   // these hold what holds the capture
  active->current.clear();
  active = std::move(before_);
}

Trace::Trace(const Here& where) : serial(++captures_made), here(where), started(storages_made()) {}

ir::ValueId Trace::parameter(const Tensor& t, bool gradient) {
  const auto id = builder.param(t.impl()->storage->type, "x" + std::to_string(entry.params.size()));
  captured.push_back({t, gradient});
  return id;
}

ir::ValueId Trace::storage_value(const Tensor& t, Here use) {
  const auto& s = t.impl()->storage;
  if (s->trace) {
    if (s->trace.get() != this) fail(use, describe(t) + " is a value of another capture, which ended or stands around this one; return what is needed of it, or change a tensor in place");
    return s->traced;
  }
  if (const auto at = current.find(s.get()); at != current.end()) return at->second;
  ir::ValueId id = -1;
  if (s->birth > started) {
    id = builder.constant(s->value);
  } else {
    const auto leaf = std::find_if(gradients.begin(), gradients.end(), [&](const auto& g) { return g.second && g.second->storage == s; });
    auto owner = t.impl()->base ? Tensor(t.impl()->base) : t;
    if (leaf != gradients.end()) id = parameter(Tensor(leaf->first), true);
    else if (owner.impl()->view) fail(use, "a kept view came into a capture without the tensor that it is a view of");
    else id = parameter(owner, false);
  }
  current[s.get()] = id;
  keeps.push_back(s);
  return id;
}

ir::ValueId Trace::read(const Tensor& t, Here use) {
  auto& i = *t.impl();
  const auto whole = storage_value(t, use);
  if (i.whole()) return builder.reshape(whole, ir::to_shape(i.sizes));
  if (i.cached >= 0 && i.cached_in == serial && i.cached_version == i.storage->version) return i.cached;
  builder.at(place(use));
  i.cached = strided_read(builder, whole, i.sizes, i.strides, i.offset);
  i.cached_version = i.storage->version;
  i.cached_in = serial;
  return i.cached;
}

void Trace::write(const Tensor& t, ir::ValueId value, Here use) {
  const auto& i = *t.impl();
  auto whole = storage_value(t, use);
  builder.at(place(use));
  const auto& s = i.storage;
  whole = i.whole() ? builder.reshape(value, s->type.shape) : strided_write(builder, whole, value, i.sizes, i.strides, i.offset);
  if (s->trace) {
    s->traced = whole;
  } else if (s->birth > started) {   // the capture's own from now on
    current.erase(s.get());
    s->trace = active;
    s->traced = whole;
  } else {
    current[s.get()] = whole;
    if (std::find(changed.begin(), changed.end(), s) == changed.end()) changed.push_back(s);
  }
}

std::vector<ir::ValueId> Trace::append(const ir::Module& m, std::span<const ir::ValueId> inputs, Here use) {
  const auto& f = m.entry();
  std::map<std::string, std::string> names;
  for (const auto& other : m.functions)
    if (&other != &f) names[other.name] = "f" + std::to_string(module.functions.size() + names.size());
  for (const auto& other : m.functions) {
    if (&other == &f) continue;
    auto copy = other;
    copy.name = names[other.name];
    for (auto& n : copy.nodes) n.attrs = renamed(n.attrs, names);
    module.functions.push_back(std::move(copy));
  }
  std::vector<ir::ValueId> map(f.values.size(), -1);
  for (std::size_t k = 0; k < f.params.size(); ++k) map[static_cast<std::size_t>(f.params[k])] = inputs[k];
  const auto at = [&](ir::ValueId v) { return map[static_cast<std::size_t>(v)]; };
  for (const auto& n : f.nodes) {
    std::vector<ir::ValueId> operands;
    std::vector<ir::Type> types;
    for (auto v : n.operands) operands.push_back(at(v));
    for (auto v : n.results) types.push_back(f.type(v));
    builder.at(n.where.known() ? n.where : place(use));
    const auto results = builder.add_typed(n.op, operands, names.empty() ? n.attrs : renamed(n.attrs, names), types);
    for (std::size_t k = 0; k < results.size(); ++k) map[static_cast<std::size_t>(n.results[k])] = results[k];
  }
  std::vector<ir::ValueId> r;
  for (auto v : f.results) r.push_back(at(v));
  return r;
}

void Trace::note_gradient(const std::shared_ptr<TensorImpl>& leaf) {
  if (leaf->storage->trace || leaf->storage->birth > started) return;
  for (const auto& [l, g] : gradients)
    if (l == leaf) return;
  gradients.emplace_back(leaf, leaf->grad);
}

}  // namespace plumb::eager
