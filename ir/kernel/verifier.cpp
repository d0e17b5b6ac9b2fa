// Invariants of a kernel:
//   K1  extents are not negative; a buffer's bytes fit 63 bits; inputs and outputs are global, each named once, and
//       every global buffer is one of them. No buffer or scalar is complex: kernels compute on the parts.
//   K2  every other buffer has one Alloc, and is used only after it, in its block and the blocks inside; a local buffer is
//       not used by threads when its Alloc stands outside their nest.
//   S1  a scalar has one definition, before its uses, in their block or one around it.
//   S2  dtypes agree: a function takes its arguments' shared dtype, a load has its buffer's, and so on; indices are i64.
//   A1  an access has one index an axis; its variables are those of loops around it; coordinates stand in output maps only.
//   L1  a loop variable has one loop; unrolled, vector, tile and gpu extents are constants; widths lie in [1, 4096], gpu axes are 0, 1 or 2.
//   L2  gpu_block loops are outermost; the gpu_thread loops of a kernel nest directly in one another, and beside that nest
//       stand only allocations and definitions. No parallel loop stands inside gpu, vector or tile loops; a vector or tile
//       loop holds no parallel, vector, gpu or tile loop; tile loops stand in a gpu_thread nest.
//   M1  inputs are never written; fragments are touched by tile operations only, and these by nothing else.
//   M2  nothing is read or combined into that no statement can have written before, where anything gets there at all.
//   B1  barriers, shuffles and async copies stand in a gpu_thread nest; barriers not in vector or tile loops, and not under control that depends on loaded data.
//   R1  reductions and sites that statements name exist; a site's check has a positive extent or none at all.
//   O1  output maps are of outputs, name real loops once each, and use coordinates of the output only.
//   T1  tile operations fit their fragments' shapes and dtypes; async copies go into shared memory, tile by tile.
//   X1  no access lies outside its buffer wherever interval arithmetic on loop ranges and conditions decides it.
#include "ir/kernel/verifier.h"

#include <unordered_map>

#include "ir/kernel/bounds.h"
#include "ir/kernel/text.h"
#include "ir/kernel/verifier_parts.h"
#include "ir/kernel/walk.h"

namespace plumb::kir {

void Verifier::broken(const std::string& what) const {
  std::string message = "verifier: kernel @" + k_.name + ": " + what;
  if (current_) message += "\n  in: " + printer_.statement(*current_);
  if (options_.blame == ErrorKind::internal) fail_internal(message);
  throw Error(options_.blame, message);
}

Verified Verifier::run() {
  buffers();
  collect_writes();
  block(k_.body);
  current_ = nullptr;
  for (std::size_t b = 0; b < k_.buffers.size(); ++b)
    if (k_.buffers[b].space != Space::global && !allocated_[b] && used_[b]) broken("K2: " + printer_.buffer(static_cast<BufferId>(b)) + " has no Alloc");
  reductions_and_maps();
  return std::move(result_);
}

void Verifier::buffers() {
  std::vector<int> named(k_.buffers.size(), 0);
  for (const auto* list : {&k_.inputs, &k_.outputs})
    for (auto b : *list) {
      if (b < 0 || b >= static_cast<BufferId>(k_.buffers.size())) broken("K1: a parameter's buffer id lies outside the table");
      if (named[static_cast<std::size_t>(b)]++) broken("K1: " + printer_.buffer(b) + " is named twice among inputs and outputs");
    }
  for (std::size_t b = 0; b < k_.buffers.size(); ++b) {
    const auto& info = k_.buffers[b];
    const auto label = printer_.buffer(static_cast<BufferId>(b));
    if (is_complex(info.dtype)) broken("K1: " + label + " is complex");
    std::int64_t bytes = byte_size(info.dtype);
    for (auto e : info.extents)
      if (e < 0) broken("K1: " + label + " has a negative extent");
    for (auto e : info.extents)
      if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(e, 1), &bytes)) broken("K1: the bytes of " + label + " overflow 63 bits");
    if (named[b] && info.space != Space::global) broken("K1: parameter " + label + " is " + std::string(name(info.space)) + ", not global");
    if (!named[b] && info.space == Space::global) broken("K1: global buffer " + label + " is neither input nor output");
  }
  for (auto t : k_.scalars)
    if (is_complex(t)) broken("K1: a scalar is complex");
  for (auto b : k_.inputs) is_input_[static_cast<std::size_t>(b)] = true;
  for (std::size_t b = 0; b < k_.buffers.size(); ++b) in_scope_[b] = named[b] != 0;
}

/// Where each buffer is written, by the statement's place in the text.
void Verifier::collect_writes() {
  std::int64_t place = 0;
  for_each_statement(k_.body, [&](const Stmt& s) {
    const auto b = written_by(s);
    if (b >= 0 && b < static_cast<BufferId>(k_.buffers.size())) writes_[static_cast<std::size_t>(b)].push_back(place);
    ++place;
  });
}

void Verifier::block(const Block& b) {
  const auto scalars = defined_.size(), allocs = allocs_.size();
  const auto outer = current_;
  for (const auto& s : b) statement(s);
  for (; defined_.size() > scalars; defined_.pop_back()) visible_[static_cast<std::size_t>(defined_.back())] = false;
  for (; allocs_.size() > allocs; allocs_.pop_back()) in_scope_[static_cast<std::size_t>(allocs_.back())] = false;
  current_ = outer;
}

