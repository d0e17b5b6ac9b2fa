#include "interpreter/kernel/internal/compiler.h"
#include "interpreter/kernel/internal/independence.h"
#include "ir/kernel/walk.h"
#include "ir/support/index_space.h"

namespace plumb::interp::kernel {

using namespace kir;

Compiler::Compiler(Program& p) : p_(p), k_(p.kernel), scalars_(p.kernel.scalars.size()), group_fragment_(p.kernel.buffers.size(), false) {
  p_.vars.resize(k_.vars.size());
  const auto races = may_race(k_);
  for (std::size_t b = 0; b < k_.buffers.size(); ++b) {
    const bool given = k_.buffers[b].space == Space::global;
    p_.regions.push_back({element_count(k_.buffers[b].extents), 1, 1, races[b], !given});
  }
  for_each_statement(k_.body, [&](const Stmt& s) {
    const auto* t = std::get_if<TileMma>(&s.node);
    if (!t || t->scope == kir::Scope::warp) return;
    for (auto f : {t->d, t->a, t->b}) group_fragment_[static_cast<std::size_t>(f)] = true;
  });
}

void Compiler::run() { p_.body = block(k_.body); }

Ops Compiler::block(const Block& b, std::vector<VarId> vars) {
  scopes_.push_back({{}, std::move(vars), {}});
  for (const auto& s : b) statement(s);
  Ops ops = std::move(scopes_.back().ops);
  scopes_.pop_back();
  return ops;
}

void Compiler::statement(const Stmt& s) {
  const int outer = statement_;
  statement_ = static_cast<int>(p_.statements.size());
  p_.statements.push_back({&s, loops_});
  std::visit([&](const auto& n) { compile(n); }, s.node);
  statement_ = outer;
}

void Compiler::emit(OpPtr op) {
  op->statement = statement_;
  scopes_.back().ops.list.push_back(std::move(op));
}

int Compiler::slot(int lanes) {
  const int at = p_.file_bytes;
  const std::int64_t bytes = lanes == 1 ? 8 : (static_cast<std::int64_t>(lanes) * 8 + 63) / 64 * 64;
  if (at + bytes > (std::int64_t{1} << 30)) fail_unsupported("kernel @" + k_.name + " has too many scalars for the interpreter");
  p_.file_bytes = static_cast<int>(at + bytes);
  return at;
}

int Compiler::define(ScalarId s) {
  auto& place = scalars_[static_cast<std::size_t>(s)];
  place = {slot(region_ ? region_->lanes : 1), region_.has_value(), -1, scopes_.size() - 1};
  return place.slot;
}

int Compiler::use(ScalarId s) {
  auto& place = scalars_[static_cast<std::size_t>(s)];
  if (place.lanes || !region_) return place.slot;
  if (place.wide < 0) {
    place.wide = slot(region_->lanes);
    region_->widened.push_back(s);
    region_->enter.list.push_back(widen_op(dtype(s), place.wide, place.slot, region_->lanes));
  }
  return place.wide;
}

void Compiler::close_region() {
  for (auto s : region_->widened) scalars_[static_cast<std::size_t>(s)].wide = -1;
  region_.reset();
}

bool Compiler::is_output(BufferId b) const { return std::find(k_.outputs.begin(), k_.outputs.end(), b) != k_.outputs.end(); }

// ── definitions ──

void Compiler::compile(const Constant& s) { emit(constant_op(dtype(s.result), define(s.result), s.bits)); }

void Compiler::compile(const Apply& s) {
  std::vector<int> args;
  for (auto a : s.args) args.push_back(use(a));
  emit(apply_op(s.fn, dtype(s.args[0]), define(s.result), args));
}

void Compiler::compile(const Convert& s) {
  const int arg = use(s.arg);
  emit(s.bits ? bitcast_op(dtype(s.arg), dtype(s.result), define(s.result), arg) : convert_op(dtype(s.arg), dtype(s.result), define(s.result), arg));
}

void Compiler::compile(const Select& s) {
  const int c = use(s.condition), x = use(s.on_true), y = use(s.on_false);
  emit(select_op(dtype(s.result), define(s.result), c, x, y));
}

void Compiler::compile(const IndexValue& s) {
  bounds_.define(s.result, bounds_.range(s.expr));
  auto expr = linear(s.expr);
  emit(index_op(define(s.result), std::move(expr)));
}

void Compiler::compile(const kir::Test& s) {
  auto t = test(s.predicate);
  emit(test_op(define(s.result), std::move(t)));
}

void Compiler::compile(const CheckIndex& s) {
  bounds_.define(s.result, s.extent > 0 ? std::optional(Range{0, s.extent - 1}) : std::nullopt);
  const int value = use(s.value);
  emit(check_index_op(define(s.result), value, s.extent, s.site));
}

// ── memory ──

void Compiler::compile(const Load& s) {
  const int other = s.guard.empty() ? -1 : use(s.other);
  auto guard = test(s.guard);
  const auto m = bounds_.mark();
  bounds_.assume(s.guard);
  auto a = masked([&] { return access(s.buffer, s.index); });
  bounds_.forget(m);
  const bool input = std::find(k_.inputs.begin(), k_.inputs.end(), s.buffer) != k_.inputs.end();
  emit(load_op(element(s.buffer), define(s.result), std::move(a), std::move(guard), other, !input));
}

void Compiler::compile(const Store& s) {
  const int value = use(s.value);
  emit(store_op(element(s.buffer), access(s.buffer, s.index), value, is_output(s.buffer)));
}

void Compiler::compile(const Combine& s) {
  const int a = use(s.a), b = s.b < 0 ? -1 : use(s.b);
  emit(combine_op(element(s.buffer), access(s.buffer, s.index), s.fn, a, b));
}

void Compiler::compile(const Alloc& s) {
  auto& plan = p_.regions[static_cast<std::size_t>(s.buffer)];
  const auto space = k_.buffers[static_cast<std::size_t>(s.buffer)].space;
  if (region_ && space == Space::local) plan.instances = region_->lanes;
  if (region_ && space == Space::fragment) {
    plan.owner_lanes = p_.options.warp * (group_fragment_[static_cast<std::size_t>(s.buffer)] ? 4 : 1);
    plan.instances = (region_->lanes + plan.owner_lanes - 1) / plan.owner_lanes;
  }
  emit(alloc_op(s.buffer));
}

// ── loops and conditions ──

void Compiler::compile(const For& f) {
  if (f.kind == LoopKind::gpu_thread) return thread_nest(f);
  if (f.kind == LoopKind::tile) return tile_loop(f);
  if (f.kind == LoopKind::vector && !region_) return vector_loop(f);
  LoopPlan plan;
  plan.extent = linear(f.extent);
  plan.unordered = f.kind != LoopKind::serial && f.kind != LoopKind::unrolled;
  plan.vector = f.kind == LoopKind::vector;
  plan.var = slot(1);
  p_.vars[static_cast<std::size_t>(f.var)] = {plan.var, VarPlace::Kind::uniform};
  const auto m = bounds_.mark();
  bounds_.enter(f.var, f.extent);
  loops_.push_back(f.var);
  auto body = masked([&] { return block(f.body, {f.var}); });
  loops_.pop_back();
  bounds_.forget(m);
  emit(loop_op(std::move(plan), std::move(body)));
}

/// The block of a region's lanes, with its loops' variables in scope.
Ops Compiler::lane_body(const Block& b, std::vector<VarId> vars) {
  p_.max_lanes = std::max(p_.max_lanes, region_->lanes);
  return masked([&] { return block(b, std::move(vars)); });
}

/// The same of a loop whose iterations are lanes or go to lanes.
Ops Compiler::lane_loop_body(const For& f) {
  const auto m = bounds_.mark();
  bounds_.enter(f.var, f.extent);
  loops_.push_back(f.var);
  auto body = lane_body(f.body, {f.var});
  loops_.pop_back();
  bounds_.forget(m);
  return body;
}

void Compiler::vector_loop(const For& f) {
  const int var = slot(1);
  const auto extent = f.extent.constant();
  p_.vars[static_cast<std::size_t>(f.var)] = {var, VarPlace::Kind::lanes};
  region_ = LaneRegion{};
  region_->lanes = static_cast<int>(std::clamp<std::int64_t>(extent, 1, f.width));
  auto body = lane_loop_body(f);
  auto enter = std::move(region_->enter);
  close_region();
  emit(vector_op(extent, f.width, var, std::move(enter), std::move(body)));
}

void Compiler::thread_nest(const For& outermost) {
  std::vector<const For*> nest{&outermost};
  while (nest.back()->body.size() == 1)
    if (const auto* inner = std::get_if<For>(&nest.back()->body[0].node); inner && inner->kind == LoopKind::gpu_thread) nest.push_back(inner);
    else break;
  std::int64_t total = 1, by_axis[3] = {1, 1, 1};
  for (const auto* f : nest) {
    total *= f->extent.constant();
    by_axis[f->width] = f->extent.constant();
    if (total > 1024) fail_unsupported("kernel @" + k_.name + " has more than 1,024 threads a block");
  }
  region_ = LaneRegion{};
  region_->lanes = static_cast<int>(std::max<std::int64_t>(total, 1));
  region_->threads = true;
  std::vector<ThreadAxis> axes;
  std::vector<VarId> vars;
  const auto m = bounds_.mark();
  for (const auto* f : nest) {
    const bool single = nest.size() == 1;   // then the variable is the lane's number, and its word stays 0
    const int var = slot(single ? 1 : region_->lanes);
    p_.vars[static_cast<std::size_t>(f->var)] = {var, single ? VarPlace::Kind::lanes : VarPlace::Kind::varying};
    if (!single) axes.push_back({f->extent.constant(), f->width == 0 ? 1 : f->width == 1 ? by_axis[0] : by_axis[0] * by_axis[1], var});
    bounds_.enter(f->var, f->extent);
    loops_.push_back(f->var);
    vars.push_back(f->var);
  }
  auto body = lane_body(nest.back()->body, vars);
  for (std::size_t n = 0; n < nest.size(); ++n) loops_.pop_back();
  bounds_.forget(m);
  auto enter = std::move(region_->enter);
  close_region();
  emit(threads_op(std::move(axes), static_cast<int>(total), std::move(enter), std::move(body)));
}

void Compiler::tile_loop(const For& f) {
  const int var = slot(region_->lanes);
  p_.vars[static_cast<std::size_t>(f.var)] = {var, VarPlace::Kind::varying};
  auto body = lane_loop_body(f);
  emit(tile_loop_op(f.extent.constant(), var, std::move(body)));
}

void Compiler::compile(const If& s) {
  auto condition = test(s.condition);
  const auto m = bounds_.mark();
  bounds_.assume(s.condition);
  auto then = masked([&] { return block(s.then); });
  bounds_.forget(m);
  bounds_.assume_not(s.condition);
  auto otherwise = masked([&] { return block(s.otherwise); });
  bounds_.forget(m);
  emit(if_op(std::move(condition), std::move(then), std::move(otherwise)));
}

void Compiler::compile(const IfValue& s) {
  const int condition = use(s.condition);
  emit(if_value_op(condition, masked([&] { return block(s.then); })));
}

// ── threads and tiles ──

void Compiler::compile(const Shuffle& s) {
  const int arg = use(s.arg);
  auto lane = linear(s.lane);
  emit(shuffle_op(dtype(s.result), define(s.result), arg, s.mode, std::move(lane)));
}
void Compiler::compile(const Barrier& s) { emit(barrier_op(s.scope)); }
void Compiler::compile(const AsyncCopy& s) { emit(async_copy_op(element(s.to), linears(s.to_index), s.to, linears(s.from_index), s.from, s.tile)); }
void Compiler::compile(const AsyncCommit&) { emit(async_commit_op()); }
void Compiler::compile(const AsyncWait& s) { emit(async_wait_op(s.pending)); }
void Compiler::compile(const TileFill& s) {
  const int value = use(s.value);
  emit(tile_fill_op(element(s.fragment), s.fragment, value));
}
void Compiler::compile(const TileLoad& s) { emit(tile_load_op(element(s.from), s.fragment, s.from, linears(s.index), s.transposed)); }
void Compiler::compile(const TileStore& s) { emit(tile_store_op(element(s.to), s.to, linears(s.index), s.fragment, is_output(s.to))); }
void Compiler::compile(const TileMma& s) {
  const auto &d = k_.buffers[static_cast<std::size_t>(s.d)], &a = k_.buffers[static_cast<std::size_t>(s.a)];
  const auto* r = s.reduction < 0 ? nullptr : &k_.reductions[static_cast<std::size_t>(s.reduction)];
  const DType accumulator = r ? r->accumulator : d.dtype;
  const bool truncates = (r && r->truncates) || (p_.options.tiles_truncate && is_float(accumulator));
  emit(tile_mma_op({s.d, s.a, s.b, a.dtype, d.dtype, accumulator, truncates, d.extents[0], d.extents[1], a.extents[1]}));
}

}  // namespace plumb::interp::kernel
