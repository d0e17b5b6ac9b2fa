#include "verify/accumulation.h"

#include <fmt/format.h>

#include <bit>

#include "interpreter/tensor/evaluate.h"
#include "interpreter/tensor/scan.h"
#include "interpreter/tensor/terms.h"
#include "ir/kernel/walk.h"
#include "ir/tensor/op_table.h"
#include "verify/launch.h"
#include "verify/oracle.h"
#include "verify/retype.h"

namespace plumb::verify {
namespace {

using kir::Stmt;

std::string steps(std::int64_t n) { return fmt::format("a chain of {} combining step{}", n, n == 1 ? "" : "s"); }

/// The longest chain that serial loops alone show: iterations that combine into one element, with nothing else stored to
/// the buffer in between and no condition around. Never more than the kernel's own.
class SerialChain {
 public:
  SerialChain(const kir::Kernel& k, int reduction) : k_(k), reduction_(reduction) { block(k.body); }
  std::int64_t longest() const { return longest_; }

 private:
  void block(const kir::Block& b) {
    for (const auto& s : b) {
      if (auto* f = std::get_if<kir::For>(&s.node)) {
        loops_.push_back(f);
        block(f->body);
        loops_.pop_back();
      } else if (auto* c = std::get_if<kir::Combine>(&s.node); c && c->reduction == reduction_) {
        step(c->buffer, c->index, 1);
      } else if (auto* t = std::get_if<kir::TileMma>(&s.node); t && t->reduction == reduction_) {
        step(t->d, {}, k_.buffers[static_cast<std::size_t>(t->a)].extents[1]);
      }
    }
  }
  void step(kir::BufferId buffer, const kir::Indices& index, std::int64_t chain) {
    for (auto l = loops_.rbegin(); l != loops_.rend(); ++l) {
      const auto& f = **l;
      const bool serial = f.kind == kir::LoopKind::serial || f.kind == kir::LoopKind::unrolled;
      const bool moves = std::any_of(index.begin(), index.end(), [&](const auto& i) { return i.mentions(f.var) || i.mentions_value(); });
      if (starts_anew(f.body, buffer)) break;
      if (moves || !serial) continue;   // each iteration has an element of its own, and its steps still count
      const auto n = f.extent.as_constant();
      if (!n) break;
      chain *= *n;
    }
    longest_ = std::max(longest_, chain);
  }
  /// Whether the loop's body allocates the buffer, or stores to it otherwise.
  static bool starts_anew(const kir::Block& body, kir::BufferId buffer) {
    bool found = false;
    kir::for_each_statement(body, [&](const Stmt& s) {
      if (auto* a = std::get_if<kir::Alloc>(&s.node)) found = found || a->buffer == buffer;
      if (auto* w = std::get_if<kir::Store>(&s.node)) found = found || w->buffer == buffer;
      if (auto* t = std::get_if<kir::TileFill>(&s.node)) found = found || t->fragment == buffer;
      if (auto* t = std::get_if<kir::TileLoad>(&s.node)) found = found || t->fragment == buffer;
    });
    return found;
  }

  const kir::Kernel& k_;
  int reduction_;
  std::vector<const kir::For*> loops_;
  std::int64_t longest_ = 0;
};

/// What the contract allows a reduction's node, and how many terms it has.
struct Allowed {
  DType accumulator;
  bool may_truncate;
  std::int64_t height, terms;
  bool tree;   ///< not serial by definition, as scans and scatters are
};
std::optional<Allowed> allowed(const kir::Kernel& k, const kir::Reduction& r) {
  if (!k.spec || r.spec_node < 0) return std::nullopt;
  const auto& f = *k.spec;
  const auto& n = f.nodes.at(static_cast<std::size_t>(r.spec_node));
  const DType t = f.type(n.operands[0]).dtype;
  const auto c = ir::row(n.op).op_class;
  if (c == ir::OpClass::scan) return Allowed{accumulator(t), false, interp::scan_height(r.terms), 0, false};
  if (c != ir::OpClass::reduce && c != ir::OpClass::window && c != ir::OpClass::contract) return Allowed{accumulator(t), false, r.terms, 0, false};  // scatters are serial
  const auto terms = interp::Terms(f, n).count();
  return Allowed{accumulator(t), interp::may_truncate(f, n), c == ir::OpClass::contract ? interp::dot_height(terms) : interp::reduce_height(terms), c == ir::OpClass::window ? 0 : terms, true};
}

void beyond_contract(const kir::Kernel& k, int id, std::vector<Misdeclared>& found) {
  const auto& r = k.reductions[static_cast<std::size_t>(id)];
  const auto a = allowed(k, r);
  if (!a || !is_float(a->accumulator)) return;
  if (!interp::holds_all(r.accumulator, a->accumulator)) found.push_back({id, fmt::format("an accumulator declared in {}", name(r.accumulator)), fmt::format("the contract's {} or wider", name(a->accumulator))});
  if (r.truncates && !a->may_truncate) found.push_back({id, "a sum declared to truncate", "rounding: the contract lets contractions of floats narrower than f32 truncate"});
  if (r.fn != fn_id<scalar::Add>) return;   // only sums have a height in the contract
  if (r.height > a->height) found.push_back({id, fmt::format("a height declared as {}", r.height), fmt::format("the contract's {}", a->height)});
  const auto least = a->terms > 1 ? static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(a->terms - 1))) : 0;
  if (r.height < least) found.push_back({id, fmt::format("{} terms, whose sum takes a height of {} at least", a->terms, least), fmt::format("a height of {}, as declared", r.height)});
}

