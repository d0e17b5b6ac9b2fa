#include <functional>

#include "backends/llvm/internal/kernel_emitter.h"

namespace plumb::backends::codegen {
namespace {

std::int64_t buffer_bytes(const kir::Buffer& b) { return (element_count(b.extents) * byte_size(b.dtype) + 63) / 64 * 64 + 64 * 16; }

/// Multiply-adds and the like in a block: whether it is worth another thread.
double work(const kir::Block& b) {
  double w = 0;
  for (const auto& s : b) {
    if (auto* f = std::get_if<kir::For>(&s.node)) w += static_cast<double>(f->extent.as_constant().value_or(16)) / (f->kind == kir::LoopKind::vector ? f->width : 1) * (1 + work(f->body));
    else if (auto* i = std::get_if<kir::If>(&s.node)) w += work(i->then) + work(i->otherwise);
    else if (auto* v = std::get_if<kir::IfValue>(&s.node)) w += work(v->then);
    else w += 1;
  }
  return w;
}

void collect_allocs(const kir::Block& b, bool vector, const std::function<void(kir::BufferId, bool)>& f) {
  for (const auto& s : b) {
    if (auto* a = std::get_if<kir::Alloc>(&s.node)) f(a->buffer, vector);
    else if (auto* l = std::get_if<kir::For>(&s.node)) collect_allocs(l->body, vector || l->kind == kir::LoopKind::vector, f);
    else if (auto* i = std::get_if<kir::If>(&s.node)) collect_allocs(i->then, vector, f), collect_allocs(i->otherwise, vector, f);
    else if (auto* v = std::get_if<kir::IfValue>(&s.node)) collect_allocs(v->then, vector, f);
  }
}

}  // namespace

std::int64_t scratch_bytes(const kir::Kernel& k) {
  std::int64_t total = 0;
  collect_allocs(k.body, false, [&](kir::BufferId b, bool vector) {
    const auto bytes = buffer_bytes(k.buffers[static_cast<std::size_t>(b)]) * (vector ? 16 : 1);
    if (bytes > small_buffer_bytes) total += bytes;
  });
  return total;
}

KernelEmitter::KernelEmitter(llvm::Module& module, const kir::Kernel& kernel, const std::string& symbol, int threads)
    : module_(module), k_(kernel), symbol_(symbol), threads_(threads), b_(module.getContext()), math_(b_), scalars_(kernel.scalars.size()), vars_(kernel.vars.size()),
      pointers_(kernel.buffers.size()), extents_(kernel.vars.size(), -1), private_(kernel.buffers.size(), false) {
  std::int64_t offset = 0;
  collect_allocs(k_.body, false, [&](kir::BufferId b, bool vector) {
    private_[static_cast<std::size_t>(b)] = vector;
    const auto bytes = buffer_bytes(info(b)) * (vector ? 16 : 1);
    if (bytes <= small_buffer_bytes) return;
    scratch_offsets_[b] = offset;
    offset += bytes;
  });
}

void KernelEmitter::emit() {
  auto& context = module_.getContext();
  auto* pointer = b_.getPtrTy();
  function_ = llvm::Function::Create(llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, pointer}, false), llvm::Function::ExternalLinkage, symbol_, module_);
  parameters_ = function_->getArg(0), runtime_ = function_->getArg(1), scratch_ = function_->getArg(2);
  b_.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function_));
  std::vector<kir::BufferId> global = k_.inputs;
  global.insert(global.end(), k_.outputs.begin(), k_.outputs.end());
  for (std::size_t i = 0; i < global.size(); ++i) pointers_[static_cast<std::size_t>(global[i])] = b_.CreateLoad(pointer, b_.CreateConstGEP1_64(pointer, parameters_, i));
  block(k_.body);
  b_.CreateRetVoid();
}

void emit_kernel(llvm::Module& module, const kir::Kernel& kernel, const std::string& symbol, int threads) { KernelEmitter(module, kernel, symbol, threads).emit(); }

void KernelEmitter::block(const kir::Block& b) {
  for (const auto& s : b) statement(s);
}