void Verifier::statement(const Stmt& s) {
  current_ = &s;
  ++place_;
  const auto r = result_of(s);
  if (r >= static_cast<ScalarId>(k_.scalars.size())) broken("S1: scalar id " + std::to_string(r) + " lies outside the table");
  for_each_affine(s, [&](const Affine& a) { affine(a); });
  for_each_operand(s, [&](ScalarId x) { use(x); });
  std::visit([&](const auto& n) { check(n); }, s.node);
  if (r < 0) return;
  if (defined_once_[static_cast<std::size_t>(r)]++) broken("S1: " + printer_.scalar(r) + " is defined twice");
  visible_[static_cast<std::size_t>(r)] = true;
  defined_.push_back(r);
}

void Verifier::use(ScalarId s) const {
  if (s < 0 || s >= static_cast<ScalarId>(k_.scalars.size())) broken("S1: scalar id " + std::to_string(s) + " lies outside the table");
  if (!visible_[static_cast<std::size_t>(s)]) broken("S1: " + printer_.scalar(s) + " is not defined before this, in a block around it");
}

void Verifier::affine(const Affine& a) const {
  for_each_atom(a, [&](const Atom& x) {
    if (x.kind == Atom::Kind::coordinate) broken("A1: a coordinate stands outside an output map");
    if (x.kind == Atom::Kind::var) {
      if (x.id < 0 || x.id >= static_cast<VarId>(k_.vars.size())) broken("A1: loop variable id " + std::to_string(x.id) + " lies outside the table");
      if (!loop_of(x.id)) broken("A1: no loop around this has the variable " + printer_.var(x.id));
    }
    if (x.kind != Atom::Kind::value) return;
    use(x.id);
    if (k_.scalars[static_cast<std::size_t>(x.id)] != DType::i64) broken("S2: " + printer_.scalar(x.id) + " indexes, but is no i64");
  });
}

const For* Verifier::loop_of(VarId v) const {
  for (const auto* f : loops_)
    if (f->var == v) return f;
  return nullptr;
}

const Buffer& Verifier::buffer(BufferId b) {
  if (b < 0 || b >= static_cast<BufferId>(k_.buffers.size())) broken("K2: buffer id " + std::to_string(b) + " lies outside the table");
  used_[static_cast<std::size_t>(b)] = true;
  if (!in_scope_[static_cast<std::size_t>(b)]) broken("K2: " + printer_.buffer(b) + " is used outside the block of its Alloc");
  if (k_.buffers[static_cast<std::size_t>(b)].space == Space::local)
    for (auto l = alloc_depth_[static_cast<std::size_t>(b)]; l < loops_.size(); ++l)
      if (loops_[l]->kind == LoopKind::gpu_thread) broken("K2: threads use local buffer " + printer_.buffer(b) + ", allocated outside their nest");
  return k_.buffers[static_cast<std::size_t>(b)];
}

/// A write of the buffer stands before this in the text, or in a loop around this (inside the buffer's scope).
void Verifier::readable(BufferId b) {
  if (is_input_[static_cast<std::size_t>(b)] || bounds_.unreachable()) return;
  for (auto w : writes_[static_cast<std::size_t>(b)]) {
    if (w < place_) return;
    for (auto l = alloc_depth_[static_cast<std::size_t>(b)]; l < loops_.size(); ++l)
      if (w < loop_ends_[l]) return;
  }
  broken("M2: nothing can have written " + printer_.buffer(b) + " before it is read here");
}

void Verifier::writable(BufferId b) const {
  if (is_input_[static_cast<std::size_t>(b)]) broken("M1: input " + printer_.buffer(b) + " is written");
}

void Verifier::plain(BufferId b, const Indices& index) {
  const auto& info = buffer(b);
  if (info.space == Space::fragment) broken("M1: fragment " + printer_.buffer(b) + " is for tile operations only");
  rank(info, b, index);
}

void Verifier::rank(const Buffer& info, BufferId b, const Indices& index) const {
  if (index.size() != info.extents.size())
    broken("A1: " + printer_.buffer(b) + " has " + std::to_string(info.extents.size()) + " axes, the access " + std::to_string(index.size()) + " indices");
}

void Verifier::reductions_and_maps() const {
  for (const auto& m : k_.output_maps) {
    const auto label = "O1: the map of " + printer_.buffer(m.buffer);
    if (std::find(k_.outputs.begin(), k_.outputs.end(), m.buffer) == k_.outputs.end()) broken(label + " is not of an output");
    const auto rank_of = static_cast<int>(k_.buffers[static_cast<std::size_t>(m.buffer)].extents.size());
    std::vector<VarId> seen;
    for (const auto& [v, value] : m.inverse) {
      if (v < 0 || v >= static_cast<VarId>(k_.vars.size()) || !has_loop_[static_cast<std::size_t>(v)]) broken(label + " names a loop that is not there");
      if (std::find(seen.begin(), seen.end(), v) != seen.end()) broken(label + " names " + printer_.var(v) + " twice");
      seen.push_back(v);
      for_each_atom(value, [&](const Atom& a) {
        if (a.kind == Atom::Kind::var || a.kind == Atom::Kind::value) broken(label + " uses more than coordinates");
        if (a.kind == Atom::Kind::coordinate && (a.id < 0 || a.id >= rank_of)) broken(label + " uses a coordinate beyond the output's rank");
      });
    }
  }
}

Verified verify(const Kernel& kernel, const VerifyOptions& options) { return Verifier(kernel, options).run(); }

}  // namespace plumb::kir
