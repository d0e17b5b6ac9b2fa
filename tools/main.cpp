#include "tools/cli.h"

int main(int argc, char** argv) { return plumb::tools::dispatch(plumb::tools::Args(argv + 1, argv + argc)); }