void KernelEmitter::statement(const kir::Stmt& s) {
  auto values = [&](std::initializer_list<kir::ScalarId> ids) {
    std::vector<Value*> v;
    bool any = false;
    for (auto id : ids) v.push_back(scalar(id)), any = any || is_vector(v.back());
    if (any)
      for (auto& x : v) x = lanes(x);
    return v;
  };
  if (auto* c = std::get_if<kir::Constant>(&s.node)) {
    const DType t = dtype(c->result);
    auto* type = math_.type(t);
    if (t == DType::f32 || t == DType::f64) {
      llvm::APInt bits(t == DType::f32 ? 32 : 64, c->bits);
      scalar(c->result) = llvm::ConstantFP::get(module_.getContext(), llvm::APFloat(t == DType::f32 ? llvm::APFloat::IEEEsingle() : llvm::APFloat::IEEEdouble(), bits));
    } else {
      scalar(c->result) = llvm::ConstantInt::get(type, llvm::APInt(type->getIntegerBitWidth(), is_bool(t) ? c->bits != 0 : c->bits & (~std::uint64_t{0} >> (64 - byte_size(t) * 8))));
    }
  } else if (auto* a = std::get_if<kir::Apply>(&s.node)) {
    std::vector<Value*> args;
    bool any = false;
    for (auto id : a->args) args.push_back(scalar(id)), any = any || is_vector(args.back());
    if (any)
      for (auto& x : args) x = lanes(x);
    scalar(a->result) = math_.apply(a->fn, dtype(a->args[0]), std::move(args));
  } else if (auto* v = std::get_if<kir::Convert>(&s.node)) {
    scalar(v->result) = math_.convert(scalar(v->arg), dtype(v->arg), dtype(v->result));
  } else if (auto* sel = std::get_if<kir::Select>(&s.node)) {
    auto v3 = values({sel->condition, sel->on_true, sel->on_false});
    scalar(sel->result) = b_.CreateSelect(v3[0], v3[1], v3[2]);
  } else if (auto* iv = std::get_if<kir::IndexValue>(&s.node)) {
    scalar(iv->result) = affine(iv->expr);
  } else if (auto* t = std::get_if<kir::Test>(&s.node)) {
    Value* p = predicate(t->predicate);
    scalar(t->result) = p ? p : b_.getTrue();
  } else if (auto* l = std::get_if<kir::Load>(&s.node)) {
    scalar(l->result) = l->guard.empty() ? load(l->buffer, l->index, mask_, nullptr) : guarded_load(*l);
  } else if (auto* st = std::get_if<kir::Store>(&s.node)) {
    store(st->buffer, st->index, scalar(st->value));
  } else if (auto* cb = std::get_if<kir::Combine>(&s.node)) {
    Value* old = load(cb->buffer, cb->index, mask_, nullptr);
    std::vector<Value*> args = cb->b >= 0 ? std::vector<Value*>{scalar(cb->a), scalar(cb->b), old} : std::vector<Value*>{old, scalar(cb->a)};
    const DType t2 = info(cb->buffer).dtype;
    if (cb->b >= 0)  // factors may be wider than a deliberately narrow accumulator
      for (std::size_t k = 0; k < 2; ++k) args[k] = math_.convert(args[k], dtype(k ? cb->b : cb->a), t2);
    bool any = false;
    for (auto* x : args) any = any || is_vector(x);
    if (any)
      for (auto& x : args) x = lanes(x);
    store(cb->buffer, cb->index, math_.apply(cb->fn, t2, std::move(args)));
  } else if (auto* ci = std::get_if<kir::CheckIndex>(&s.node)) {
    check_index(*ci);
  } else if (auto* al = std::get_if<kir::Alloc>(&s.node)) {
    alloc(*al);
  } else if (auto* f = std::get_if<kir::For>(&s.node)) {
    loop(*f);
  } else if (auto* i = std::get_if<kir::If>(&s.node)) {
    Value* p = predicate(i->condition);
    if (!p) return block(i->then);
    require(i->otherwise.empty() || !is_vector(p), "a lane-dependent If has no else");
    if (is_vector(p)) return masked(p, i->then);
    branch(p, i->then);
    if (!i->otherwise.empty()) branch(b_.CreateNot(p), i->otherwise);
  } else if (auto* iv2 = std::get_if<kir::IfValue>(&s.node)) {
    Value* p = scalar(iv2->condition);
    is_vector(p) ? masked(p, iv2->then) : branch(p, iv2->then);
  } else {
    fail_unsupported("kernel " + k_.name + " uses statements of a GPU schedule; the cpu target does not run them");
  }
}

