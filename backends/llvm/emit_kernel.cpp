// One kernel: its entry, and its statements one by one.
#include <llvm/IR/MDBuilder.h>

#include "backends/llvm/internal/kernel_emitter.h"

namespace plumb::backends::codegen {

Emitted emit_kernel(llvm::Module& module, const kir::Kernel& kernel, const std::string& symbol, const Calls& calls, const EmitOptions& options) {
  return KernelEmitter(module, kernel, symbol, calls, options).emit();
}

KernelEmitter::KernelEmitter(llvm::Module& module, const kir::Kernel& kernel, const std::string& symbol, const Calls& calls, const EmitOptions& options)
    : module_(module), k_(kernel), symbol_(symbol), calls_(calls), options_(options), b_(module.getContext()), math_(b_, calls, kernel.correctly_rounded),
      var_ranges_(kernel.vars.size()), value_ranges_(kernel.scalars.size()), instances_(kernel.buffers.size(), 0) {
  scalars_.resize(kernel.scalars.size());
  vars_.resize(kernel.vars.size());
  pointers_.resize(kernel.buffers.size());
  slack_bytes_ = (static_cast<std::int64_t>(widest_step(kernel)) * 8 + 63) / 64 * 64;
  llvm::MDBuilder md(module.getContext());
  auto* domain = md.createAnonymousAliasScopeDomain(symbol);
  for (const auto& b : kernel.buffers) scopes_.push_back(md.createAnonymousAliasScope(domain, b.name));
  for (std::size_t i = 0; i < scopes_.size(); ++i) {
    llvm::SmallVector<llvm::Metadata*, 8> rest;
    for (std::size_t j = 0; j < scopes_.size(); ++j)
      if (j != i) rest.push_back(scopes_[j]);
    others_.push_back(llvm::MDNode::get(module.getContext(), rest));
  }
  for (auto& s : scopes_) s = llvm::MDNode::get(module.getContext(), s);
}

Emitted KernelEmitter::emit() {
  if (options_.grid) {
    start_grid();
  } else {
    auto* pointer = b_.getPtrTy();
    auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, pointer}, false);
    frame_.function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol_, module_);
    frame_.buffers = frame_.function->getArg(0), frame_.runtime = frame_.function->getArg(1), frame_.scratch = frame_.function->getArg(2);
    b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", frame_.function));
    load_parameters(frame_.buffers);
  }
  frame_.function->setDoesNotThrow();
  block(k_.body);
  b_.CreateRetVoid();
  if (options_.grid) options_.grid->declare_kernel(*frame_.function, shape_);
  return {scratch_bytes_, shape_};
}

void KernelEmitter::block(const kir::Block& b) {
  for (const auto& s : b) std::visit([&](const auto& node) { emit_node(node); }, s.node);
}

llvm::SmallVector<Value*, 3> KernelEmitter::aligned(std::initializer_list<Value*> values) {
  llvm::SmallVector<Value*, 3> r(values);
  if (llvm::any_of(r, is_vector))
    for (auto& v : r) v = splat(v);
  return r;
}

// ── scalars ──

void KernelEmitter::emit_node(const kir::Constant& s) {
  const DType t = dtype(s.result);
  auto* type = math_.type(t);
  if (t == DType::f32) {
    scalar(s.result) = llvm::ConstantFP::get(type, llvm::APFloat(llvm::APFloat::IEEEsingle(), llvm::APInt(32, s.bits & 0xffffffffu)));
  } else if (t == DType::f64) {
    scalar(s.result) = llvm::ConstantFP::get(type, llvm::APFloat(llvm::APFloat::IEEEdouble(), llvm::APInt(64, s.bits)));
  } else {
    const std::uint64_t bits = is_bool(t) ? s.bits != 0 : s.bits & (~std::uint64_t{0} >> (64 - byte_size(t) * 8));
    scalar(s.result) = llvm::ConstantInt::get(type, bits);
  }
}

void KernelEmitter::emit_node(const kir::Apply& s) {
  llvm::SmallVector<Value*, 3> args;
  for (auto id : s.args) args.push_back(scalar(id));
  if (llvm::any_of(args, is_vector))
    for (auto& v : args) v = splat(v);
  scalar(s.result) = math_.apply(s.fn, dtype(s.args[0]), args);
}

void KernelEmitter::emit_node(const kir::Convert& s) { 
  Value* x = scalar(s.arg);
  scalar(s.result) = s.bits ? b_.CreateBitCast(x, shaped(x->getType(), math_.type(dtype(s.result)))) : math_.convert(x, dtype(s.arg), dtype(s.result));
}

