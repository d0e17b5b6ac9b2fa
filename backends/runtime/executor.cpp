#include "backends/runtime/executor.h"

#include <map>

#include "backends/runtime/place.h"

#include "ir/linalg/library.h"
#include "ir/tensor/op_table.h"

namespace plumb::backends {

using ir::Literal;
using lowering::Program;
using lowering::Slot;
using lowering::SlotId;

namespace {

/// One program, loaded: where each slot's memory is. No program runs within itself, so one frame serves all that name it.
struct Frame {
  const Program* program = nullptr;
  Literal arena;
  std::vector<Literal> slots;
  std::vector<Frame*> callees;
  bool loaded = false;   ///< the prelude has run
};

}  // namespace

struct Session::State {
  explicit State(DeviceMemory* device) : place(device), resident(device != nullptr) {}
  const Place place;
  const bool resident;   ///< slots are in a device's memory
  std::map<const kir::Kernel*, std::size_t> numbers;
  std::vector<const kir::Kernel*> kernels;
  std::unique_ptr<Executable> executable;
  std::map<const Program*, std::unique_ptr<Frame>> frames;
  Frame* main = nullptr;
  int ordinal = 0;

  /// Frames and kernels of a program and of those it names, each once.
  Frame* load(const Program& p) {
    if (const auto it = frames.find(&p); it != frames.end()) return it->second.get();
    for (const auto& k : p.kernels)
      if (numbers.emplace(k.get(), kernels.size()).second) kernels.push_back(k.get());
    auto f = std::make_unique<Frame>();
    f->program = &p;
    f->arena = place.make(ir::Type{DType::u8, {p.arena_bytes}}, "temporaries of @" + p.name);
    for (const auto& s : p.slots) {
      if (s.role == Slot::Role::constant) f->slots.push_back(place.from_host(s.value, "constants of @" + p.name));
      else if (s.role == Slot::Role::hoisted) f->slots.push_back(place.make(s.type, "constants of @" + p.name));
      else if (s.role == Slot::Role::temporary && s.offset >= 0) f->slots.push_back(Literal::alias(s.type, static_cast<char*>(f->arena.mutable_raw()) + s.offset, nullptr));
      else f->slots.emplace_back();
    }
    for (const auto& c : p.callees) f->callees.push_back(load(*c));
    return (frames[&p] = std::move(f)).get();
  }

  std::vector<Literal> on_host(const std::vector<Literal>& values) const {
    std::vector<Literal> r;
    for (const auto& v : values) r.push_back(place.to_host(v));
    return r;
  }

  void launch(Frame& f, const lowering::Launch& l, const RunOptions& o) {
    const auto& kernel = *f.program->kernels[static_cast<std::size_t>(l.kernel)];
    std::vector<void*> pointers;
    std::vector<Literal> in, out;
    for (auto s : l.inputs) in.push_back(f.slots[static_cast<std::size_t>(s)]);
    for (auto s : l.outputs) out.push_back(f.slots[static_cast<std::size_t>(s)]);
    for (auto& v : in) pointers.push_back(v.mutable_raw());
    for (auto& v : out) pointers.push_back(v.mutable_raw());
    if (o.poison)
      for (auto& v : out) place.poison(v);
    std::vector<Literal> seen;
    if (o.observer) o.observer->before_launch(kernel, ordinal, seen = on_host(in));
    try {
      if (resident) executable->enqueue(numbers.at(&kernel), pointers);
      else executable->launch(numbers.at(&kernel), pointers);
    } catch (const kir::ViolationError& e) {
      if (o.observer) o.observer->on_violation(kernel, ordinal, seen, e.violation());
      throw;
    }
    if (o.observer) {
      if (resident) executable->finish();
      o.observer->after_launch(kernel, ordinal, seen, on_host(out));
    }
    ++ordinal;
  }

  /// On the host, wherever the tensors are.
  void call(Frame& f, const lowering::LibraryCall& c, const RunOptions& o) {
    const auto& node = c.spec->nodes[0];
    std::vector<Literal> in;
    std::vector<ir::Type> types;
    for (auto s : c.inputs) in.push_back(place.to_host(f.slots[static_cast<std::size_t>(s)]));
    for (auto s : c.outputs) types.push_back(f.program->slots[static_cast<std::size_t>(s)].type);
    const auto out = linalg::run_library(ir::name(node), node.attrs, in, types);
    for (std::size_t k = 0; k < out.size(); ++k) place.copy_from_host(f.slots[static_cast<std::size_t>(c.outputs[k])], out[k]);
    if (o.observer) o.observer->after_call(c, ordinal, in, out);
    ++ordinal;
  }

  bool holds(const Literal& condition) const { return place.to_host(condition).int_at(0) != 0; }

  std::vector<Literal> run(Frame& f, std::span<const Literal> inputs, const RunOptions& o) {
    const auto& p = *f.program;
    for (std::size_t k = 0; k < inputs.size(); ++k) f.slots[static_cast<std::size_t>(p.params[k])] = inputs[k];
    for (auto r : p.results) f.slots[static_cast<std::size_t>(r)] = place.make(p.slots[static_cast<std::size_t>(r)].type, "results of @" + p.name);
    if (o.poison) {
      place.poison(f.arena);
      for (auto r : p.results) place.poison(f.slots[static_cast<std::size_t>(r)]);
    }
    if (!f.loaded)
      for (const auto& s : p.prelude) launch(f, std::get<lowering::Launch>(s), o);
    f.loaded = true;
    for (const auto& s : p.steps) step(f, s, o);
    std::vector<Literal> results;
    for (auto r : p.results) results.push_back(f.slots[static_cast<std::size_t>(r)]);
    return results;
  }