void KernelEmitter::branch(Value* condition, const kir::Block& then) {
  auto& context = module_.getContext();
  auto *inside = llvm::BasicBlock::Create(context, "then", function_), *after = llvm::BasicBlock::Create(context, "after", function_);
  b_.CreateCondBr(condition, inside, after);
  b_.SetInsertPoint(inside);
  block(then);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void KernelEmitter::masked(Value* condition, const kir::Block& then) {
  Value* outer = mask_;
  mask_ = both(mask_, condition);
  block(then);
  mask_ = outer;
}

void KernelEmitter::counted(Value* from, Value* to, const std::function<void(Value*)>& body) {
  auto& context = module_.getContext();
  auto *before = b_.GetInsertBlock(), *inside = llvm::BasicBlock::Create(context, "loop", function_), *after = llvm::BasicBlock::Create(context, "done", function_);
  b_.CreateCondBr(b_.CreateICmpSLT(from, to), inside, after);
  b_.SetInsertPoint(inside);
  auto* i = b_.CreatePHI(b_.getInt64Ty(), 2);
  i->addIncoming(from, before);
  body(i);
  Value* next = b_.CreateNSWAdd(i, b_.getInt64(1));
  i->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, to), inside, after);
  b_.SetInsertPoint(after);
}

void KernelEmitter::loop(const kir::For& f) {
  const auto n = f.extent.as_constant();
  if (f.kind == kir::LoopKind::gpu_block || f.kind == kir::LoopKind::gpu_thread || f.kind == kir::LoopKind::tile)
    fail_unsupported("kernel " + k_.name + " has a GPU schedule; the cpu target does not run it");
  extents_[static_cast<std::size_t>(f.var)] = n.value_or(-1);
  if (n && *n <= 0) return;
  switch (f.kind) {
    case kir::LoopKind::vector: require(n.has_value() && width_ == 0, "vector loops have a constant extent and do not nest"); return vector_loop(f, *n);
    case kir::LoopKind::unrolled:
      require(n.has_value(), "unrolled loops have a constant extent");
      for (std::int64_t i = 0; i < *n; ++i) {
        vars_[static_cast<std::size_t>(f.var)] = i64(i);
        block(f.body);
      }
      return;
    case kir::LoopKind::parallel:
      if (!in_parallel_ && width_ == 0) return parallel_loop(f);
      [[fallthrough]];
    default:
      counted(i64(0), scalar_affine(f.extent), [&](Value* i) {
        vars_[static_cast<std::size_t>(f.var)] = i;
        block(f.body);
      });
  }
}

void KernelEmitter::vector_step(const kir::For& f, Value* first, Value* mask) {
  lane_base_ = first;
  lane_var_ = f.var;
  mask_ = mask;
  block(f.body);
}

void KernelEmitter::vector_loop(const kir::For& f, std::int64_t n) {
  width_ = static_cast<unsigned>(f.width);
  const std::int64_t w = f.width, full = n / w, rest = n % w;
  if (full + (rest > 0) <= 8) {
    for (std::int64_t s = 0; s < full; ++s) vector_step(f, i64(s * w), nullptr);
  } else {
    counted(i64(0), i64(full), [&](Value* s) { vector_step(f, b_.CreateNSWMul(s, i64(w)), nullptr); });
  }
  if (rest) {
    std::vector<llvm::Constant*> present;
    for (std::int64_t lane = 0; lane < w; ++lane) present.push_back(b_.getInt1(lane < rest));
    vector_step(f, i64(full * w), llvm::ConstantVector::get(present));
  }
  width_ = 0;
  lane_var_ = -1;
  mask_ = nullptr;
}

KernelEmitter::Parallel KernelEmitter::perfect_nest(const kir::For& f) {
  Parallel p{{&f}, &f.body, f.extent.as_constant().value_or(1)};
  while (p.body->size() == 1) {
    auto* inner = std::get_if<kir::For>(&(*p.body)[0].node);
    if (!inner || inner->kind != kir::LoopKind::parallel || !inner->extent.is_constant()) break;
    p.loops.push_back(inner);
    p.body = &inner->body;
    p.iterations *= *inner->extent.as_constant();
  }
  return p;
}

