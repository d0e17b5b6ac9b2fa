// What was an attribute in older opsets and is an input since, so that a node in the form of another opset is refused, not misread.
#pragma once
#include "ir/import/node.h"

namespace plumb::ir::onnx_import {

/// Unsupported where the model's opset is older than 7 and the operator changed until then. Bad input when the node has an attribute of an older opset than the model's, or an input of a newer one.
void check_form(const NodeImport& n);

}  // namespace plumb::ir::onnx_import