  /// Slices along axis 0 lie one after another in memory. The body sees copies: kernels want the alignment of whole tensors.
  std::vector<Literal> scan(Frame& f, const lowering::ScanStep& l, const std::vector<Literal>& inputs, const RunOptions& o) {
    const auto steps = inputs.back().extents()[0];
    auto& body = *f.callees[static_cast<std::size_t>(l.body)];
    std::vector<Literal> state(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(l.carries)), slices;
    for (std::size_t k = l.carries; k < inputs.size(); ++k) slices.push_back(place.make(body.program->slots[static_cast<std::size_t>(body.program->params[k])].type, "a slice for @" + body.program->name));
    for (std::int64_t i = 0; i < steps; ++i) {
      const auto at = l.reverse ? steps - 1 - i : i;
      for (std::size_t k = 0; k < slices.size(); ++k) {
        place.copy_bytes(slices[k], 0, inputs[l.carries + k], at * slices[k].bytes(), slices[k].bytes());
        state.push_back(slices[k]);
      }
      state = run(body, state, o);
      for (std::size_t k = l.carries; k < l.outputs.size(); ++k) place.copy_bytes(f.slots[static_cast<std::size_t>(l.outputs[k])], at * state[k].bytes(), state[k], 0, state[k].bytes());
      state.resize(l.carries);
    }
    return state;
  }

  void step(Frame& f, const lowering::Step& s, const RunOptions& o) {
    if (auto* l = std::get_if<lowering::Launch>(&s)) return launch(f, *l, o);
    if (auto* c = std::get_if<lowering::LibraryCall>(&s)) return call(f, *c, o);
    if (auto* c = std::get_if<lowering::Copy>(&s)) {
      return place.copy(f.slots[static_cast<std::size_t>(c->to)], f.slots[static_cast<std::size_t>(c->from)]);
    }
    auto values = [&](const std::vector<SlotId>& ids) {
      std::vector<Literal> v;
      for (auto i : ids) v.push_back(f.slots[static_cast<std::size_t>(i)]);
      return v;
    };
    auto give = [&](const std::vector<SlotId>& ids, const std::vector<Literal>& v) {
      for (std::size_t k = 0; k < ids.size(); ++k) place.copy(f.slots[static_cast<std::size_t>(ids[k])], v[k]);
    };
    if (auto* i = std::get_if<lowering::IfStep>(&s)) {
      const bool yes = holds(f.slots[static_cast<std::size_t>(i->condition)]);
      give(i->outputs, run(*f.callees[static_cast<std::size_t>(yes ? i->then : i->otherwise)], values(i->inputs), o));
      return;
    }
    if (auto* l = std::get_if<lowering::ScanStep>(&s)) {
      const auto carried = scan(f, *l, values(l->inputs), o);
      return give({l->outputs.begin(), l->outputs.begin() + static_cast<std::ptrdiff_t>(l->carries)}, carried);
    }
    const auto& w = std::get<lowering::WhileStep>(s);
    auto state = values(w.inputs);
    while (holds(run(*f.callees[static_cast<std::size_t>(w.condition)], state, o)[0])) state = run(*f.callees[static_cast<std::size_t>(w.body)], state, o);
    give(w.outputs, state);
  }
};

Session::Session(std::shared_ptr<const Program> program, std::shared_ptr<Backend> backend)
    : program_(std::move(program)), backend_(std::move(backend)), state_(std::make_unique<State>(backend_->memory())) {
  state_->main = state_->load(*program_);
  state_->executable = backend_->compile(state_->kernels);
}
Session::~Session() = default;

std::vector<Literal> Session::run(std::span<const Literal> inputs, const RunOptions& options) {
  const auto results = enqueue(place(inputs), options);
  finish();
  return fetch(results);
}

std::vector<Literal> Session::place(std::span<const Literal> inputs) const {
  const auto& p = *program_;
  if (inputs.size() != p.params.size()) fail_input("the program takes " + std::to_string(p.params.size()) + " inputs, not " + std::to_string(inputs.size()));
  std::vector<Literal> parts;   // complex tensors as the pairs that their slots hold, in the same memory
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const auto& name = p.slots[static_cast<std::size_t>(p.params[k])].name;
    if (inputs[k].type() != p.takes[k]) fail_input("input %" + name + " is " + inputs[k].type().str() + ", the program takes " + p.takes[k].str());
    parts.push_back(state_->place.from_host(inputs[k].as_parts(), "input %" + name));
  }
  return parts;
}

std::vector<Literal> Session::enqueue(std::span<const Literal> placed, const RunOptions& options) {
  state_->ordinal = 0;
  return state_->run(*state_->main, placed, options);
}

void Session::finish() {
  if (state_->resident) state_->executable->finish();
}

std::vector<Literal> Session::fetch(std::span<const Literal> results) const {
  std::vector<Literal> r;
  for (std::size_t k = 0; k < results.size(); ++k) r.push_back(state_->place.to_host(results[k]).viewed_as(program_->gives[k]));
  return r;
}

std::size_t Session::kernel_count() const { return state_->kernels.size(); }
std::string Session::code(const kir::Kernel& kernel, bool assembly) const { return state_->executable->code(state_->numbers.at(&kernel), assembly); }

}  // namespace plumb::backends
