// Parallel loops become functions of their own, `body(context, runtime, scratch, begin, end)`, over the flattened
// iterations of a perfect nest; the context holds what the body uses from around it. Small work runs on the spot, and
// parallel loops within a parallel body are serial.
#include "backends/llvm/internal/kernel_emitter.h"

namespace plumb::backends::codegen {
namespace {

// In units of analysis.h's work, about half a nanosecond each.
constexpr double worth_threads = 30000, piece = 8000;

}  // namespace

void KernelEmitter::load_parameters(Value* buffers) {
  std::vector<kir::BufferId> global = k_.inputs;
  global.insert(global.end(), k_.outputs.begin(), k_.outputs.end());
  auto* pointer = b_.getPtrTy();
  for (std::size_t i = 0; i < global.size(); ++i) {
    auto* p = b_.CreateAlignedLoad(pointer, b_.CreateConstGEP1_64(pointer, buffers, i), llvm::Align(8));
    p->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module_.getContext(), {}));
    pointers_[static_cast<std::size_t>(global[i])] = p;
  }
}

KernelEmitter::Nest KernelEmitter::perfect_nest(const kir::For& f) {
  Nest nest{{&f}, &f.body};
  while (f.extent.is_constant() && nest.body->size() == 1) {
    auto* inner = std::get_if<kir::For>(&(*nest.body)[0].node);
    if (!inner || (inner->kind != kir::LoopKind::parallel && inner->kind != kir::LoopKind::gpu_block) || !inner->extent.is_constant()) break;
    nest.loops.push_back(inner);
    nest.body = &inner->body;
  }
  return nest;
}

void KernelEmitter::parallel_loop(const kir::For& f) {
  if (frame_.parallel || width_ > 0) return serial_loop(f);
  const auto nest = perfect_nest(f);
  std::int64_t count = 1;
  for (const auto* l : nest.loops) {
    const auto n = l->extent.as_constant();
    if (n && *n <= 0) return;
    set_range(l->var, n);
    count *= n.value_or(1);
  }
  Value* n = f.extent.is_constant() ? i64(count) : uniform(f.extent);
  Uses captured = free_uses(k_, *nest.body);
  // Constants need no passing; loop variables of the nest are the body's own.
  std::erase_if(captured.scalars, [&](auto s) { return llvm::isa<llvm::Constant>(scalar(s)); });
  std::erase_if(captured.vars, [&](auto v) { return std::ranges::any_of(nest.loops, [&](const auto* l) { return l->var == v; }) || llvm::isa<llvm::Constant>(vars_[static_cast<std::size_t>(v)]); });
  std::erase_if(captured.buffers, [&](auto b) { return !is_local(b); });
  llvm::SmallVector<Value*, 8> values{frame_.buffers};
  for (auto s : captured.scalars) values.push_back(scalar(s));
  for (auto v : captured.vars) values.push_back(vars_[static_cast<std::size_t>(v)]);
  for (auto b : captured.buffers) values.push_back(pointers_[static_cast<std::size_t>(b)]);
  llvm::SmallVector<llvm::Type*, 8> types;
  for (auto* v : values) types.push_back(v->getType());
  auto* context_type = llvm::StructType::get(module_.getContext(), types);
  auto* body = outline(nest, captured, context_type);
  llvm::IRBuilder<> entry(&frame_.function->getEntryBlock(), frame_.function->getEntryBlock().begin());
  Value* context = entry.CreateAlloca(context_type);
  for (unsigned i = 0; i < values.size(); ++i) b_.CreateStore(values[i], b_.CreateStructGEP(context_type, context, i));
  const double each = work(k_, *nest.body) + 1;
  const bool small = f.extent.is_constant() && (count == 1 || each * static_cast<double>(count) < worth_threads);
  if (options_.threads == 1 || small) b_.CreateCall(body, {context, frame_.runtime, frame_.scratch, i64(0), n});
  else calls_.parallel(b_, frame_.runtime, body, context, n, static_cast<std::int64_t>(piece / each) + 1);
}

llvm::Function* KernelEmitter::outline(const Nest& nest, const Uses& captured, llvm::StructType* context_type) {
  auto* pointer = b_.getPtrTy();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, pointer, b_.getInt64Ty(), b_.getInt64Ty()}, false);
  auto* body = llvm::Function::Create(type, llvm::Function::InternalLinkage, symbol_ + ".body" + std::to_string(outlined_++), module_);
  body->setDoesNotThrow();
  Frame outer = frame_;
  const auto insertion = b_.saveIP();
  frame_.function = body;
  frame_.runtime = body->getArg(1), frame_.scratch = body->getArg(2);
  frame_.slots.clear();
  frame_.stack_bytes = 0;
  frame_.parallel = true;
  b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", body));
  unsigned field = 0;
  auto next = [&] {
    auto* p = b_.CreateStructGEP(context_type, body->getArg(0), field);
    return b_.CreateLoad(context_type->getElementType(field++), p);
  };
  frame_.buffers = next();
  for (auto s : captured.scalars) scalar(s) = next();
  for (auto v : captured.vars) vars_[static_cast<std::size_t>(v)] = next();
  for (auto b : captured.buffers) pointers_[static_cast<std::size_t>(b)] = next();
  load_parameters(frame_.buffers);
  counted(body->getArg(3), body->getArg(4), [&](Value* flat) {
    for (std::size_t k = nest.loops.size(); k-- > 0;) {
      const auto n = nest.loops[k]->extent.as_constant();
      vars_[static_cast<std::size_t>(nest.loops[k]->var)] = k == 0 ? flat : b_.CreateURem(flat, i64(*n));
      if (k > 0) flat = b_.CreateUDiv(flat, i64(*n));
    }
    block(*nest.body);
  });
  b_.CreateRetVoid();
  frame_ = std::move(outer);
  b_.restoreIP(insertion);
  return body;
}

}  // namespace plumb::backends::codegen