void beyond_text(const kir::Kernel& k, int id, const kir::TargetFacts* target, std::vector<Misdeclared>& found) {
  const auto& r = k.reductions[static_cast<std::size_t>(id)];
  bool narrow = false, cut = false, steps_taken = false;
  auto combines_into = [&](kir::BufferId b, int reduction) {
    const DType t = k.buffers[static_cast<std::size_t>(b)].dtype;
    steps_taken = steps_taken || reduction == id;
    if (reduction != id || narrow || !is_float(r.accumulator) || interp::holds_all(t, r.accumulator)) return;
    narrow = true;
    found.push_back({id, fmt::format("steps that combine in {}", name(t)), fmt::format("an accumulator of {}, as declared", name(r.accumulator))});
  };
  kir::for_each_statement(k.body, [&](const Stmt& s) {
    if (auto* c = std::get_if<kir::Combine>(&s.node)) combines_into(c->buffer, c->reduction);
    auto* t = std::get_if<kir::TileMma>(&s.node);
    if (!t) return;
    combines_into(t->d, t->reduction);
    if (t->reduction != id || !target || !target->tiles_truncate || r.truncates || cut) return;
    cut = true;
    found.push_back({id, "a unit that truncates", "a sum that rounds, as declared"});
  });
  if (const auto a = allowed(k, r); !steps_taken && a && a->tree && r.terms > 1) found.push_back({id, "no combining step that names it", fmt::format("a reduction of {} terms, as declared", r.terms)});
  if (const auto chain = SerialChain(k, id).longest(); chain > r.height) found.push_back({id, steps(chain), fmt::format("a height of {}, as declared", r.height)});
}

}  // namespace

std::vector<Misdeclared> misdeclared(const kir::Kernel& k, const kir::TargetFacts* target) {
  std::vector<Misdeclared> found;
  for (int id = 0; id < static_cast<int>(k.reductions.size()); ++id) {
    beyond_contract(k, id, found);
    beyond_text(k, id, target, found);
  }
  return found;
}

Heights heights_of(const kir::Kernel& k, int reduction, std::span<const ir::Literal> inputs, backends::Backend& target) {
  const auto counting = retype_to_heights(k, reduction);
  if (!counting.kernel) fail_unsupported(counting.why_not);
  std::vector<ir::Literal> words;
  for (const auto& l : inputs) {
    words.push_back(is_float(l.dtype()) ? ir::Literal(ir::Type{DType::u64, l.type().shape}) : l);
    if (is_float(l.dtype())) std::fill_n(words.back().mutable_data<std::uint64_t>(), l.elements(), 0);
  }
  const auto& out = k.buffers[static_cast<std::size_t>(k.outputs[0])];
  if (!is_float(out.dtype)) fail_unsupported("its result is not a float");
  const auto got = Launcher(*counting.kernel, target).run(words, ir::Type{DType::u64, ir::Shape(out.extents.begin(), out.extents.end())});
  Heights h;
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    const auto word = got.data<std::uint64_t>()[i];
    h.height = std::max(h.height, static_cast<std::int64_t>(word & ~(height_narrowed | height_lost)));
    h.narrowed = h.narrowed || (word & height_lost) != 0;
  }
  return h;
}

void check_accumulation(const kir::Kernel& k, int ordinal, std::span<const ir::Literal> inputs, const CheckOptions& o, Report& report) {
  auto found = misdeclared(k, o.backend ? &o.backend->facts() : nullptr);
  for (int id = 0; found.empty() && o.mode == Check::full && o.backend && id < static_cast<int>(k.reductions.size()); ++id) {
    const auto& r = k.reductions[static_cast<std::size_t>(id)];
    if (!is_float(r.accumulator)) continue;
    try {
      const auto h = heights_of(k, id, inputs, *o.backend);
      if (h.height > r.height) found.push_back({id, steps(h.height), fmt::format("a height of {}, as declared", r.height)});
      if (h.narrowed) found.push_back({id, "a partial sum that passes a narrower format", fmt::format("an accumulator of {}, as declared", name(r.accumulator))});
    } catch (const Error& e) {
      report.notes.push_back(fmt::format("kernel {}: its heights were not counted: {}", k.name, e.what()));
    }
  }
  for (auto& m : found) {
    Failure f;
    f.check = "accumulation";
    f.count = 1;
    f.index = fmt::format("reduction {}", m.reduction);
    f.got = m.is;
    f.allowed = m.declared;
    add_failure(std::move(f), k, ordinal, inputs, o, report);
  }
}

}  // namespace plumb::verify
