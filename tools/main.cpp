#include "tools/cli.h"
#include "tools/memory.h"

int main(int argc, char** argv) {
  plumb::tools::bound_memory();
  return plumb::tools::dispatch(plumb::tools::Args(argv + 1, argv + argc));
}
