// Serial, unrolled and vector loops. A vector loop is full steps and at most one partial step, all by vector_step; where
// a local buffer around it is to live in registers, each step is a copy with constant lanes.
#include "backends/llvm/internal/kernel_emitter.h"

namespace plumb::backends::codegen {

using kir::LoopKind;

void KernelEmitter::emit_node(const kir::For& f) {
  switch (f.kind) {
    case LoopKind::serial: return serial_loop(f);
    case LoopKind::unrolled: return unrolled_loop(f);
    case LoopKind::vector: return f.width > 1 ? vector_loop(f) : serial_loop(f);
    case LoopKind::parallel:
    case LoopKind::gpu_block: return options_.grid ? grid_loop(f) : parallel_loop(f);
    case LoopKind::gpu_thread: return need_grid("loops over threads"), grid_loop(f);
    case LoopKind::tile: fail_unsupported("kernel " + k_.name + " holds tile operations, which this target does not run");
  }
}

void KernelEmitter::set_range(kir::VarId v, std::optional<std::int64_t> n) {
  var_ranges_[static_cast<std::size_t>(v)] = n && *n > 0 ? std::optional(kir::Range{0, *n - 1}) : std::nullopt;
}

/// for (i = from; i < to; ++i) body(i)
void KernelEmitter::counted(Value* from, Value* to, const std::function<void(Value*)>& body) {
  auto& context = module_.getContext();
  auto *before = b_.GetInsertBlock(), *inside = llvm::BasicBlock::Create(context, "loop", frame_.function), *after = llvm::BasicBlock::Create(context, "done", frame_.function);
  b_.CreateCondBr(b_.CreateICmpSLT(from, to), inside, after);
  b_.SetInsertPoint(inside);
  auto* i = b_.CreatePHI(b_.getInt64Ty(), 2);
  i->addIncoming(from, before);
  body(i);
  Value* next = b_.CreateAdd(i, b_.getInt64(1), "", true, true);
  i->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, to), inside, after);
  b_.SetInsertPoint(after);
}

void KernelEmitter::serial_loop(const kir::For& f) {
  const auto n = f.extent.as_constant();
  if (n && *n <= 0) return;
  // Copies of a small body cost less than the loop around it.
  if (n && (*n == 1 || (*n <= 4 && static_cast<double>(*n) * work(k_, f.body) <= 24))) return unrolled_loop(f);
  require(!varies(f.extent), "a loop's extent is the same in all lanes");
  set_range(f.var, n);
  counted(i64(0), uniform(f.extent), [&](Value* i) {
    vars_[static_cast<std::size_t>(f.var)] = i;
    block(f.body);
  });
}

void KernelEmitter::unrolled_loop(const kir::For& f) {
  const auto n = f.extent.as_constant();
  if (!n) return serial_loop(f);
  for (std::int64_t i = 0; i < *n; ++i) {
    vars_[static_cast<std::size_t>(f.var)] = i64(i);
    var_ranges_[static_cast<std::size_t>(f.var)] = kir::Range{i, i};
    block(f.body);
  }
}

void KernelEmitter::vector_loop(const kir::For& f) {
  require(width_ == 0, "vector loops do not nest");
  const auto n = f.extent.as_constant();
  if (n && *n <= 0) return;
  lane_var_ = f.var;
  set_range(f.var, n);
  unroll_steps(k_, f) ? unrolled_steps(f, *n) : looped_steps(f);
  width_ = 0;
  lane_var_ = -1;
  lane_base_ = mask_ = nullptr;
}

void KernelEmitter::unrolled_steps(const kir::For& f, std::int64_t n) {
  width_ = static_cast<unsigned>(f.width);
  for (std::int64_t first = 0; first < n; first += f.width) {
    const std::int64_t present = std::min<std::int64_t>(f.width, n - first);
    var_ranges_[static_cast<std::size_t>(f.var)] = kir::Range{first, first + present - 1};
    llvm::SmallVector<llvm::Constant*, 16> mask;
    for (std::int64_t lane = 0; lane < f.width; ++lane) mask.push_back(b_.getInt1(lane < present));
    vector_step(f.body, i64(first), present < f.width ? llvm::ConstantVector::get(mask) : nullptr);
  }
}

void KernelEmitter::looped_steps(const kir::For& f) {
  require(!f.extent.mentions(f.var), "a loop's extent is known before the loop");
  const kir::Block* body = &f.body;
  Value *trip = uniform(f.extent), *enter = nullptr;
  if (const auto guard = trip_guard(f)) {
    body = guard->body;
    enter = guard->uniform.empty() ? nullptr : predicate(guard->uniform);
    for (const auto& limit : guard->limits) {
      const auto r = kir::range(limit, ranges());
      const auto n = f.extent.as_constant();
      if (r && n && r->low >= *n) continue;
      trip = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, trip, uniform(limit));
    }
  }
  width_ = static_cast<unsigned>(f.width * widening(k_, f));
  auto steps = [&] {
    if (!llvm::isa<llvm::Constant>(trip)) trip = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, trip, i64(0));
    Value *full = b_.CreateUDiv(trip, i64(width_)), *done = b_.CreateMul(full, i64(width_)), *rest = b_.CreateSub(trip, done);
    counted(i64(0), full, [&](Value* step) { vector_step(*body, b_.CreateMul(step, i64(width_), "", true, true), nullptr); });
    branch(b_.CreateICmpSGT(rest, i64(0)), [&] {
      auto* i32 = b_.getInt32Ty();
      Value* mask = b_.CreateICmpULT(iota(i32), b_.CreateVectorSplat(width_, b_.CreateTrunc(rest, i32)));
      vector_step(*body, done, mask);
    });
  };
  if (!enter) return steps();
  // Before the loop there are no lanes; the condition is uniform.
  branch(enter, steps);
}

void KernelEmitter::vector_step(const kir::Block& body, Value* first, Value* mask) {
  lane_base_ = first;
  mask_ = mask;
  block(body);
}

}  // namespace plumb::backends::codegen