/// Outlines the nest's body as `void(buffers, runtime, scratch, begin, end)` over the flattened iterations.
void KernelEmitter::parallel_loop(const kir::For& f) {
  const auto nest = perfect_nest(f);
  for (const auto* l : nest.loops) {
    extents_[static_cast<std::size_t>(l->var)] = *l->extent.as_constant();
    if (*l->extent.as_constant() <= 0) return;
  }
  auto* pointer = b_.getPtrTy();
  auto* caller = function_;
  auto saved_pointers = pointers_;
  auto saved_scalars = scalars_;
  auto saved = b_.saveIP();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, pointer, b_.getInt64Ty(), b_.getInt64Ty()}, false);
  auto* body = llvm::Function::Create(type, llvm::Function::InternalLinkage, symbol_ + ".body" + std::to_string(outlined_++), module_);
  Value *outer_parameters = parameters_, *outer_runtime = runtime_, *outer_scratch = scratch_;
  function_ = body;
  parameters_ = body->getArg(0), runtime_ = body->getArg(1), scratch_ = body->getArg(2);
  b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", body));
  std::vector<kir::BufferId> global = k_.inputs;
  global.insert(global.end(), k_.outputs.begin(), k_.outputs.end());
  for (std::size_t i = 0; i < global.size(); ++i) pointers_[static_cast<std::size_t>(global[i])] = b_.CreateLoad(pointer, b_.CreateConstGEP1_64(pointer, parameters_, i));
  in_parallel_ = true;
  counted(body->getArg(3), body->getArg(4), [&](Value* flat) {
    Value* rest = flat;
    for (std::size_t k = nest.loops.size(); k-- > 0;) {
      const std::int64_t n = *nest.loops[k]->extent.as_constant();
      vars_[static_cast<std::size_t>(nest.loops[k]->var)] = k == 0 ? rest : b_.CreateURem(rest, i64(n));
      rest = k == 0 ? rest : b_.CreateUDiv(rest, i64(n));
    }
    block(*nest.body);
  });
  b_.CreateRetVoid();
  in_parallel_ = false;
  function_ = caller;
  parameters_ = outer_parameters, runtime_ = outer_runtime, scratch_ = outer_scratch;
  pointers_ = std::move(saved_pointers);
  scalars_ = std::move(saved_scalars);
  b_.restoreIP(saved);
  const double total = work(*nest.body) * static_cast<double>(nest.iterations);
  if (total < 20000 || threads_ == 1 || nest.iterations == 1) {
    b_.CreateCall(body, {parameters_, runtime_, scratch_, i64(0), i64(nest.iterations)});
    return;
  }
  auto run = module_.getOrInsertFunction("plumb_parallel_for", llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, pointer, b_.getInt64Ty()}, false));
  b_.CreateCall(run, {runtime_, body, parameters_, i64(nest.iterations)});
}

void KernelEmitter::alloc(const kir::Alloc& a) {
  const auto& buffer = info(a.buffer);
  auto& to = pointers_[static_cast<std::size_t>(a.buffer)];
  if (auto it = scratch_offsets_.find(a.buffer); it != scratch_offsets_.end()) {
    to = b_.CreateConstGEP1_64(b_.getInt8Ty(), scratch_, static_cast<std::uint64_t>(it->second));
    return;
  }
  // A whole vector of slack: a partial step reads and rewrites its absent lanes.
  const std::int64_t lanes_each = private_[static_cast<std::size_t>(a.buffer)] ? width_ : 1;
  const std::int64_t n = element_count(buffer.extents) * lanes_each + 64;
  llvm::IRBuilder<> entry(&function_->getEntryBlock(), function_->getEntryBlock().begin());
  auto* slot = entry.CreateAlloca(llvm::ArrayType::get(memory_type(buffer.dtype), static_cast<std::uint64_t>(n)), nullptr, buffer.name);
  slot->setAlignment(llvm::Align(64));
  to = slot;
}

void KernelEmitter::check_index(const kir::CheckIndex& c) {
  Value* v = math_.convert(scalar(c.value), dtype(c.value), DType::i64);
  auto* type = v->getType();
  Value* good = b_.CreateICmpULT(v, llvm::ConstantInt::get(type, static_cast<std::uint64_t>(c.extent)));
  scalar(c.result) = b_.CreateSelect(good, v, llvm::ConstantInt::get(type, 0));
  Value* bad = b_.CreateNot(good);
  if (is_vector(bad) && mask_) bad = b_.CreateAnd(bad, mask_);
  auto& context = module_.getContext();
  auto *report = llvm::BasicBlock::Create(context, "bad_index", function_), *after = llvm::BasicBlock::Create(context, "index_checked", function_);
  b_.CreateCondBr(is_vector(bad) ? b_.CreateOrReduce(bad) : bad, report, after);
  b_.SetInsertPoint(report);
  auto* i64t = b_.getInt64Ty();
  auto fault = module_.getOrInsertFunction("plumb_index_fault", llvm::FunctionType::get(b_.getVoidTy(), {b_.getPtrTy(), i64t, i64t, i64t}, false));
  Value* value = v;
  if (is_vector(v)) {  // the first bad lane
    Value* bits = b_.CreateBitCast(bad, b_.getIntNTy(width_));
    Value* lane = b_.CreateIntrinsic(llvm::Intrinsic::cttz, {bits->getType()}, {bits, b_.getTrue()});
    value = b_.CreateExtractElement(v, b_.CreateZExtOrTrunc(lane, i64t));
  }
  b_.CreateCall(fault, {runtime_, i64(c.site), value, i64(c.extent)});
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

}  // namespace plumb::backends::codegen