void KernelEmitter::emit_node(const kir::Select& s) {
  Value* condition = scalar(s.condition);
  auto v = aligned({scalar(s.on_true), scalar(s.on_false)});
  if (is_vector(condition)) v = {splat(v[0]), splat(v[1])};
  scalar(s.result) = b_.CreateSelect(condition, v[0], v[1]);
}

void KernelEmitter::emit_node(const kir::IndexValue& s) {
  scalar(s.result) = affine(s.expr);
  value_ranges_[static_cast<std::size_t>(s.result)] = kir::range(s.expr, ranges());
}

void KernelEmitter::emit_node(const kir::Test& s) {
  Value* p = predicate(s.predicate);
  scalar(s.result) = p ? p : b_.getTrue();
}

void KernelEmitter::emit_node(const kir::CheckIndex& s) {
  Value* v = math_.convert(scalar(s.value), dtype(s.value), DType::i64);
  Value* good = b_.CreateICmpULT(v, llvm::ConstantInt::get(v->getType(), static_cast<std::uint64_t>(s.extent)));
  scalar(s.result) = b_.CreateSelect(good, v, llvm::ConstantInt::get(v->getType(), 0));
  if (s.extent > 0) value_ranges_[static_cast<std::size_t>(s.result)] = kir::Range{0, s.extent - 1};
  Value* bad = b_.CreateNot(good);
  if (is_vector(bad)) bad = both(bad, mask_);
  branch(any(bad), [&] {
    Value* first = v;
    if (is_vector(v)) {
      Value* bits = b_.CreateBitCast(bad, b_.getIntNTy(width_));
      Value* lane = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {bits->getType()}, {bits, b_.getTrue()});
      first = b_.CreateExtractElement(v, b_.CreateZExtOrTrunc(lane, b_.getInt64Ty()));
    }
    calls_.index_fault(b_, frame_.runtime, s.site, first, s.extent);
  }, true);
}

// ── memory ──

void KernelEmitter::emit_node(const kir::Load& s) {
  Value* guard = s.guard.empty() ? nullptr : predicate(s.guard);
  scalar(s.result) = load(s.buffer, s.index, guard, guard ? scalar(s.other) : nullptr);
}

void KernelEmitter::emit_node(const kir::Store& s) { store(s.buffer, s.index, scalar(s.value)); }

void KernelEmitter::emit_node(const kir::Combine& s) {
  const DType t = info(s.buffer).dtype;
  Value *old = load(s.buffer, s.index, nullptr, nullptr), *a = math_.convert(scalar(s.a), dtype(s.a), t);
  // Factors may be wider than a deliberately narrow accumulator.
  const auto args = s.b >= 0 ? aligned({a, math_.convert(scalar(s.b), dtype(s.b), t), old}) : aligned({old, a});
  store(s.buffer, s.index, math_.apply(s.fn, t, args));
}

// ── conditions ──

void KernelEmitter::emit_node(const kir::If& s) {
  Value* p = predicate(s.condition);
  if (!p) return block(s.then);
  conditional(p, s.then);
  if (!s.otherwise.empty()) conditional(b_.CreateNot(p), s.otherwise);
}

void KernelEmitter::emit_node(const kir::IfValue& s) { conditional(scalar(s.condition), s.then); }

void KernelEmitter::conditional(Value* condition, const kir::Block& then) {
  if (!is_vector(condition)) return branch(condition, [&] { block(then); });
  Value* outer = mask_;
  mask_ = both(outer, condition);
  branch(any(mask_), [&] { block(then); });
  mask_ = outer;
}

void KernelEmitter::branch(Value* condition, const std::function<void()>& then, bool rare) {
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(condition)) {
    if (known->isOne()) then();
    return;
  }
  auto& context = module_.getContext();
  auto *inside = llvm::BasicBlock::Create(context, "then", frame_.function), *after = llvm::BasicBlock::Create(context, "after", frame_.function);
  b_.CreateCondBr(condition, inside, after, rare ? llvm::MDBuilder(context).createBranchWeights(1, 1 << 20) : nullptr);
  b_.SetInsertPoint(inside);
  then();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

Value* KernelEmitter::splat(Value* v) { return is_vector(v) ? v : b_.CreateVectorSplat(width_, v); }
Value* KernelEmitter::both(Value* m, Value* n) { return !m ? n : !n ? m : b_.CreateAnd(splat(m), splat(n)); }
Value* KernelEmitter::any(Value* condition) {
  if (!is_vector(condition)) return condition;
  if (auto* c = llvm::dyn_cast<llvm::Constant>(condition)) return b_.getInt1(!c->isZeroValue());
  return b_.CreateOrReduce(condition);
}

}  // namespace plumb::backends::codegen
